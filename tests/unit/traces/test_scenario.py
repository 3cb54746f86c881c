"""A scenario is read whole, or refused with file, line, key and what is allowed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.builders import SCENARIO, edited, line_of, make_profile, write_scenario
from traces.arm import Job
from traces.cluster import Port, Sharing
from traces.errors import BadInputError
from traces.model_profile import write_profile
from traces.scenario import load_scenario

JOB_B = "servers: [left1, right1]"
FIFO = "{sharing: fifo}"
SHIFTED = "{interleaver: cassini}"


def refusal(directory: Path, text: str) -> BadInputError:
    file = write_scenario(directory, text)
    with pytest.raises(BadInputError) as caught:
        load_scenario(file)
    assert caught.value.file == file
    return caught.value


def test_every_arm_is_the_base_with_its_changes(tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario(tmp_path))
    arms = {arm.name: arm for arm in scenario.arms}
    assert list(arms) == ["dedicated", "together", "shifted", "fifo"]
    assert [arm.dedicated for arm in scenario.arms] == [True, False, False, False]
    assert [arm.interleaver for arm in scenario.arms] == ["none", "none", "cassini", "none"]
    assert arms["fifo"].cluster.sharing is Sharing.FIFO
    assert arms["together"].cluster.sharing is Sharing.FAIR
    for arm in scenario.arms:
        assert [job.id for job in arm.jobs] == ["job-a", "job-b"]
        assert (arm.iterations, arm.warmup_iterations) == (4, 1)
        assert {link.rate_bps for link in arm.cluster.links} == {50e9}


def test_the_head_of_the_file_is_kept(tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario(tmp_path))
    assert (scenario.name, scenario.seed) == ("toy", 7)
    assert scenario.description == "Two small jobs on one link."
    assert scenario.text == SCENARIO


def test_without_arms_the_scenario_is_its_only_arm(tmp_path: Path) -> None:
    head = SCENARIO[: SCENARIO.index("arms:")]
    (arm,) = load_scenario(write_scenario(tmp_path, head)).arms
    assert arm.name == "toy"


def test_what_is_left_out_has_its_default(tmp_path: Path) -> None:
    text = (
        "name: least\ncluster: {rate: 1 Gbit/s}\n"
        "workload: {jobs: [{id: a, profile: vgg19, servers: [left0, right0]}]}\n"
    )
    scenario = load_scenario(write_scenario(tmp_path, text))
    (arm,) = scenario.arms
    assert scenario.scale.rate_divisor == "auto"
    assert (arm.iterations, arm.warmup_iterations, arm.interleaver) == (30, 3, "none")
    assert arm.jobs[0].start_s == 0.0


def test_rates_and_starts_come_with_their_units(tmp_path: Path) -> None:
    text = edited(SCENARIO, JOB_B, f"{JOB_B}\n      start: 50 ms")
    text = edited(text, "rate: 50 Gbit/s", "rate: 50 Gbit/s\n  middle_rate: 3 GB/s")
    (arm, *_) = load_scenario(write_scenario(tmp_path, text)).arms
    assert arm.jobs[1].start_s == 0.05
    assert {link.rate_bps for link in arm.cluster.links} == {50e9, 24e9}


def test_an_arm_may_bring_its_own_jobs(tmp_path: Path) -> None:
    own = "together: {workload: {jobs: [{id: c, profile: vgg19, servers: [left0, left1]}]}}"
    scenario = load_scenario(write_scenario(tmp_path, edited(SCENARIO, "together: {}", own)))
    assert [job.id for job in scenario.arms[1].jobs] == ["c"]
    assert [job.id for job in scenario.arms[0].jobs] == ["job-a", "job-b"]


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


LEAF_SPINE = """\
name: two-paths
cluster: {preset: leaf-spine, servers: 4, leaves: 2, spines: 3, rate: 50 Gbit/s}
workload:
  jobs:
    - {id: a, profile: vgg19, servers: [server0, server2], path: 2, weight: 2.5, priority: 3}
    - {id: b, profile: vgg19, servers: [server1, server3]}
arms:
  weighted: {cluster: {sharing: weighted}}
  priority: {cluster: {sharing: priority}}
"""


def test_jobs_have_weights_priorities_and_paths(tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario(tmp_path, LEAF_SPINE))
    assert [arm.cluster.sharing for arm in scenario.arms] == [Sharing.WEIGHTED, Sharing.PRIORITY]
    for arm in scenario.arms:
        assert [(job.weight, job.priority, job.path_variant) for job in arm.jobs] == [
            (2.5, 3, 2),
            (1.0, 0, 0),
        ]


def test_a_path_beyond_the_equal_ones_is_refused_with_their_number(tmp_path: Path) -> None:
    text = edited(LEAF_SPINE, "path: 2", "path: 3")
    error = refusal(tmp_path, text)
    assert (error.key, error.line) == ("workload.jobs.0.path", line_of(text, "path: 3"))
    assert error.problem.startswith("there is no path 3 between its servers")
    assert error.allowed == "0 to 2"


def test_a_pair_with_one_path_does_not_keep_the_others_from_theirs(tmp_path: Path) -> None:
    servers = "[server0, server1, server2, server3]"
    text = edited(LEAF_SPINE, "[server0, server2]", servers)
    (arm, _) = load_scenario(write_scenario(tmp_path, text)).arms
    assert arm.jobs[0].path_variant == 2


@pytest.mark.parametrize(
    ("cluster", "counts"),
    [
        ("{preset: single-switch, servers: 3, rate: 1 Gbit/s}", (3, 1, 3)),
        ("{preset: fat-tree, k: 4, rate: 1 Gbit/s}", (16, 20, 48)),
        ("{preset: cassini-24}", (24, 13, 48)),
        ("{preset: cassini-24, dedicated: true, sharing: fifo}", (24, 13, 48)),
    ],
)
def test_a_preset_has_its_own_keys(
    tmp_path: Path, cluster: str, counts: tuple[int, int, int]
) -> None:
    jobs = "[{id: a, profile: vgg19, servers: [server0, server2]}]"
    text = f"name: least\ncluster: {cluster}\nworkload: {{jobs: {jobs}}}\n"
    (arm,) = load_scenario(write_scenario(tmp_path, text)).arms
    found = arm.cluster
    assert (len(found.servers), len(found.switches), len(found.links)) == counts
    assert arm.dedicated == ("dedicated" in cluster)


@pytest.mark.parametrize(
    ("old", "new", "key", "problem", "allowed"),
    [
        ("leaves: 2", "k: 2", "k", "unknown key", "leaves, spines, oversubscription, dedicated"),
        ("servers: 4, leaves", "servers: 5, leaves", "servers", "5 servers cannot", "multiple of"),
        ("spines: 3", "spines: 0", "spines", "0 is not allowed", "equal to 1"),
        (", rate: 50 Gbit/s}", "}", "rate", "the key is missing", "preset, rate, sharing"),
        ("leaf-spine", "fat-tree", "servers", "unknown key", "preset, rate, sharing, fabric, k"),
        ("leaf-spine", "[x]", "preset", "is not known", "'leaf-spine', 'fat-tree'"),
        ("preset: leaf-spine", "topology: x.gml", "servers", "unknown key", "topology, rate"),
        ("preset", "topology: x.gml, preset", "topology", "at once", "one of"),
    ],
)
def test_a_bad_key_of_a_preset_is_refused_where_it_stands(
    tmp_path: Path, old: str, new: str, key: str, problem: str, allowed: str
) -> None:
    text = edited(LEAF_SPINE, old, new)
    error = refusal(tmp_path, text)
    assert (error.key, error.line) == (f"cluster.{key}", 2)
    assert problem in error.problem
    assert allowed in error.allowed


TOPOLOGY = """\
graph [
  node [ id 0 label "left0" ]
  node [ id 1 label "right0" ]
  node [ id 2 label "s" ]
  edge [ source 0 target 2 rate "60 TB/s" ]
  edge [ source 1 target 2 ]
]
"""


def with_topology(directory: Path, cluster: str, topology: str = TOPOLOGY) -> str:
    (directory / "ring.gml").write_text(topology)
    jobs = "[{id: a, profile: vgg19, servers: [left0, right0]}]"
    return f"name: least\ncluster: {cluster}\nworkload: {{jobs: {jobs}}}\n"


def test_a_topology_may_be_a_file_beside_the_scenario(tmp_path: Path) -> None:
    cluster = "{topology: ring.gml, rate: 4 Gbit/s, sharing: fifo, dedicated: true}"
    scenario = load_scenario(write_scenario(tmp_path, with_topology(tmp_path, cluster)))
    (arm,) = scenario.arms
    assert arm.cluster.servers == ("left0", "right0")
    assert arm.cluster.sharing is Sharing.FIFO
    assert arm.dedicated
    assert arm.cluster.rate_bps(Port("s", "right0")) == 4e9
    (warning,) = scenario.warnings
    assert arm.warnings == (warning,)
    assert "480 Tbit/s" in warning


def test_an_absent_topology_is_refused_where_it_is_named(tmp_path: Path) -> None:
    error = refusal(tmp_path, with_topology(tmp_path, "{topology: rong.gml}"))
    assert (error.key, error.line) == ("cluster.topology", 2)
    assert error.problem == "'rong.gml' is not a file beside the scenario"


def test_a_bad_topology_is_refused_by_its_own_name(tmp_path: Path) -> None:
    text = with_topology(tmp_path, "{topology: ring.gml}")
    with pytest.raises(BadInputError, match="has no rate") as caught:
        load_scenario(write_scenario(tmp_path, text))
    assert caught.value.file == tmp_path / "ring.gml"
    assert caught.value.key == "link 'right0' to 's'"


def test_of_many_servers_an_error_names_some(tmp_path: Path) -> None:
    text = edited(LEAF_SPINE, "[server0, server2]", "[server0, x]")
    text = edited(text, "servers: 4, leaves", "servers: 40, leaves")
    error = refusal(tmp_path, text)
    assert error.allowed.startswith("server0, server1, ")
    assert error.allowed.endswith("server15, ... (40 in all)")


def test_an_arm_that_takes_away_a_server_is_named(tmp_path: Path) -> None:
    text = edited(SCENARIO, FIFO, "{servers_left: 1}")
    assert "fifo" in str(refusal(tmp_path, text))


def with_profile_file(name: str) -> str:
    return edited(SCENARIO, f"profile: vgg19\n      {JOB_B}", f"profile: {name}\n      {JOB_B}")


def test_a_profile_may_be_a_file_beside_the_scenario(tmp_path: Path) -> None:
    write_profile(make_profile(model="mine"), tmp_path / "mine.json")
    scenario = load_scenario(write_scenario(tmp_path, with_profile_file("mine.json")))
    assert [job.profile.model for job in scenario.arms[0].jobs] == ["vgg19", "mine"]


def test_an_unknown_profile_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    text = with_profile_file("vgg20")
    error = refusal(tmp_path, text)
    assert error.key == "workload.jobs.1.profile"
    assert error.line == line_of(text, "vgg20")
    assert "vgg16, vgg19, wideresnet101, xlm, or the path of a profile" in error.allowed


def test_a_profile_for_another_number_of_workers_is_refused(tmp_path: Path) -> None:
    write_profile(make_profile(workers=3), tmp_path / "three.json")
    text = with_profile_file("three.json")
    error = refusal(tmp_path, text)
    assert error.key == "workload.jobs.1.servers"
    assert error.line == line_of(text, JOB_B)
    assert error.problem.startswith("2 servers for a profile of 3 workers")
    assert error.allowed == "3 servers"


MANY_MODELS = """\
name: many-models
cluster: {preset: single-switch, servers: 8, rate: 50 Gbit/s}
workload:
  jobs:
    - {id: a, profile: gpt3, servers: [server0, server1, server2, server3], batch_per_gpu: 4}
    - {id: b, profile: bert, servers: [server4, server5]}
"""


def test_a_job_may_say_its_batch(tmp_path: Path) -> None:
    (arm,) = load_scenario(write_scenario(tmp_path, MANY_MODELS)).arms
    profiles = [job.profile for job in arm.jobs]
    assert [profile.model for profile in profiles] == ["gpt3", "bert"]
    assert [profile.batch_size for profile in profiles] == [4 * 4, 2 * 16]
    assert len(arm.jobs[0].connections) == 8  # among parts and among stages, in both directions
    assert arm.warnings == ()


@pytest.mark.parametrize(
    ("old", "new", "key", "problem", "allowed"),
    [
        ("batch_per_gpu: 4", "batch_per_gpu: 0", "0.batch_per_gpu", "0 is not", "equal to 1"),
        ("batch_per_gpu: 4", "batch_per_gpu: 49", "0.batch_per_gpu", "of 49 a GPU", "1 to 48"),
        ("batch_per_gpu: 4", "batch_per_gpu: 4.5", "0.batch_per_gpu", "4.5", "integer"),
        ("profile: bert", "profile: gpt3", "1.servers", "over 2 workers", "4, 8, 12, 16, ... 64"),
    ],
)
def test_what_a_model_does_not_take_is_refused_where_it_stands(
    tmp_path: Path, old: str, new: str, key: str, problem: str, allowed: str
) -> None:
    text = edited(MANY_MODELS, old, new)
    error = refusal(tmp_path, text)
    line = line_of(text, "id: a" if key.startswith("0") else "id: b")
    assert (error.key, error.line) == (f"workload.jobs.{key}", line)
    assert problem in error.problem
    assert allowed in error.allowed


def with_measured(directory: Path) -> str:
    measured = directory / "measured"
    measured.mkdir()
    write_profile(make_profile(model="bert", batch_size=32), measured / "bert-2.json")
    return edited(MANY_MODELS, "workload:\n", "workload:\n  measured_profiles: measured\n")


def test_a_measured_profile_replaces_the_reconstruction_and_jobs_without_are_named(
    tmp_path: Path,
) -> None:
    scenario = load_scenario(write_scenario(tmp_path, with_measured(tmp_path)))
    (arm,) = scenario.arms
    assert [job.profile.provenance for job in arm.jobs] == ["reconstructed", "measured"]
    (warning,) = scenario.warnings
    assert warning.startswith("job a: no profile of gpt3 with 4 workers and a batch of 16")


def test_a_directory_without_profiles_is_refused_where_it_is_named(tmp_path: Path) -> None:
    text = edited(with_measured(tmp_path), "_profiles: measured", "_profiles: mesured")
    error = refusal(tmp_path, text)
    assert (error.key, error.line) == ("workload.measured_profiles", line_of(text, "mesured"))
    assert error.problem == "'mesured' beside the scenario has 0 files *.json"


def test_a_damaged_measured_profile_is_refused_by_its_own_name(tmp_path: Path) -> None:
    text = with_measured(tmp_path)
    (tmp_path / "measured" / "bad.json").write_text("{")
    with pytest.raises(BadInputError) as caught:
        load_scenario(write_scenario(tmp_path, text))
    assert caught.value.file == tmp_path / "measured" / "bad.json"


def test_a_damaged_profile_is_refused_by_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(BadInputError) as caught:
        load_scenario(write_scenario(tmp_path, with_profile_file("bad.json")))
    assert caught.value.file == tmp_path / "bad.json"


def test_a_job_has_one_server_for_each_worker() -> None:
    with pytest.raises(ValueError, match="1 servers for a profile of 2 workers"):
        Job(id="x", profile=make_profile(workers=2), servers=("left0",))


@pytest.mark.parametrize("pair", [[0, 7], [0, -1]])
def test_a_pair_of_ranks_that_no_worker_has_is_refused(tmp_path: Path, pair: list[int]) -> None:
    transfer: dict[str, Any] = {"ready_s": 0.0, "bytes": 1e6, "pattern": "pairs", "pairs": [pair]}
    document = {
        "schema_version": 1,
        "model": "m",
        "num_gpus": 2,
        "provenance": "measured",
        "source": "x",
        "demand": {"compute_s": 0.1, "transfers": [transfer]},
    }
    (tmp_path / "pairs.json").write_text(json.dumps(document))
    with pytest.raises(BadInputError):
        load_scenario(write_scenario(tmp_path, with_profile_file("pairs.json")))
