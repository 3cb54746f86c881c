"""Every point is checked before anything runs, and is known by what its result depends on."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.experiments.sweep.plan import SweepPlan, plan_sweep
from harness.experiments.sweep.points import parse_variation
from tests.unit.builders import ROUNDS_SCENARIO, SCENARIO, edited, write_scenario
from traces.errors import BadInputError
from traces.scenario_file import ScenarioFile

WITH_TRACE = """\
name: from-a-trace
cluster: {servers: 2}
workload: {trace: jobs.csv}
"""
PLACED = """\
name: placed
cluster: {preset: single-switch, servers: 4, rate: 50 Gbit/s}
scheduler: {placement: random}
workload:
  jobs:
    - {id: job-a, profile: vgg19, workers: 2}
"""


def planned(
    file: Path, *varied: str, seeds: int | None = None, emulated: bool = False
) -> SweepPlan:
    variations = [parse_variation(text) for text in varied]
    return plan_sweep(ScenarioFile.read(file), variations, seeds, emulated=emulated)


def refused(file: Path, *varied: str, seeds: int | None = None, emulated: bool = False) -> str:
    with pytest.raises(BadInputError) as caught:
        planned(file, *varied, seeds=seeds, emulated=emulated)
    return str(caught.value)


@pytest.fixture
def rounds(tmp_path: Path) -> Path:
    return write_scenario(tmp_path, ROUNDS_SCENARIO)


def ids(plan: SweepPlan) -> set[str]:
    return {point.id for point in plan.points}


def test_a_point_for_each_combination_and_seed(rounds: Path) -> None:
    plan = planned(rounds, "scheduler.policy=fifo,srtf", "workload.generate.load=0.5..1.0:6")
    assert [(*point.values.values(), point.seed) for point in plan.points][:3] == [
        ("fifo", 0.5, 5),
        ("fifo", 0.5, 6),
        ("fifo", 0.6, 5),
    ]
    assert len(plan.points) == len(ids(plan)) == 2 * 6 * 2
    assert (plan.scenario, plan.rounds) == ("toy-rounds", True)
    last = plan.points[-1].source.data
    assert isinstance(last, dict)
    assert (last["seed"], last["seeds"]) == (6, 1)
    assert last["scheduler"]["policy"] == "srtf"
    assert last["workload"]["generate"]["load"] == 1.0
    assert len(planned(rounds, "scheduler.policy=fifo", seeds=10).points) == 10


@pytest.mark.parametrize(
    ("varied", "said"),
    [
        ("scheduler.polcy=fifo", "--vary scheduler.polcy: unknown key; allowed: policy, "),
        ("workload.load=0.5", "--vary workload.load: unknown key; allowed: trace, format, "),
        ("workload.generte.load=0.5", "--vary workload.generte: unknown key; allowed: trace, "),
        ("nothing=1", "--vary nothing: unknown key; allowed: name, "),
        ("scheduler.policy=fifo,best", "--vary scheduler.policy: 'best' is not known"),
        ("cluster.memory=500", "--vary cluster.memory: 500 has no unit; allowed: a size "),
        ("cluster.servers=1..2:3", "--vary cluster.servers: 1.5 is not allowed here"),
        ("cluster.more.0.servers=2", "--vary cluster.more: "),
        ("workload.generate.jobs_per_hour=5", "--vary workload.generate: the arrivals are not "),
        ("arms.tuned.scheduler.policy=fifo", "there is no arm 'tuned'; allowed: proportional, "),
        ("arms=1", "there is no arm ''; allowed: proportional, "),
        ("name.first=a", "--vary name.first: 'name' is not varied"),
    ],
)
def test_a_key_or_value_that_the_scenario_has_not_is_refused(
    rounds: Path, varied: str, said: str
) -> None:
    assert said in refused(rounds, varied)


def test_a_scenario_that_is_none_alone_is_refused_where_it_is_wrong(tmp_path: Path) -> None:
    file = write_scenario(tmp_path, edited(ROUNDS_SCENARIO, "policy: fifo", "policy: fofo"))
    assert refused(file, "scheduler.round=300 s").startswith(f"{file}:")


def test_what_emulation_cannot_do_is_refused_before(rounds: Path) -> None:
    assert "opt" in refused(rounds, "scheduler.policy=fifo", emulated=True)


def test_seeds_that_change_nothing_are_refused(tmp_path: Path) -> None:
    file = write_scenario(tmp_path)
    said = refused(file, "cluster.rate=10..50 Gbit/s:5", seeds=2)
    assert said.startswith("--seeds: nothing in this scenario is random")
    assert len(planned(file, "cluster.rate=50 Gbit/s", seeds=3, emulated=True).points) == 3
    placed = write_scenario(tmp_path, PLACED)
    assert len(planned(placed, "cluster.rate=50 Gbit/s", seeds=2).points) == 2


def test_a_trace_has_no_seeds(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("1,alexnet,0,9000,1\n")
    file = write_scenario(tmp_path, WITH_TRACE)
    said = refused(file, "scheduler.policy=fifo", seeds=2)
    assert said.startswith("--seeds: nothing in this workload is random")


def test_too_many_points_are_refused(rounds: Path) -> None:
    assert "is 200,000 points" in refused(rounds, "workload.generate.load=1..9:200", seeds=1000)


def test_arms_with_a_value_of_their_own(rounds: Path, tmp_path: Path) -> None:
    plan = planned(rounds, "scheduler.mechanism=proportional,tune")
    assert [warning.split(",")[0] for warning in plan.warnings] == [
        "arm tune has its own scheduler.mechanism",
        "arm opt has its own scheduler.mechanism",
    ]
    every = edited(
        ROUNDS_SCENARIO, "  proportional: {}", "  proportional: {scheduler: {mechanism: greedy}}"
    )
    said = refused(write_scenario(tmp_path, every), "scheduler.mechanism=proportional,tune")
    assert "every arm has a value of its own" in said
    assert "arms.ARM.scheduler.mechanism" in said
    assert not planned(rounds, "arms.tune.scheduler.mechanism=tune,greedy").warnings


def test_a_key_without_effect_is_refused_though_it_stands_in_no_file(tmp_path: Path) -> None:
    said = refused(write_scenario(tmp_path), "scheduler.round=20 s")
    assert said.startswith("--vary scheduler.round: 'round' changes nothing")


def test_a_point_is_known_by_what_its_result_depends_on(tmp_path: Path) -> None:
    file = write_scenario(tmp_path, ROUNDS_SCENARIO)
    varied = "workload.generate.load=0.5,1"
    first = planned(file, varied)
    assert ids(planned(file, "workload.generate.load=1.0,0.5")) == ids(first)
    assert ids(planned(file, varied, seeds=1)) < ids(first) < ids(planned(file, varied, seeds=3))
    write_scenario(tmp_path, edited(ROUNDS_SCENARIO, "Sixty jobs", "Many jobs"))
    assert ids(planned(file, varied)) == ids(first)
    assert planned(file, varied).definition == first.definition
    # What is varied may stand in the file with any value.
    write_scenario(tmp_path, edited(ROUNDS_SCENARIO, "load: 1.0", "load: 0.7"))
    assert ids(planned(file, varied)) == ids(first)
    assert planned(file, varied).definition == first.definition
    write_scenario(tmp_path, edited(ROUNDS_SCENARIO, "cpus: 24", "cpus: 23"))
    assert not ids(planned(file, varied)) & ids(first)
    assert planned(file, varied).definition != first.definition


def test_a_simulated_point_is_no_emulated_one(tmp_path: Path) -> None:
    file = write_scenario(tmp_path)
    simulated = planned(file, "cluster.rate=50 Gbit/s")
    assert not ids(planned(file, "cluster.rate=50 Gbit/s", emulated=True)) & ids(simulated)


def test_the_content_of_a_file_that_is_named_counts(tmp_path: Path) -> None:
    trace = tmp_path / "jobs.csv"
    trace.write_text("1,alexnet,0,9000,1\n")
    file = write_scenario(tmp_path, WITH_TRACE)
    before = planned(file, "scheduler.policy=fifo")
    trace.write_text("1,alexnet,0,9001,1\n")
    after = planned(file, "scheduler.policy=fifo")
    assert ids(before) != ids(after)
    assert before.definition != after.definition


def test_a_scenario_of_links(tmp_path: Path) -> None:
    plan = planned(write_scenario(tmp_path, SCENARIO), "cluster.rate=10..50 Gbit/s:5")
    assert [point.values["cluster.rate"] for point in plan.points] == [
        f"{rate} Gbit/s" for rate in (10, 20, 30, 40, 50)
    ]
    assert {point.seed for point in plan.points} == {7}
    assert not plan.rounds
