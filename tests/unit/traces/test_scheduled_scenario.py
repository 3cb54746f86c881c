"""Scenarios whose jobs a scheduler places: what they take, and what is refused where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.experiments.run import decide_all
from tests.unit.builders import SCENARIO, edited, line_of, write_scenario
from traces.errors import BadInputError
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
    with pytest.raises(BadInputError) as caught:
        decide_all(load_scenario(file))
    assert caught.value.file == file
    return caught.value


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
            "'given', 'random' or 'themis'",
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
