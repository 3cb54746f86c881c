"""What a scenario of rounds may not say is refused with file, line, key and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.builders import edited, line_of, write_scenario
from tests.unit.traces.rounds_scenarios import GENERATE, HEAD, SERVER_KEYS, read, refusal
from traces.errors import BadInputError

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
        read(file)
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
