"""Scenarios whose jobs a scheduler places: what they take, and what is refused where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.experiments.run import decide_all
from harness.scheduling.cassini.precision import Precision
from tests.unit.builders import SCENARIO, edited, line_of, make_profile, write_scenario
from tests.unit.refusal import refusal_of
from traces.errors import BadInputError
from traces.model_profile import write_profile
from traces.scenario import load_scenario

SCHEDULED = """\
name: scheduled
cluster: {preset: cassini-24, gpus: 2}
workload:
  jobs:
    - {id: early, profile: vgg19, workers: 5, iterations: 8}
    - {id: late, profile: vgg19, workers: 4, start: 5 s}
scheduler: {placement: themis, round: 10 s, restart: 2 s, candidates: 3, ranking: tail}
arms:
  alike: {}
  interleaved: {scheduler: {interleaver: cassini}}
  drawn: {scheduler: {placement: random}}
"""
EARLY = "{id: early, profile: vgg19, workers: 5, iterations: 8}"


def refusal(directory: Path, text: str) -> BadInputError:
    """What ``decide`` says at the latest."""
    file = write_scenario(directory, text)
    return refusal_of(file, lambda: decide_all(load_scenario(file)))


def test_a_scheduled_scenario_is_read_whole(tmp_path: Path) -> None:
    arms = load_scenario(write_scenario(tmp_path, SCHEDULED)).arms
    assert [arm.scheduler.placement for arm in arms] == ["themis", "themis", "random"]
    assert [arm.interleaver for arm in arms] == ["none", "cassini", "none"]
    for arm in arms:
        assert arm.is_scheduled
        assert arm.gpus == 2
        assert (arm.scheduler.round, arm.scheduler.restart) == (10.0, 2.0)
        assert (arm.scheduler.candidates, arm.scheduler.ranking) == (3, "tail")
        early, late = arm.jobs
        assert (early.servers, early.profile.num_gpus) == ((), 5)
        assert [arm.iterations_of(job) for job in (early, late)] == [8, 33]
        assert late.start_s == 5.0
    assert decide_all(load_scenario(tmp_path / "scenario.yaml"))[0].decision.score is None


def test_with_given_servers_nothing_is_scheduled(tmp_path: Path) -> None:
    for arm in load_scenario(write_scenario(tmp_path)).arms:
        assert (arm.is_scheduled, arm.gpus, arm.scheduler.placement) == (False, 1, "given")


@pytest.mark.parametrize(
    ("text", "key", "line", "problem", "allowed"),
    [
        pytest.param(
            edited(SCHEDULED, EARLY, "{id: early, profile: vgg19, servers: [server0, server1]}"),
            "workload.jobs.0.servers",
            "id: early",
            "with the placement 'themis' a job has workers",
            "workers, or another scheduler.placement",
            id="servers with a placement",
        ),
        pytest.param(
            edited(SCHEDULED, EARLY, EARLY.replace("}", ", servers: [server0]}")),
            "workload.jobs.0.servers",
            "id: early",
            "with the placement 'themis' a job has no servers",
            "workers alone",
            id="servers beside workers",
        ),
        pytest.param(
            edited(SCHEDULED, EARLY, "{id: early, profile: vgg19}"),
            "workload.jobs.0.id",
            "id: early",
            "with the placement 'themis' a job has workers",
            "workers, or another scheduler.placement",
            id="neither",
        ),
        pytest.param(
            edited(SCENARIO, "servers: [left1, right1]", "workers: 2"),
            "workload.jobs.1.workers",
            "workers: 2",
            "with the placement 'given' a job has servers",
            "servers, or another scheduler.placement",
            id="workers without a placement",
        ),
        pytest.param(
            edited(SCHEDULED, "gpus: 2}", "gpus: 2, dedicated: true}"),
            "cluster.dedicated",
            "dedicated: true",
            "jobs that a scheduler places have no copies of the cluster",
            "a preset whose jobs share no link",
            id="dedicated with a placement",
        ),
        pytest.param(
            edited(SCHEDULED, "workers: 5", "workers: 49"),
            "workload.jobs.0.workers",
            "workers: 49",
            "job 'early' has 49 workers, and arm 'alike' 48 GPUs",
            "at most 48",
            id="larger than the cluster",
        ),
        pytest.param(
            edited(SCHEDULED, "workers: 5", "workers: 5, start: 6 s"),
            "workload.jobs.1.start",
            "start: 5 s",
            "job 'late' arrives before the job that stands before it",
            "jobs in the order in which they arrive",
            id="out of order",
        ),
        pytest.param(
            edited(SCHEDULED, "workers: 5", "workers: 65"),
            "workload.jobs.0.workers",
            "workers: 65",
            "65",
            "64",
            id="too many workers",
        ),
        pytest.param(
            edited(SCHEDULED, "placement: themis,", "placement: fair,"),
            "scheduler.placement",
            "placement: fair",
            "'fair'",
            "'given', 'pollux', 'random' or 'themis'",
            id="an unknown placement",
        ),
        pytest.param(
            edited(SCHEDULED, "round: 10 s", "round: 0.5 s"),
            "scheduler.round",
            "round: 0.5 s",
            "0.5",
            "1",
            id="a round too short",
        ),
        pytest.param(
            edited(SCHEDULED, "restart: 2 s", "restart: 100 ms"),
            "scheduler.restart",
            "restart: 100 ms",
            "'100 ms'",
            "0.2",
            id="a restart too short",
        ),
        pytest.param(
            edited(SCHEDULED, "candidates: 3", "candidates: 0"),
            "scheduler.candidates",
            "candidates: 0",
            "0",
            "1",
            id="no candidate",
        ),
        pytest.param(
            edited(SCHEDULED, "ranking: tail", "ranking: median"),
            "scheduler.ranking",
            "ranking: median",
            "'median'",
            "'mean', 'min' or 'tail'",
            id="an unknown ranking",
        ),
        pytest.param(
            edited(SCHEDULED, "gpus: 2", "gpus: 0"),
            "cluster.gpus",
            "gpus: 0",
            "0",
            "1",
            id="no GPU",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused_where_it_stands(
    tmp_path: Path, text: str, key: str, line: str, problem: str, allowed: str
) -> None:
    error = refusal(tmp_path, text)
    assert error.key == key
    assert error.line == line_of(text, line)
    assert problem in error.problem
    assert allowed in (error.allowed or "")


def test_a_placement_of_an_arm_is_refused_in_the_arm(tmp_path: Path) -> None:
    text = edited(SCENARIO, "together: {}", "together: {scheduler: {placement: themis}}")
    error = refusal(tmp_path, text)
    assert error.key is not None
    assert error.key.endswith("jobs.0.servers")
    assert "'themis'" in error.problem


def given(scheduler: str, cluster: str = "") -> str:
    """Jobs with servers of their own, one arm."""
    base = SCENARIO.partition("arms:")[0]
    if cluster:
        base = edited(base, "rate: 50 Gbit/s\n", f"rate: 50 Gbit/s\n  {cluster}\n")
    return base + (f"scheduler: {{{scheduler}}}\n" if scheduler else "")


@pytest.mark.parametrize(
    ("text", "key", "line", "allowed"),
    [
        (given("round: 9 s"), "scheduler.round", "round: 9 s", "placement other than 'given'"),
        (given("restart: 2 s"), "scheduler.restart", "restart: 2 s", "scheduler.placement"),
        (given("candidates: 2"), "scheduler.candidates", "candidates: 2", "scheduler.placement"),
        (given("ranking: min"), "scheduler.ranking", "ranking: min", "scheduler.placement"),
        (given("", "gpus: 2"), "cluster.gpus", "gpus: 2", "scheduler.placement"),
        (given("", "cpus: 24"), "cluster.cpus", "cpus: 24", "scheduler.mechanism"),
        (given("", "memory: 9 GB"), "cluster.memory", "memory: 9 GB", "scheduler.mechanism"),
        (
            given("interleaver: cassini", "dedicated: true"),
            "scheduler.interleaver",
            "interleaver: cassini",
            "a cluster that is not dedicated",
        ),
        (
            given("precision: 1", "dedicated: true"),
            "scheduler.precision",
            "precision: 1",
            "circles",
        ),
        (
            edited(SCENARIO, "together: {}", "together: {scheduler: {round: 9 s}}"),
            "arms.together.scheduler.round",
            "round: 9 s",
            "scheduler.placement",
        ),
        (
            edited(SCHEDULED, "interleaved: {scheduler: {interleaver: cassini}}", "others: {}"),
            "scheduler.candidates",
            "candidates: 3",
            "with the interleaver cassini",
        ),
        (
            edited(SCHEDULED, "alike: {}", "alike: {scheduler: {candidates: 2}}"),
            "arms.alike.scheduler.candidates",
            "alike: {scheduler: {candidates: 2}}",
            "with the interleaver cassini",
        ),
        (
            edited(SCHEDULED, "cassini}}", "cassini, candidates: 2}}"),
            "scheduler.candidates",
            "candidates: 3",
            "with the interleaver cassini",
        ),
    ],
)
def test_a_key_that_no_arm_uses_is_refused(
    tmp_path: Path, text: str, key: str, line: str, allowed: str
) -> None:
    error = refusal(tmp_path, text)
    assert error.key == key
    assert error.line == line_of(text, line)
    assert "changes nothing" in error.problem
    assert allowed in error.allowed


def test_a_key_that_an_arm_uses_may_stand_for_all(tmp_path: Path) -> None:
    text = edited(SCHEDULED, "ranking: tail}", "ranking: tail, precision: 3}")
    arms = load_scenario(write_scenario(tmp_path, text)).arms
    assert [arm.scheduler.precision for arm in arms] == [3.0, 3.0, 3.0]


@pytest.mark.parametrize("degrees", [0.1, 180])
def test_a_precision_is_read(tmp_path: Path, degrees: float) -> None:
    (arm,) = load_scenario(write_scenario(tmp_path, given(f"precision: {degrees}"))).arms
    assert arm.scheduler.precision == degrees


def test_the_precision_is_that_of_the_paper_unless_it_is_given(tmp_path: Path) -> None:
    (arm,) = load_scenario(write_scenario(tmp_path, given(""))).arms
    assert arm.scheduler.precision == Precision().degrees == 5.0


@pytest.mark.parametrize(
    ("degrees", "allowed"),
    [
        ("0", "greater than or equal to 0.1"),
        ("0.09", "greater than or equal to 0.1"),
        ("-5", "greater than or equal to 0.1"),
        ("181", "less than or equal to 180"),
        (".inf", "less than or equal to 180"),
        (".nan", "than or equal to"),
        ("fine", "a valid number"),
    ],
)
def test_a_precision_that_cannot_be_is_refused(tmp_path: Path, degrees: str, allowed: str) -> None:
    text = given(f"precision: {degrees}")
    error = refusal(tmp_path, text)
    assert (error.key, error.line) == ("scheduler.precision", line_of(text, "precision: "))
    assert allowed in error.allowed


def test_pollux_may_give_a_known_model_any_number_of_workers_that_it_spreads_over(
    tmp_path: Path,
) -> None:
    """The batch on each GPU stays; a job of a file keeps its number."""
    write_profile(make_profile(model="mine", workers=3, batch_size=96), tmp_path / "mine.json")
    jobs = (
        "[{id: known, profile: vgg19, workers: 5, batch_per_gpu: 32}, "
        "{id: split, profile: gpt3, workers: 4}, {id: file, profile: mine.json, workers: 3}]"
    )
    text = SCHEDULED.partition("workload:")[0] + (
        f"workload: {{jobs: {jobs}}}\n"
        "scheduler: {placement: themis}\n"
        "arms: {themis: {}, pollux: {scheduler: {placement: pollux}}}\n"
    )
    themis, pollux = load_scenario(write_scenario(tmp_path, text)).arms
    assert all(job.choices == () for job in themis.jobs)
    assert [job.profile for job in themis.jobs] == [job.profile for job in pollux.jobs]
    known, split, file = (
        {profile.num_gpus: profile for profile in job.choices} for job in pollux.jobs
    )
    assert list(known) == list(range(1, 49))
    assert {profile.batch_size for profile in known.values()} == {32 * n for n in known}
    assert list(split) == list(range(4, 49, 4))
    assert list(file) == [3]
    moved = pollux.jobs[0].on(("server0", "server1"))
    assert (moved.profile, moved.servers) == (known[2], ("server0", "server1"))


def test_a_job_that_pollux_cannot_spread_is_refused_where_it_stands(tmp_path: Path) -> None:
    write_profile(make_profile(model="mine", workers=17), tmp_path / "mine.json")
    text = (
        "name: large\n"
        "cluster: {preset: cassini-24}\n"
        "workload:\n"
        "  jobs:\n"
        "    - {id: file, profile: mine.json, workers: 17}\n"
        "scheduler: {placement: pollux}\n"
    )
    error = refusal(tmp_path, text)
    assert (error.key, error.line) == ("workload.jobs.0.workers", 5)
    assert "on 16 servers at most" in error.problem
    assert error.allowed == "at most 16"
