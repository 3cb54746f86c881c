"""An arm of a scenario of rounds: what it may change, and where an error in it is said to stand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.builders import ROUNDS_SCENARIO, edited, line_of
from tests.unit.traces.rounds_scenarios import (
    SERVER_KEYS,
    TUNE,
    arms_of,
    generated,
    models,
    refusal,
    write_neighbours,
)
from traces.formats.traces import TRACE_FORMATS
from traces.rounds_scenario import RoundsArm

LONG = "x" * 300  # longer than a file's name may be


def test_an_arm_is_the_base_with_its_changes(tmp_path: Path) -> None:
    arms = arms_of(tmp_path, ROUNDS_SCENARIO)
    assert list(arms) == ["proportional", "tune", "opt"]
    assert [arm.scheduler.mechanism for arm in arms.values()] == ["proportional", "tune", "opt"]
    for arm in arms.values():
        assert arm.scheduler.policy == "fifo"
        assert arm.pool == arms["proportional"].pool
        assert arm.workload == arms["proportional"].workload
        assert arm.measure == arms["proportional"].measure


OVERRIDES: list[tuple[str, Callable[[RoundsArm], object], object, object]] = [
    # what the arm says, what to look at, what it is in this arm, and in the others
    ("cluster: {servers: 5}", lambda arm: arm.pool.num_servers, 5, 2),
    ("cluster: {gpus: 4}", lambda arm: arm.pool.num_gpus, 8, 16),
    ("cluster: {cpus: 48}", lambda arm: arm.pool.groups[0].cpus, 48.0, 24.0),
    ("cluster: {memory: 1 TB}", lambda arm: arm.pool.groups[0].memory_bytes, 1e12, 500e9),
    ("cluster: {storage: 1 GB/s}", lambda arm: arm.pool.gives_storage, True, False),
    ("cluster: {gpu_type: a100}", lambda arm: arm.pool.gpu_types, ("a100",), ("v100",)),
    ("cluster: {more: [{servers: 1, gpu_type: k80}]}", lambda arm: arm.pool.gpu_types,
     ("v100", "k80"), ("v100",)),
    ("workload: {generate: {jobs: 9, load: 2}}", lambda arm: generated(arm).jobs, 9, 60),
    ("workload: {generate: {jobs: 9, load: 2, gpus: gavel}}",
     lambda arm: generated(arm).gpus, "gavel", "single"),
    ("workload: {generate: {jobs: 9, jobs_per_hour: 2}}", lambda arm: generated(arm).load,
     None, 1.0),
    ("workload: {generate: , trace: jobs.csv}", lambda arm: arm.trace_file is None, False, True),
    ("workload: {profiles: none, split: {}}", lambda arm: len(models(arm)), 0, 10),
    ("workload: {profiles: mine.json, split: {image: 1}}",
     lambda arm: len(models(arm)), 2, 10),
    ("workload: {split: {speech: 1}}", lambda arm: list(arm.workload.split), ["speech"],
     ["image", "language", "speech"]),
    ("scheduler: {policy: las}", lambda arm: arm.scheduler.policy, "las", "fifo"),
    ("scheduler: {placement: balanced}", lambda arm: arm.scheduler.placement, "balanced", None),
    ("scheduler: {round: 1 min}", lambda arm: arm.scheduler.round, 60.0, 300.0),
    ("scheduler: {priority_after: 2 h}", lambda arm: arm.scheduler.priority_after, 7200.0, None),
    ("simulation: {completion: round-end}", lambda arm: arm.simulation.completion, "round-end",
     "exact"),
    ("simulation: {restart: 5 s}", lambda arm: arm.simulation.restart, 5.0, 0.0),
    ("measure: {first: 0}", lambda arm: (arm.measure.first, arm.measure.count), (0, 40), (10, 40)),
    ("measure: {count: }", lambda arm: arm.measure.count, None, 40),
    ("measure: {short: 1 h}", lambda arm: arm.measure.short, 3600.0, 14400.0),
]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "look", "here", "elsewhere"), OVERRIDES, ids=[each[0] for each in OVERRIDES]
)
def test_an_arm_may_change_any_key_of_a_section(
    tmp_path: Path,
    changes: str,
    look: Callable[[RoundsArm], object],
    here: object,
    elsewhere: object,
) -> None:
    write_neighbours(tmp_path)
    arms = arms_of(tmp_path, edited(ROUNDS_SCENARIO, TUNE, f"    {changes}"))
    assert {name: look(arm) for name, arm in arms.items()} == {
        "proportional": elsewhere, "tune": here, "opt": elsewhere
    }  # fmt: skip


IN_AN_ARM = [
    # what the arm says, the rest of the error's key, part of the problem, part of what is allowed
    ("clustr: {}", "clustr", "unknown key", "cluster, workload, scheduler, simulation, measure"),
    ("seed: 3", "seed", "unknown key", "cluster, workload, scheduler, simulation, measure"),
    ("scheduler: tune", "scheduler", "'tune' is not allowed here", "dictionary"),
    ("cluster: {gpu: 8}", "cluster.gpu", "unknown key", SERVER_KEYS),
    ("cluster: {gpus: 0}", "cluster.gpus", "0 is not allowed", "equal to 1"),
    ("cluster: {memory: 1}", "cluster.memory", "1 has no unit", "'500 GB'"),
    ("cluster: {more: [{servers: 1, gpu_type: a1, gpu: 3}]}", "cluster.more.0.gpu", "unknown key",
     SERVER_KEYS),
    ("cluster: {more: [{gpu_type: a1}]}", "cluster.more.0.servers", "the key is missing",
     SERVER_KEYS),
    ("cluster: {more: [{servers: 1}]}", "cluster", "the same type of GPU", "another type of GPU"),
    ("cluster: {more: [{servers: 1, gpu_type: a1, storage: 1 GB/s}]}", "cluster",
     "for some servers and not", "storage for all or none"),
    ("workload: {generat: {}}", "workload.generat", "unknown key", "generate"),
    ("workload: {generate: {load: 1}}", "workload.generate.jobs", "the key is missing",
     "jobs, load"),
    ("workload: {generate: {jobs: 1}}", "workload.generate", "not given once",
     "either 'load' or 'jobs_per_hour', not both"),
    ("workload: {generate: {jobs: 1, load: 1, jobs_per_hour: 1}}", "workload.generate",
     "not given once", "not both"),
    ("workload: {generate: {jobs: 1, load: 1, mix: 1}}", "workload.generate.mix", "unknown key",
     "gpus"),
    ("workload: {trace: jobs.csv}", "workload", "the jobs are not given once",
     "either 'trace' (a file) or 'generate', not both"),
    ("workload: {generate: }", "workload", "the jobs are not given once", "either 'trace'"),
    ("workload: {generate: , trace: absent.csv}", "workload.trace",
     "'absent.csv' is no file beside", "the path of a trace"),
    ("workload: {generate: , trace: .}", "workload.trace", "'.' is no file beside",
     "the path of a trace"),
    ("workload: {generate: , trace: jobs.csv, format: xml}", "workload.format",
     "'xml' is no format", ", ".join(TRACE_FORMATS)),
    ("workload: {profiles: synergi}", "workload.profiles", "'synergi' is neither a known set nor",
     "none, synergy, or the path"),
    (f"workload: {{profiles: {LONG}}}", "workload.profiles", "is neither a known set nor",
     "none, synergy, or the path"),
    (f"workload: {{generate: , trace: {LONG}}}", "workload.trace", "is no file beside",
     "the path of a trace"),
    ("workload: {split: {}}", "workload", "generated jobs need models",
     "split: weights of the classes image, language, speech"),
    ("workload: {split: {vision: 1}}", "workload.split.vision", "no profile is of class 'vision'",
     "image, language, speech"),
    ("workload: {profiles: none, split: {image: 1}}", "workload.split.image",
     "no profile is of class", "no split with profiles: none"),
    ("workload: {profiles: mine.json, split: {speech: 1}}", "workload.split.speech",
     "no profile is of class 'speech'", "image, language"),
    ("scheduler: {round: 5 GB}", "scheduler.round", "'GB' is not a unit", "'300 s'"),
    ("simulation: {speed: matrix}", "simulation.speed", "unknown key", "speeds"),
    ("measure: {first: 1.5}", "measure.first", "1.5", "integer"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "key", "problem", "allowed"), IN_AN_ARM, ids=[each[0][:60] for each in IN_AN_ARM]
)
def test_an_error_in_an_arm_points_into_the_arm(
    tmp_path: Path, changes: str, key: str, problem: str, allowed: str
) -> None:
    write_neighbours(tmp_path)
    text = edited(ROUNDS_SCENARIO, TUNE, f"    {changes}")
    error = refusal(tmp_path, text)
    assert (error.key, error.line) == (f"arms.tune.{key}", line_of(text, changes))
    assert problem in error.problem
    assert allowed in error.allowed
    assert "in arm" not in error.problem


@pytest.mark.parametrize(
    ("changes", "key", "line", "problem"),
    [
        ("workload: {profiles: none}", "workload.split.image", "split:", "no profile is of class"),
        ("workload: {profiles: mine.json}", "workload.split.speech", "split:", "of class 'speech'"),
    ],
)
def test_what_an_arm_makes_wrong_elsewhere_points_there_and_names_the_arm(
    tmp_path: Path, changes: str, key: str, line: str, problem: str
) -> None:
    write_neighbours(tmp_path)
    text = edited(ROUNDS_SCENARIO, TUNE, f"    {changes}")
    error = refusal(tmp_path, text)
    assert (error.key, error.line) == (key, line_of(text, line))
    assert problem in error.problem
    assert error.problem.endswith(" in arm 'tune'")
