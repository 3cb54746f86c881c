"""What a scenario may not say is refused with file, line, key and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.builders import SCENARIO, edited, line_of
from tests.unit.traces.scenarios import FIFO, JOB_B, refusal

SHIFTED = "{interleaver: cassini}"

BAD_VALUES = [
    # what is written, instead of what, key of the error, part of the problem, part of what is right
    ("rate: 50 Gbs", "rate: 50 Gbit/s", "cluster.rate", "'Gbs' is not a unit", "'50 Gbit/s'"),
    ("rate: 50", "rate: 50 Gbit/s", "cluster.rate", "has no unit", "'50 Gbit/s'"),
    ("rate: -50 Gbit/s", "rate: 50 Gbit/s", "cluster.rate", "out of range", "above zero"),
    ("preset: ring", "preset: dumbbell", "cluster.preset", "'ring' is not known", "dumbbell"),
    ("servers_left: 0", "servers_left: 2", "cluster.servers_left", "0 is", "greater than"),
    ("servers_left: many", "servers_left: 2", "cluster.servers_left", "'many'", "integer"),
    ("servers_right: 65", "servers_right: 2", "cluster.servers_right", "65", "less than"),
    ("seed: -1", "seed: 7", "seed", "-1", "greater than or equal to 0"),
    ("name: Two Jobs", "name: toy", "name", "'Two Jobs' is not a name", "lower-case"),
    ("name: " + "a" * 33, "name: toy", "name", "is not a name", "at most 32"),
    ("name: 5", "name: toy", "name", "5 is not allowed", "string"),
    ("iterations: 0", "iterations: 4", "workload.iterations", "0 is", "equal to 2"),
    ("iterations: 100001", "iterations: 4", "workload.iterations", "100001", "100000"),
    ("iterations: 3.5", "iterations: 4", "workload.iterations", "3.5", "integer"),
    ("warmup_iterations: -1", "warmup_iterations: 1", "workload.warmup_iterations", "-1", "to 0"),
    ("id: Job B", "id: job-b", "workload.jobs.1.id", "'Job B' is not a name", "lower-case"),
    ("id: job-a  # again", "id: job-b", "workload.jobs.1.id", "stands twice", "once"),
    ("servers: [left1, east1]", JOB_B, "workload.jobs.1.servers.1", "'east1'", "left0, left1"),
    ("servers: [left1, left1]", JOB_B, "workload.jobs.1.servers", "stands twice", "once"),
    ("servers: left1", JOB_B, "workload.jobs.1.servers", "'left1'", "list"),
    ("servers: []", JOB_B, "workload.jobs.1.servers", "not allowed", "at least 1"),
    (f"{JOB_B}\n      start: -3 s", JOB_B, "workload.jobs.1.start", "out of range", "zero or more"),
    (f"{JOB_B}\n      start: 3", JOB_B, "workload.jobs.1.start", "has no unit", "'300 s'"),
    (f"{JOB_B}\n      weight: 0", JOB_B, "workload.jobs.1.weight", "0", "equal to 0.001"),
    (f"{JOB_B}\n      weight: .inf", JOB_B, "workload.jobs.1.weight", "inf", "finite"),
    (f"{JOB_B}\n      priority: 8", JOB_B, "workload.jobs.1.priority", "8", "equal to 7"),
    (f"{JOB_B}\n      priority: -1", JOB_B, "workload.jobs.1.priority", "-1", "equal to 0"),
    (f"{JOB_B}\n      path: 64", JOB_B, "workload.jobs.1.path", "64", "less than 64"),
    (f"{JOB_B}\n      path: 1", JOB_B, "workload.jobs.1.path", "no path 1 between", "0"),
    ("{sharing: fofo}", FIFO, "arms.fifo.cluster.sharing", "'fofo' is not known", "'fifo'"),
    ("{rate: 50 Gbs}", FIFO, "arms.fifo.cluster.rate", "'Gbs'", "'50 Gbit/s'"),
    ("{oversubscription: 2}", FIFO, "arms.fifo.cluster.oversubscription", "unknown key", "rate"),
    ("{fabric: lossy}", FIFO, "arms.fifo.cluster.fabric", "'lossy' is not known", "lossless"),
    ("{dedicated: maybe}", FIFO, "arms.fifo.cluster.dedicated", "'maybe'", "boolean"),
    ("{interleaver: x}", SHIFTED, "arms.shifted.scheduler.interleaver", "'x' is not", "'cassini'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("new", "old", "key", "problem", "allowed"),
    BAD_VALUES,
    ids=[f"{b[2]}={b[0]}" for b in BAD_VALUES],
)
def test_a_bad_value_is_refused_where_it_stands(
    tmp_path: Path, new: str, old: str, key: str, problem: str, allowed: str
) -> None:
    text = edited(SCENARIO, old, new)
    error = refusal(tmp_path, text)
    assert error.key == key
    assert error.line == line_of(text, new.splitlines()[-1])
    assert problem in error.problem
    assert allowed in error.allowed


UNKNOWN_KEYS = [
    ("seed: 7", "sead: 7", "sead", "seed"),
    ("preset: dumbbell", "presets: dumbbell", "cluster.presets", "preset"),
    ("warmup_iterations: 1", "warmups: 1", "workload.warmups", "warmup_iterations"),
    ("id: job-b", "idd: job-b", "workload.jobs.1.idd", "id"),
    ("id: job-b", "id: job-b\n      gpus: 3", "workload.jobs.1.gpus", "servers"),
    ("together: {}", "together: {clustr: {}}", "arms.together.clustr", "cluster"),
    (FIFO, "{sharin: fifo}", "arms.fifo.cluster.sharin", "sharing"),
    (SHIFTED, "{interleave: x}", "arms.shifted.scheduler.interleave", "interleaver"),
    ("arms:\n", "scale: {divisor: 3}\narms:\n", "scale.divisor", "rate_divisor"),
    ("arms:\n", "scheduler: {policy: x}\narms:\n", "scheduler.policy", "interleaver"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "key", "right"), UNKNOWN_KEYS, ids=[unknown[2] for unknown in UNKNOWN_KEYS]
)
def test_an_unknown_key_is_refused_at_every_level_with_the_keys_that_are_known(
    tmp_path: Path, old: str, new: str, key: str, right: str
) -> None:
    text = edited(SCENARIO, old, new)
    error = refusal(tmp_path, text)
    assert (error.key, error.problem) == (key, "unknown key")
    assert error.line == line_of(text, key.rpartition(".")[2] + ": ")
    assert right in error.allowed.split(", ")


@pytest.mark.parametrize(
    ("old", "key", "line"),
    [
        ("name: toy\n", "name", 1),
        ("  rate: 50 Gbit/s\n", "cluster.rate", 5),
        ("      profile: vgg19\n      servers: [left1, right1]\n", "workload.jobs.1.profile", 18),
    ],
)
def test_a_missing_key_is_named_at_the_line_of_its_parent(
    tmp_path: Path, old: str, key: str, line: int
) -> None:
    error = refusal(tmp_path, edited(SCENARIO, old, ""))
    assert (error.key, error.problem, error.line) == (key, "the key is missing", line)


@pytest.mark.parametrize("divisor", ["0.5", "fast", ".nan", "-3", "[1]"])
def test_a_bad_scale_is_refused(tmp_path: Path, divisor: str) -> None:
    error = refusal(tmp_path, f"{SCENARIO}scale: {{rate_divisor: {divisor}}}\n")
    assert error.key == "scale.rate_divisor"
    assert error.line == SCENARIO.count("\n") + 1
    assert error.allowed == "'auto', or a number of at least 1"


def test_an_infinite_scale_is_refused(tmp_path: Path) -> None:
    refusal(tmp_path, f"{SCENARIO}scale: {{rate_divisor: .inf}}\n")


@pytest.mark.parametrize(
    ("section", "replacement", "key"),
    [
        ("cluster", "cluster:\n", "cluster"),
        ("cluster", "cluster: [1]\n", "cluster"),
        ("workload", "workload: 3\n", "workload"),
        ("arms", "arms: [together]\n", "arms"),
        ("arms", "arms: {together: }\n", "arms.together"),
        ("arms", "arms: {Together: {}}\n", "arms.Together"),
        ("arms", "arms: {a: {workload: }}\n", "arms.a.workload"),
    ],
)
def test_a_section_of_the_wrong_kind_is_refused(
    tmp_path: Path, section: str, replacement: str, key: str
) -> None:
    starts = [SCENARIO.index(f"{name}:") for name in ("cluster", "workload", "arms")]
    begin = SCENARIO.index(f"{section}:")
    end = min((start for start in starts if start > begin), default=len(SCENARIO))
    text = SCENARIO[:begin] + replacement + SCENARIO[end:]
    error = refusal(tmp_path, text)
    assert error.key == key
    assert error.line == text.splitlines().index(replacement.rstrip()) + 1


@pytest.mark.parametrize("text", ["", "- a\n", "hello\n", "3\n"])
def test_what_is_no_mapping_is_no_scenario(tmp_path: Path, text: str) -> None:
    error = refusal(tmp_path, text)
    assert (error.line, error.problem) == (1, "is not a scenario")


def test_more_than_63_jobs_are_refused(tmp_path: Path) -> None:
    jobs = ", ".join(f"{{id: j{n}, profile: vgg19, servers: [left0, right0]}}" for n in range(64))
    text = f"name: many\ncluster: {{rate: 1 Gbit/s}}\nworkload: {{jobs: [{jobs}]}}\n"
    assert refusal(tmp_path, text).key == "workload.jobs"


ARM_JOBS = """\
arms:
  together: {}
  own:
    workload:
      jobs:
        - id: c
          profile: vgg19
          servers: [left0, right0]
"""


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("[left0, right0]", "[left0, west0]", "arms.own.workload.jobs.0.servers.1"),
        ("[left0, right0]", "[left0, left0]", "arms.own.workload.jobs.0.servers"),
        ("profile: vgg19", "profile: vgg1", "arms.own.workload.jobs.0.profile"),
        ("id: c", "id: C", "arms.own.workload.jobs.0.id"),
        ("- id: c", "- id: c\n          start: -1 s", "arms.own.workload.jobs.0.start"),
    ],
)  # fmt: skip
def test_an_error_in_an_arm_points_into_the_arm(
    tmp_path: Path, old: str, new: str, key: str
) -> None:
    arms = edited(ARM_JOBS, old, new)
    text = SCENARIO[: SCENARIO.index("arms:")] + arms
    error = refusal(tmp_path, text)
    expected = next(n for n, line in enumerate(arms.splitlines()) if new.splitlines()[-1] in line)
    assert error.key == key
    assert error.line == SCENARIO[: SCENARIO.index("arms:")].count("\n") + expected + 1


def test_a_key_that_an_arms_job_lacks_points_into_the_arm(tmp_path: Path) -> None:
    arms = edited(ARM_JOBS, "- id: c\n          profile", "- profile")
    text = SCENARIO[: SCENARIO.index("arms:")] + arms
    error = refusal(tmp_path, text)
    assert error.key == "arms.own.workload.jobs.0.id"
    assert error.line == text.splitlines().index("        - profile: vgg19") + 1
