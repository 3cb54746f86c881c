"""Simulated jobs that wait for the samples of their next iteration."""

from __future__ import annotations

import pytest

from harness.simulation.fluid import FluidNetwork, simulate
from harness.simulation.network_jobs import SimulatedNetworkJobs
from tests.unit.builders import (
    TOY_ALONE_S,
    TOY_COMPUTE_S,
    TOY_TRANSFER_S,
    make_job,
    toy_cluster,
    toy_transfer,
)
from traces.arm import Job
from traces.demand import Demand
from traces.results import IterationSpan
from traces.schedule import TimeShift

LEFT, RIGHT = ("left0", "right0"), ("left1", "right1")


def waiting(name: str, input_s: float, servers: tuple[str, str] = LEFT, **changes: object) -> Job:
    transfer = toy_transfer(**changes)
    return make_job(name, servers, Demand(TOY_COMPUTE_S, (transfer,), input_s))


def lengths(spans: list[IterationSpan]) -> list[float]:
    return [span.end_s - span.start_s for span in spans]


@pytest.mark.parametrize(
    ("input_s", "iteration_s"), [(0.05, TOY_ALONE_S), (0.14, TOY_ALONE_S), (0.2, 0.2)]
)
@pytest.mark.parametrize("blocking", [False, True])
def test_an_iteration_takes_the_longer_of_work_and_input(
    input_s: float, iteration_s: float, blocking: bool
) -> None:
    job = waiting("one", input_s, blocking=blocking)
    found = simulate(toy_cluster(), [job], 3).iterations["one"]
    assert lengths(found) == pytest.approx([iteration_s] * 3)
    assert [span.communication_start_s - span.start_s for span in found] == pytest.approx(
        [TOY_COMPUTE_S] * 3
    )


def test_a_transfer_that_is_held_up_hides_more_of_the_input() -> None:
    """Together the transfers take 80 ms; the input of 160 ms adds nothing to 180 ms."""
    jobs = [waiting("one", 0.16, LEFT), waiting("two", 0.16, RIGHT)]
    found = simulate(toy_cluster(), jobs, 3).iterations
    for spans in found.values():
        assert lengths(spans) == pytest.approx([TOY_COMPUTE_S + 2 * TOY_TRANSFER_S] * 3)


def test_a_job_on_a_grid_is_held_to_it_once_its_samples_are_there() -> None:
    network = SimulatedNetworkJobs(toy_cluster(), FluidNetwork(toy_cluster(), lambda _: None))
    network.start(waiting("one", 0.2), 3, TimeShift(0.0, 0.21))
    network.run(1.0)
    assert [span.start_s for span in network.spans("one")] == pytest.approx(
        [0.0, 0.21, 0.42], rel=0.02
    )


def test_another_share_holds_from_the_next_iteration_on() -> None:
    network = SimulatedNetworkJobs(toy_cluster(), FluidNetwork(toy_cluster(), lambda _: None))
    network.start(waiting("one", 0.3), 4, None)
    network.run(0.35)  # in the second one
    network.change_share(waiting("one", 0.2))
    network.run(2.0)
    assert lengths(list(network.spans("one"))) == pytest.approx([0.3, 0.3, 0.2, 0.2])
