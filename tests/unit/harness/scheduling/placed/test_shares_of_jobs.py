"""A scheduler that divides CPUs and memory beside placing jobs and setting them apart in time."""

from __future__ import annotations

import numpy as np
import pytest

from harness.experiments.placed import run_placed
from harness.scheduling.placed.scheduler import PlacedScheduler, dedicated_iteration_s
from harness.simulation.fluid import FluidNetwork
from harness.simulation.network_jobs import SimulatedNetworkJobs
from tests.unit.builders import GBIT, TOY_ALONE_S, TOY_COMPUTE_S
from tests.unit.harness.placed_builders import arriving, placed_arm, scheduler_of, scheduler_spec
from traces.arm import Arm, Job
from traces.input_pipeline import Share, find_pipeline
from traces.server_pool import ServerGroup
from traces.topologies.single_switch import single_switch

STALLED_S = 2.4 * TOY_COMPUTE_S  # with three CPUs, as res18's published profile says
GUEST_ITERATIONS = 9


def image(name: str, iterations: int = 30) -> Job:
    found = arriving(name, 3, iterations)
    return found.model_copy(update={"input_pipeline": find_pipeline("res18")})


def guest(number: int, model: str) -> Job:
    """On one GPU of each server, from the beginning."""
    found = arriving(f"guest{number}", 3, GUEST_ITERATIONS)
    return found.model_copy(update={"input_pipeline": find_pipeline(model)})


def divided(mechanism: str, interleaver: str = "cassini", model: str = "gnmt") -> Arm:
    """Three guests fill three of the five GPUs of each server; two image jobs meet on the rest."""
    jobs = [guest(number, model) for number in range(3)]
    jobs += [image(name).model_copy(update={"start_s": 0.5}) for name in ("one", "two")]
    return placed_arm(
        jobs,
        cluster=single_switch(3, GBIT),
        gpus=5,
        resources=ServerGroup(3, 5, 15.0, 5 * 62.5e9),
        scheduler=scheduler_spec(interleaver=interleaver, mechanism=mechanism),
    )


def all_placed(arm: Arm) -> PlacedScheduler:
    scheduler, _ = scheduler_of(arm)
    scheduler.decide(np.arange(3), 0.0)
    scheduler.decide(np.arange(5), 1.0)
    return scheduler


@pytest.mark.parametrize(
    ("mechanism", "cpus", "period_s"),
    [("proportional", 3.0, STALLED_S), ("tune", 6.0, TOY_ALONE_S)],
)
def test_the_share_of_a_job_changes_its_circle(
    mechanism: str, cpus: float, period_s: float
) -> None:
    scheduler = all_placed(divided(mechanism))
    for name in ("one", "two"):
        assert scheduler.shares[name] == Share(cpus, 62.5e9)
        assert scheduler.shifts[name].grid_period_s == pytest.approx(period_s, rel=0.02)


def test_without_an_interleaver_shares_are_divided_alike() -> None:
    assert all_placed(divided("tune", "none")).shares == all_placed(divided("tune")).shares


def test_the_policy_reckons_with_proportional_shares() -> None:
    arm = divided("tune")
    in_proportion = arm.jobs[3].with_share(Share(3.0, 62.5e9))
    assert dedicated_iteration_s(arm, in_proportion) == pytest.approx(STALLED_S)


def test_an_end_that_frees_cpus_is_a_decision() -> None:
    """Beside mobilenets, which want six CPUs, nobody has more than three until they end."""
    scheduler = all_placed(divided("tune", model="mobilenet"))
    before = scheduler.record.decisions
    assert {share.cpus for share in scheduler.shares.values()} == {3.0}
    assert scheduler.shifts["one"].grid_period_s == pytest.approx(STALLED_S, rel=0.02)
    found = scheduler.decide(np.array([3, 4]), 2.0)
    assert scheduler.record.decisions == before + 1
    assert scheduler.shares == {name: Share(6.0, 62.5e9) for name in ("one", "two")}
    assert scheduler.shifts["one"].grid_period_s == pytest.approx(TOY_ALONE_S, rel=0.02)
    assert scheduler.record.shares["one"] == [Share(3.0, 62.5e9), Share(6.0, 62.5e9)]
    assert found.iteration_s == pytest.approx([TOY_ALONE_S] * 2)


def test_who_runs_goes_on_faster_and_is_not_started_anew() -> None:
    arm = divided("tune", model="mobilenet")
    network = SimulatedNetworkJobs(arm.cluster, FluidNetwork(arm.cluster, lambda _: None))
    run = run_placed(arm, 1, network)
    assert len(run.stints) == len(arm.jobs)
    stint = next(stint for stint in run.stints if stint.job == "one")
    lengths_s = np.diff([span.end_s for span in stint.spans])
    assert lengths_s[:3] == pytest.approx([STALLED_S] * 3, rel=0.05)
    assert lengths_s[-5:] == pytest.approx([TOY_ALONE_S] * 5, rel=0.05)
