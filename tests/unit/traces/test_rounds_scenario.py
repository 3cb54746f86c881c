"""A scenario of rounds is read whole, or refused with file, line, key and what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.builders import ROUNDS_SCENARIO, SCENARIO, edited, line_of, write_scenario
from traces.errors import BadInputError
from traces.formats.traces import TRACE_FORMATS
from traces.rounds_scenario import (
    GenerateSpec,
    RoundsArm,
    RoundsScenario,
    is_rounds_scenario,
    rounds_scenario_of,
)
from traces.scenario import load_scenario
from traces.scenario_file import ScenarioFile
from traces.sensitivity import Sensitivities, builtin_sensitivities, write_sensitivities
from traces.server_pool import ServerGroup

HEAD = ROUNDS_SCENARIO[: ROUNDS_SCENARIO.index("arms:")]
GENERATE = "  generate:\n    jobs: 60\n    load: 1.0\n    gpus: single\n"
TUNE = "    scheduler: {mechanism: tune}"

ALL_KEYS = """\
name: everything
description: Every key once.
seed: 3
seeds: 2

cluster:
  servers: 4
  gpus: 2
  cpus: 9.5
  memory: 100 GB
  storage: 500 MB/s
  gpu_type: a100
  more:
    - {servers: 1, gpus: 16, cpus: 48, memory: 1 TB, storage: 1 GB/s, gpu_type: h100}
    - {servers: 3, storage: 2 GB/s}

workload:
  trace: jobs.csv
  format: synergy
  profiles: mine.json
  split: {language: 3, image: 1.5}

scheduler:
  policy: srtf
  mechanism: tune
  placement: balanced
  round: 2 min
  priority_after: 1 h

simulation:
  completion: round-end
  progress: whole-iterations
  speeds: two-point
  restart: 30 s
  checkpoint: 10 s
  restarts: all
  profiling: 1 min

measure:
  first: 7
  count: 8
  short: 90 min
"""


def scenario_of(directory: Path, text: str = ROUNDS_SCENARIO) -> RoundsScenario:
    return rounds_scenario_of(ScenarioFile.read(write_scenario(directory, text)))


def arms_of(directory: Path, text: str) -> dict[str, RoundsArm]:
    return {arm.name: arm for arm in scenario_of(directory, text).arms}


def refusal(directory: Path, text: str) -> BadInputError:
    file = write_scenario(directory, text)
    with pytest.raises(BadInputError) as caught:
        rounds_scenario_of(ScenarioFile.read(file))
    assert caught.value.file == file
    return caught.value


def generated(arm: RoundsArm) -> GenerateSpec:
    assert arm.workload.generate is not None
    return arm.workload.generate


def models(arm: RoundsArm) -> tuple[str, ...]:
    return () if arm.sensitivities is None else arm.sensitivities.models


def write_neighbours(directory: Path) -> Sensitivities:
    """The files that ALL_KEYS names, of which the profiles are a part of Synergy's."""
    (directory / "jobs.csv").write_text("1,gnmt,0,10,1\n")
    known = builtin_sensitivities("synergy")
    some = Sensitivities((known.of("alexnet", "v100"), known.of("gnmt", "v100")), "a part")
    write_sensitivities(some, directory / "mine.json")
    return some


def test_every_key_is_read(tmp_path: Path) -> None:
    written = write_neighbours(tmp_path)
    scenario = scenario_of(tmp_path, ALL_KEYS)
    assert (scenario.name, scenario.description) == ("everything", "Every key once.")
    assert scenario.seeds == (3, 4)
    assert scenario.text == ALL_KEYS
    (arm,) = scenario.arms
    assert arm.name == "everything"
    assert arm.pool.groups == (
        ServerGroup(4, 2, 9.5, 100e9, 500e6, "a100"),
        ServerGroup(1, 16, 48.0, 1e12, 1e9, "h100"),
        ServerGroup(3, 8, 24.0, 500e9, 2e9, "v100"),
    )
    assert arm.trace_file == tmp_path / "jobs.csv"
    assert arm.workload.format == "synergy"
    assert models(arm) == written.models
    assert arm.workload.split == {"language": 3, "image": 1.5}
    assert arm.scheduler.model_dump() == {
        "policy": "srtf", "mechanism": "tune", "placement": "balanced", "round": 120.0,
        "priority_after": 3600.0,
    }  # fmt: skip
    assert arm.simulation.model_dump() == {
        "completion": "round-end", "progress": "whole-iterations", "speeds": "two-point",
        "restart": 30.0, "checkpoint": 10.0, "restarts": "all", "profiling": 60.0,
    }  # fmt: skip
    assert arm.measure.model_dump() == {"first": 7, "count": 8, "short": 5400.0}


def test_what_is_left_out_has_its_default(tmp_path: Path) -> None:
    text = (
        "name: least\ncluster: {servers: 3}\n"
        "workload: {generate: {jobs: 5, jobs_per_hour: 2}, split: {image: 1}}\n"
    )
    scenario = scenario_of(tmp_path, text)
    (arm,) = scenario.arms
    assert (scenario.description, scenario.seeds, arm.name) == ("", (1,), "least")
    assert arm.pool.groups == (ServerGroup(3, 8, 24.0, 500e9, None, "v100"),)
    assert models(arm) == builtin_sensitivities("synergy").models
    assert arm.trace_file is None
    assert (generated(arm).jobs_per_hour, generated(arm).gpus) == (2, "single")
    assert arm.scheduler.model_dump() == {
        "policy": "fifo", "mechanism": "proportional", "placement": None, "round": 300.0,
        "priority_after": None,
    }  # fmt: skip
    assert arm.simulation.model_dump() == {
        "completion": "exact", "progress": "continuous", "speeds": "matrix", "restart": 0.0,
        "checkpoint": 0.0, "restarts": "new-leases", "profiling": 0.0,
    }  # fmt: skip
    assert arm.measure.model_dump() == {"first": 0, "count": None, "short": 14400.0}


def test_a_trace_with_an_absolute_path_need_not_be_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    write_neighbours(tmp_path / "elsewhere")
    (tmp_path / "here").mkdir()
    file = tmp_path / "elsewhere" / "jobs.csv"
    text = f"name: far\ncluster: {{servers: 1}}\nworkload: {{trace: {file}}}\n"
    (arm,) = scenario_of(tmp_path / "here", text).arms
    assert arm.trace_file == file


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


BAD_VALUES = [
    # what is written, instead of what, key of the error, part of the problem, part of what is right
    ("name: Toy Rounds", "name: toy-rounds", "name", "is not a name", "lower-case"),
    ("seed: -1", "seed: 5", "seed", "-1", "greater than or equal to 0"),
    ("seed: 9007199254740993", "seed: 5", "seed", "9007199254740993", "to 9007199254740992"),
    ("seeds: 0", "seeds: 2", "seeds", "0 is", "greater than or equal to 1"),
    ("seeds: 1001", "seeds: 2", "seeds", "1001", "less than or equal to 1000"),
    ("servers: 0", "servers: 2", "cluster.servers", "0 is", "greater than or equal to 1"),
    ("servers: 1000001", "servers: 2", "cluster.servers", "1000001", "to 1000000"),
    ("servers: two", "servers: 2", "cluster.servers", "'two'", "integer"),
    ("gpus: 0", "gpus: 8", "cluster.gpus", "0 is", "greater than or equal to 1"),
    ("gpus: 1025", "gpus: 8", "cluster.gpus", "1025", "to 1024"),
    ("gpus: 7.5", "gpus: 8", "cluster.gpus", "7.5", "integer"),
    ("cpus: 0", "cpus: 24", "cluster.cpus", "0 is", "greater than 0"),
    ("cpus: .nan", "cpus: 24", "cluster.cpus", "nan", "finite"),
    ("cpus: .inf", "cpus: 24", "cluster.cpus", "inf", "finite"),
    ("memory: 500", "memory: 500 GB", "cluster.memory", "has no unit", "'500 GB'"),
    ("memory: 500 Gbit/s", "memory: 500 GB", "cluster.memory", "not a unit of", "'500 GB'"),
    ("memory: 0 GB", "memory: 500 GB", "cluster.memory", "out of range", "above zero"),
    ("memory: much", "memory: 500 GB", "cluster.memory", "not a number with a", "'500 GB'"),
    ("memory: [500 GB]", "memory: 500 GB", "cluster.memory", "has no unit", "'500 GB'"),
    ("storage: 500 MB", "gpu_type: v100", "cluster.storage", "not a unit of", "'500 MB/s'"),
    ("storage: 0 MB/s", "gpu_type: v100", "cluster.storage", "out of range", "above zero"),
    ("gpu_type: V100", "gpu_type: v100", "cluster.gpu_type", "is not a name", "lower-case"),
    ("more: {servers: 1}", "gpu_type: v100", "cluster.more", "not allowed", "list"),
    ("more: [{servers: 0}]", "gpu_type: v100", "cluster.more.0.servers", "0 is", "equal to 1"),
    ("more: [{servers: 1, memory: 3}]", "gpu_type: v100", "cluster.more.0.memory", "has no unit",
     "'500 GB'"),
    ("jobs: 0", "jobs: 60", "workload.generate.jobs", "0 is", "equal to 1"),
    ("jobs: 10000001", "jobs: 60", "workload.generate.jobs", "10000001", "to 10000000"),
    ("load: 0", "load: 1.0", "workload.generate.load", "0 is", "greater than 0"),
    ("load: .nan", "load: 1.0", "workload.generate.load", "nan", "finite"),
    ("jobs_per_hour: -3", "load: 1.0", "workload.generate.jobs_per_hour", "-3", "greater than 0"),
    ("gpus: many", "gpus: single", "workload.generate.gpus", "'many' is not",
     "'single' or 'gavel'"),
    ("generate: 60", GENERATE.strip(), "workload.generate", "60 is", "dictionary"),
    ("split: image", "split: {image: 20, language: 70, speech: 10}", "workload.split", "'image'",
     "dictionary"),
    ("{image: 0,", "{image: 20,", "workload.split.image", "0 is", "greater than 0"),
    ("{image: .nan,", "{image: 20,", "workload.split.image", "nan", "finite"),
    ("round: 300", "round: 300 s", "scheduler.round", "has no unit", "'300 s'"),
    ("round: -1 s", "round: 300 s", "scheduler.round", "out of range", "zero or more"),
    ("round: 300 GB", "round: 300 s", "scheduler.round", "not a unit of", "'300 s'"),
    ("policy: 3", "policy: fifo", "scheduler.policy", "3 is", "string"),
    ("priority_after: 5", "policy: fifo", "scheduler.priority_after", "has no unit", "'300 s'"),
    ("completion: early", "completion: exact", "simulation.completion", "'early'",
     "'exact' or 'round-end'"),
    ("progress: some", "completion: exact", "simulation.progress", "'some'",
     "'continuous' or 'whole-iterations'"),
    ("speeds: fast", "completion: exact", "simulation.speeds", "'fast'", "'matrix' or 'two-point'"),
    ("restarts: no", "completion: exact", "simulation.restarts", "False is not known",
     "'new-leases' or 'all'"),
    ("restart: 5", "completion: exact", "simulation.restart", "has no unit", "'300 s'"),
    ("checkpoint: x", "completion: exact", "simulation.checkpoint", "not a number with", "'300 s'"),
    ("profiling: yes", "completion: exact", "simulation.profiling", "has no unit", "'300 s'"),
    ("first: -1", "first: 10", "measure.first", "-1", "equal to 0"),
    ("count: 0", "count: 40", "measure.count", "0 is", "equal to 1"),
    ("short: 4", "count: 40", "measure.short", "has no unit", "'300 s'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("new", "old", "key", "problem", "allowed"),
    BAD_VALUES,
    ids=[f"{bad[2]}={bad[0]}" for bad in BAD_VALUES],
)
def test_a_bad_value_is_refused_where_it_stands(
    tmp_path: Path, new: str, old: str, key: str, problem: str, allowed: str
) -> None:
    text = edited(HEAD, old, new)
    error = refusal(tmp_path, text)
    assert (error.key, error.line) == (key, line_of(text, new))
    assert problem in error.problem
    assert allowed in error.allowed


LONG = "x" * 300  # longer than a file's name may be
SERVER_KEYS = "servers, gpus, cpus, memory, storage, gpu_type"
UNKNOWN_KEYS = [
    # what is written, instead of what, key of the error, what is allowed
    ("sead: 5", "seed: 5", "sead",
     "name, description, seed, seeds, cluster, workload, scheduler, simulation, measure, "
     "emulation, arms"),
    ("gpu: 8", "gpus: 8", "cluster.gpu", f"{SERVER_KEYS}, more"),
    ("more: [{server: 1}]", "gpu_type: v100", "cluster.more.0.server", SERVER_KEYS),
    ("more: [{servers: 1, more: []}]", "gpu_type: v100", "cluster.more.0.more", SERVER_KEYS),
    ("job: 60", "jobs: 60", "workload.generate.job", "jobs, load, jobs_per_hour, gpus"),
    ("rho: 1.0", "load: 1.0", "workload.generate.rho", "jobs, load, jobs_per_hour, gpus"),
    ("profile: synergy", "profiles: synergy", "workload.profile",
     "trace, format, generate, profiles, split"),
    ("polici: fifo", "policy: fifo", "scheduler.polici",
     "policy, mechanism, placement, round, priority_after"),
    ("compltion: exact", "completion: exact", "simulation.compltion",
     "completion, progress, speeds, restart, checkpoint, restarts, profiling"),
    ("counts: 40", "count: 40", "measure.counts", "first, count, short"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("new", "old", "key", "allowed"), UNKNOWN_KEYS, ids=[unknown[2] for unknown in UNKNOWN_KEYS]
)
def test_an_unknown_key_is_refused_at_every_level_with_the_keys_that_are_known(
    tmp_path: Path, new: str, old: str, key: str, allowed: str
) -> None:
    text = edited(HEAD, old, new)
    error = refusal(tmp_path, text)
    assert (error.key, error.problem) == (key, "unknown key")
    assert (error.line, error.allowed) == (line_of(text, new), allowed)


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


IN_THE_BASE = [
    # what is written, instead of what, key of the error, line of it, part of the problem
    ("  more: [{servers: 1}]\n", "  gpu_type: v100\n", "cluster", "cluster:",
     "the same type of GPU"),
    ("  more: [{servers: 1, gpu_type: a1, storage: 1 GB/s}]\n", "  gpu_type: v100\n", "cluster",
     "cluster:", "for some servers"),
    ("    load: 1.0\n    jobs_per_hour: 1\n", "    load: 1.0\n", "workload.generate", "generate:",
     "not given once"),
    ("    jobs: 60\n", "    jobs: 60\n    load: 1.0\n", "workload.generate", "generate:",
     "not given once"),
    ("", GENERATE, "workload", "workload:", "the jobs are not given once"),
    (f"{GENERATE}  trace: jobs.csv\n", GENERATE, "workload", "workload:",
     "the jobs are not given once"),
    ("", "  split: {image: 20, language: 70, speech: 10}\n", "workload", "workload:",
     "generated jobs need models"),
    ("  trace: absent.csv\n", GENERATE, "workload.trace", "trace:",
     "'absent.csv' is no file beside the scenario"),
    ("  trace: jobs.csv\n  format: xml\n", GENERATE, "workload.format", "format:",
     "'xml' is no format of traces"),
    ("  profiles: other\n", "  profiles: synergy\n", "workload.profiles", "profiles:",
     "'other' is neither a known set nor"),
    ("  profiles: none\n", "  profiles: synergy\n", "workload.split.image", "split:",
     "no profile is of class 'image'"),
    ("  split: {sound: 1}\n", "  split: {image: 20, language: 70, speech: 10}\n",
     "workload.split.sound", "split:", "no profile is of class 'sound'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("new", "old", "key", "line", "problem"),
    IN_THE_BASE,
    ids=[f"{bad[2]}={bad[0]}" for bad in IN_THE_BASE],
)
def test_keys_that_do_not_go_together_are_refused(
    tmp_path: Path, new: str, old: str, key: str, line: str, problem: str
) -> None:
    (tmp_path / "jobs.csv").write_text("1,gnmt,0,10,1\n")
    text = edited(HEAD, old, new)
    error = refusal(tmp_path, text)
    assert (error.key, error.line) == (key, line_of(text, line))
    assert problem in error.problem


def test_a_damaged_file_of_profiles_is_refused_by_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")
    file = write_scenario(tmp_path, edited(HEAD, "profiles: synergy", "profiles: bad.json"))
    with pytest.raises(BadInputError) as caught:
        rounds_scenario_of(ScenarioFile.read(file))
    assert caught.value.file == tmp_path / "bad.json"


@pytest.mark.parametrize(
    ("old", "key", "line"),
    [
        ("name: toy-rounds\n", "name", 1),
        ("  servers: 2\n", "cluster.servers", 6),
        ("    jobs: 60\n", "workload.generate.jobs", 14),
    ],
)
def test_a_missing_key_is_named_at_the_line_of_its_parent(
    tmp_path: Path, old: str, key: str, line: int
) -> None:
    error = refusal(tmp_path, edited(HEAD, old, ""))
    assert (error.key, error.problem, error.line) == (key, "the key is missing", line)


@pytest.mark.parametrize(
    ("workload", "is_rounds"),
    [
        ("{trace: jobs.csv}", True),
        ("{generate: {jobs: 3}}", True),
        ("{profiles: none}", True),
        ("{split: {image: 1}}", True),
        ("{jobs: []}", False),
        ("{iterations: 3}", False),
        ("{}", False),
        ("[trace]", False),
        ("trace", False),
    ],
)
def test_the_keys_of_the_workload_say_which_kind_a_scenario_is(
    tmp_path: Path, workload: str, is_rounds: bool
) -> None:
    source = ScenarioFile.read(write_scenario(tmp_path, f"workload: {workload}\n"))
    assert is_rounds_scenario(source) is is_rounds


def test_a_file_without_a_workload_is_no_scenario_of_rounds(tmp_path: Path) -> None:
    assert not is_rounds_scenario(ScenarioFile.read(write_scenario(tmp_path, "name: x\n")))
    assert not is_rounds_scenario(ScenarioFile.read(write_scenario(tmp_path, SCENARIO)))


def test_a_scenario_of_rounds_is_no_scenario_of_jobs_that_share_links(tmp_path: Path) -> None:
    file = write_scenario(tmp_path, ROUNDS_SCENARIO)
    with pytest.raises(BadInputError) as caught:
        load_scenario(file)
    error = caught.value
    assert (error.file, error.key) == (file, "workload")
    assert error.line == line_of(ROUNDS_SCENARIO, "workload:")
    assert "round by round" in error.problem
    assert "'jobs'" in error.allowed


def test_the_example_is_read() -> None:
    example = Path(__file__).parents[3] / "examples" / "synergy-load.yaml"
    scenario = rounds_scenario_of(ScenarioFile.read(example))
    assert [arm.name for arm in scenario.arms] == ["proportional", "tune", "balanced", "opt"]
    assert len(scenario.seeds) == 4
    assert {arm.pool.num_gpus for arm in scenario.arms} == {128}


EMULATION = """
emulation:
  duration: 20 min
  stride: 10
  cpu_divisor: auto
  work: jpeg
  commands: {lstm: [python3, train.py]}
"""


def test_emulation_has_defaults_and_an_arm_may_change_it(tmp_path: Path) -> None:
    changed = edited(ROUNDS_SCENARIO, TUNE, f"{TUNE}\n    emulation: {{work: jpeg}}")
    arms = arms_of(tmp_path, changed)
    assert (arms["tune"].emulation.work, arms["proportional"].emulation.work) == ("jpeg", "hash")
    assert arms["tune"].emulation.duration == 720
    assert arms["tune"].emulation.stride == "auto"


def test_emulation_is_read_whole(tmp_path: Path) -> None:
    found = arms_of(tmp_path, ROUNDS_SCENARIO + EMULATION)["tune"].emulation
    assert (found.duration, found.stride, found.cpu_divisor) == (1200, 10, "auto")
    assert (found.work, found.commands) == ("jpeg", {"lstm": ["python3", "train.py"]})


@pytest.mark.parametrize(
    ("line", "key", "problem", "allowed"),
    [
        ("stride: 0.5", "stride", "0.5 is not allowed", "'auto', or a number of at least 1"),
        ("byte_divisor: much", "byte_divisor", "'much' is not allowed", "'auto', or a number"),
        ("duration: 0 s", "duration", "'0 s' is not allowed", "greater than 0"),
        ("duration: 10", "duration", "10 has no unit", "such as '300 s'"),
        ("work: sleep", "work", "'sleep' is not known", "'hash' or 'jpeg'"),
        ("strid: 2", "strid", "unknown key", "duration, stride, cpu_divisor, byte_divisor, work"),
        ("commands: {vgg: [a]}", "commands.vgg", "there is no model 'vgg'", "alexnet, res18"),
        ("commands: {lstm: []}", "commands.lstm", "the value is not allowed", "at least 1 item"),
        ("commands: {lstm: a b}", "commands.lstm", "'a b' is not allowed", "a valid list"),
        ('commands: {lstm: ["a\\0"]}', "commands.lstm.0", "a zero byte", "text without it"),
    ],
)  # fmt: skip
def test_emulation_that_is_no_good_is_refused(
    line: str, key: str, problem: str, allowed: str, tmp_path: Path
) -> None:
    text = f"{ROUNDS_SCENARIO}emulation:\n  {line}\n"
    with pytest.raises(BadInputError) as caught:
        scenario_of(tmp_path, text)
    error = caught.value
    assert error.key == f"emulation.{key}"
    assert error.line == len(text.splitlines())
    assert problem in error.problem
    assert allowed in error.allowed


def test_a_timeline_has_to_be_a_stretch(tmp_path: Path) -> None:
    text = f"{ROUNDS_SCENARIO}emulation:\n  timeline_from: 2 h\n  timeline_until: 1 h\n"
    with pytest.raises(BadInputError, match="timeline_until must be later") as caught:
        scenario_of(tmp_path, text)
    assert caught.value.key == "emulation"
