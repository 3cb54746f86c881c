"""The fluid simulator against times worked out by hand, and against the demand curve."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.simulation import fluid
from harness.simulation.fluid import Simulation, simulate
from harness.simulation.rates import SHARINGS, allocate
from tests.unit.builders import (
    GBIT,
    TOY_ALONE_S,
    TOY_BYTES,
    TOY_COMPUTE_S,
    TOY_TRANSFER_S,
    all_to_all_job,
    make_job,
    toy_cluster,
    toy_pair,
    toy_transfer,
)
from traces.cluster import Port, Sharing, dumbbell
from traces.demand import Demand, Pattern, Transfer, demand_curve
from traces.errors import BadInputError
from traces.schedule import TimeShift
from traces.topologies.leaf_spine import leaf_spine

MIDDLE = Port("switch-left", "switch-right")


def lengths(simulation: Simulation, job: str = "one") -> list[float]:
    return [each.end_s - each.start_s for each in simulation.iterations[job]]


def alone(demand: Demand, iterations: int = 1) -> Simulation:
    return simulate(toy_cluster(), [make_job("one", demand=demand)], iterations)


def after(ready_s: float, seconds: float, **changes: Any) -> Transfer:
    """A transfer that takes ``seconds`` at line rate."""
    return Transfer(ready_s, seconds * GBIT / 8, **changes)


def test_a_job_alone_takes_compute_plus_bytes_over_rate() -> None:
    simulation = simulate(toy_cluster(), [make_job("one")], 5)
    assert lengths(simulation) == pytest.approx([TOY_ALONE_S] * 5)
    first = simulation.iterations["one"][0]
    assert first.communication_start_s == pytest.approx(TOY_COMPUTE_S)
    assert simulation.iterations["one"][-1].end_s == pytest.approx(5 * TOY_ALONE_S)


@pytest.mark.parametrize("sharing", SHARINGS)
def test_two_in_lock_step_take_twice_as_long_to_send(sharing: Sharing) -> None:
    simulation = simulate(toy_cluster(sharing), toy_pair(), 5)
    for job in ("one", "two"):
        assert lengths(simulation, job) == pytest.approx([TOY_COMPUTE_S + 2 * TOY_TRANSFER_S] * 5)


def test_a_start_offset_that_keeps_them_apart_is_kept() -> None:
    simulation = simulate(toy_cluster(), toy_pair(second_start_s=0.05), 6)
    assert lengths(simulation, "one") == pytest.approx([TOY_ALONE_S] * 6)
    assert lengths(simulation, "two") == pytest.approx([TOY_ALONE_S] * 6)
    assert simulation.iterations["two"][0].start_s == 0.05


def test_a_start_offset_within_the_transfer_is_kept_and_costs_the_rest_of_the_overlap() -> None:
    offset = 0.01
    simulation = simulate(toy_cluster(), toy_pair(second_start_s=offset), 6)
    expected = TOY_COMPUTE_S + 2 * TOY_TRANSFER_S - offset
    for job in ("one", "two"):
        assert lengths(simulation, job) == pytest.approx([expected] * 6)


def test_time_shifts_give_back_the_dedicated_iteration() -> None:
    period_s = TOY_ALONE_S * 1.005
    shifts = {"one": TimeShift(0.0, period_s), "two": TimeShift(0.07, period_s)}
    simulation = simulate(toy_cluster(), toy_pair(), 8, shifts)
    for job in ("one", "two"):
        assert lengths(simulation, job) == pytest.approx([TOY_ALONE_S] * 8)
        starts = [each.start_s for each in simulation.iterations[job]]
        gaps = [b - a for a, b in itertools.pairwise(starts)]
        assert gaps == pytest.approx([period_s] * 7)
    assert simulation.iterations["two"][0].start_s == pytest.approx(0.07)
    assert simulation.adjustments == {"one": 0, "two": 0}


def test_a_job_too_slow_for_its_grid_is_aligned_again_and_counted() -> None:
    shifts = {"one": TimeShift(0.0, TOY_ALONE_S * 0.97)}
    simulation = simulate(toy_cluster(), [make_job("one")], 8, shifts)
    assert simulation.adjustments["one"] > 0


@pytest.mark.parametrize(
    ("demand", "length_s"),
    [
        (Demand(0.1, ()), 0.1),
        (Demand(0.1, (after(0.05, 0.04),)), 0.1),  # hidden behind the compute
        (Demand(0.1, (after(0.05, 0.04, blocking=True),)), 0.14),  # the compute waits
        (Demand(0.1, (after(0.05, 0.08),)), 0.13),  # sticks out of it
        (Demand(0.1, (after(0.05, 0.04, rate_limit_bps=GBIT / 4),)), 0.21),
        (Demand(0.1, (after(0.02, 0.04), after(0.03, 0.05))), 0.11),  # one after the other
        (Demand(0.1, (after(0.02, 0.04, blocking=True), after(0.03, 0.05, blocking=True))), 0.19),
        (Demand(0.0, (after(0.0, 0.04),)), 0.04),
    ],
)
def test_an_iteration_ends_with_the_last_of_timeline_and_transfers(
    demand: Demand, length_s: float
) -> None:
    assert lengths(alone(demand, iterations=3)) == pytest.approx([length_s] * 3)


def test_a_limit_above_the_link_changes_nothing() -> None:
    demand = Demand(TOY_COMPUTE_S, (toy_transfer(rate_limit_bps=5 * GBIT),))
    assert lengths(alone(demand)) == pytest.approx([TOY_ALONE_S])


def test_one_worker_alone_computes() -> None:
    job = make_job("one", ("left0",), Demand(0.1, (after(0.05, 0.04, blocking=True),)))
    assert lengths(simulate(toy_cluster(), [job], 2)) == pytest.approx([0.1, 0.1])


def test_a_slow_middle_link_decides() -> None:
    simulation = simulate(dumbbell(2, 2, GBIT, GBIT / 2), [make_job("one")], 1)
    assert lengths(simulation) == pytest.approx([TOY_COMPUTE_S + 2 * TOY_TRANSFER_S])


def test_ports_of_several_disciplines_are_refused() -> None:
    cluster = toy_cluster()
    first = replace(cluster.links[0], sharing=Sharing.WEIGHTED)
    mixed = replace(cluster, links=(first, *cluster.links[1:]))
    with pytest.raises(BadInputError, match="several disciplines") as caught:
        simulate(mixed, toy_pair(), 1)
    assert caught.value.key == "cluster.sharing"


def test_a_heavier_job_takes_its_part_until_it_is_done() -> None:
    """3 to 1: the heavy one sends 5 MB at 750 Mbit/s, the light one has 2/3 left by then."""
    light, heavy = toy_pair()
    jobs = (light, heavy.model_copy(update={"weight": 3.0}))
    simulation = simulate(toy_cluster(Sharing.WEIGHTED), jobs, 1)
    assert lengths(simulation, "two") == pytest.approx([TOY_COMPUTE_S + TOY_TRANSFER_S * 4 / 3])
    assert lengths(simulation, "one") == pytest.approx([TOY_COMPUTE_S + 2 * TOY_TRANSFER_S])


def test_a_lower_priority_waits_until_the_link_is_free() -> None:
    low, high = toy_pair()
    jobs = (low, high.model_copy(update={"priority": 1}))
    simulation = simulate(toy_cluster(Sharing.PRIORITY), jobs, 1)
    assert lengths(simulation, "two") == pytest.approx([TOY_ALONE_S])
    assert lengths(simulation, "one") == pytest.approx([TOY_COMPUTE_S + 2 * TOY_TRANSFER_S])
    assert sum(
        segment.rate_bps * (segment.end_s - segment.start_s)
        for segment in simulation.segments
        if (segment.port, segment.job) == (MIDDLE, "one")
        and segment.end_s <= TOY_ALONE_S * (1 + 1e-9)
    ) == pytest.approx(0.0)


def test_jobs_on_different_paths_do_not_meet() -> None:
    cluster = leaf_spine(4, 2, 2, GBIT)
    one, two = make_job("one", ("server0", "server2")), make_job("two", ("server1", "server3"))
    together = simulate(cluster, (one, two), 1)
    assert lengths(together, "two") == pytest.approx([TOY_COMPUTE_S + 2 * TOY_TRANSFER_S])
    apart = simulate(cluster, (one, two.model_copy(update={"path_variant": 1})), 1)
    assert lengths(apart, "two") == pytest.approx([TOY_ALONE_S])


def test_in_a_fair_queue_a_job_with_more_flows_gets_no_more() -> None:
    """Under FIFO the four flows of one job take four fifths of the middle link."""
    pairs = ((0, 2), (0, 3), (1, 2), (1, 3))
    servers = ("left0", "left1", "right0", "right1")
    many = Demand(0.0, (Transfer(0.0, TOY_BYTES, Pattern.PAIRS, pairs=pairs),))
    one = Demand(0.0, (Transfer(0.0, TOY_BYTES, Pattern.PAIRS, pairs=((0, 1),)),))
    ends = {}
    for sharing in SHARINGS:
        jobs = [make_job("many", servers, many), make_job("one", ("left2", "right2"), one)]
        simulation = simulate(dumbbell(3, 3, GBIT, sharing=sharing), jobs, 1)
        ends[sharing] = simulation.iterations["one"][0].end_s
    assert ends[Sharing.FAIR] == pytest.approx(2 * TOY_TRANSFER_S)
    assert ends[Sharing.FIFO] == pytest.approx(5 * TOY_TRANSFER_S)


def bits_by_port_and_job(simulation: Simulation) -> dict[tuple[Port, str], float]:
    bits: dict[tuple[Port, str], float] = defaultdict(float)
    for segment in simulation.segments:
        bits[(segment.port, segment.job)] += segment.rate_bps * (segment.end_s - segment.start_s)
    return bits


@st.composite
def demands(draw: st.DrawFn) -> Demand:
    compute_s = draw(st.floats(0.01, 0.2))
    ready = sorted(draw(st.lists(st.floats(0, compute_s), min_size=1, max_size=4)))
    return Demand(
        compute_s,
        tuple(
            Transfer(
                moment,
                draw(st.floats(1e4, 1e7)),
                blocking=draw(st.booleans()),
                rate_limit_bps=draw(st.none() | st.floats(1e8, 2e9)),
            )
            for moment in ready
        ),
    )


@settings(max_examples=40)
@given(demands(), demands(), st.floats(0, 0.3), st.sampled_from(SHARINGS))
def test_every_port_carries_exactly_the_bytes_of_its_jobs(
    first: Demand, second: Demand, offset: float, sharing: Sharing
) -> None:
    jobs = [make_job("one", demand=first), make_job("two", ("left1", "right1"), second, offset)]
    cluster = toy_cluster(sharing)
    bits = bits_by_port_and_job(simulate(cluster, jobs, 3))
    for job in jobs:
        expected = 3 * 8 * job.profile.demand.bytes_per_worker
        for port in cluster.path(*job.servers) + cluster.path(*reversed(job.servers)):
            assert bits[(port, job.id)] == pytest.approx(expected, rel=1e-6)
    assert len(bits) == 12


def test_several_flows_through_one_port_are_all_carried() -> None:
    bits = bits_by_port_and_job(simulate(toy_cluster(), [all_to_all_job()], 2))
    assert bits[(MIDDLE, "spread")] == pytest.approx(2 * 8 * 4 * TOY_BYTES / 3)


@settings(max_examples=40)
@given(demands(), st.floats(0, 2.0))
def test_a_job_alone_does_what_its_demand_curve_says(demand: Demand, start_s: float) -> None:
    (iteration,) = simulate(
        toy_cluster(), [make_job("one", demand=demand, start_s=start_s)], 1
    ).iterations["one"]
    curve = demand_curve(demand, GBIT)
    assert iteration.start_s == start_s
    assert iteration.end_s - start_s == pytest.approx(curve.period_s, rel=1e-6)
    first_s = curve.phases[0].start_s
    assert iteration.communication_start_s - start_s == pytest.approx(first_s, abs=1e-9)


@settings(max_examples=30)
@given(demands(), demands(), st.floats(0, 0.3))
def test_company_never_makes_a_job_faster(first: Demand, second: Demand, offset: float) -> None:
    jobs = [make_job("one", demand=first), make_job("two", ("left1", "right1"), second, offset)]
    simulation = simulate(toy_cluster(), jobs, 3)
    for job in jobs:
        least = demand_curve(job.profile.demand, GBIT).period_s
        assert min(lengths(simulation, job.id)) >= least * (1 - 1e-6)


@settings(max_examples=30)
@given(demands(), demands(), st.floats(0, 0.3))
def test_no_port_is_ever_faster_than_its_link(first: Demand, second: Demand, offset: float) -> None:
    jobs = [make_job("one", demand=first), make_job("two", ("left1", "right1"), second, offset)]
    simulation = simulate(toy_cluster(), jobs, 2)
    at_once: dict[tuple[Port, float], float] = defaultdict(float)
    for segment in simulation.segments:
        assert segment.end_s > segment.start_s
        at_once[(segment.port, segment.start_s)] += segment.rate_bps
    assert max(at_once.values()) <= GBIT * (1 + 1e-9)


class TooManyStepsError(Exception):
    pass


@pytest.mark.parametrize("start_s", [3e4, 1e6])
def test_a_job_that_starts_late_ends_too(monkeypatch: pytest.MonkeyPatch, start_s: float) -> None:
    steps = itertools.count()

    def counted(*arguments: Any) -> list[float]:
        if next(steps) > 1000:
            raise TooManyStepsError
        return allocate(*arguments)

    monkeypatch.setattr(fluid, "allocate", counted)
    jobs = [
        make_job("one", start_s=start_s, demand=Demand(0.1378, (Transfer(0.1378, 574668960),))),
        make_job("two", ("left1", "right1"), Demand(0.13, (Transfer(0.13, 1e8 / 3),)), start_s),
    ]
    simulation = simulate(dumbbell(2, 2, 5e10), jobs, 20)
    assert len(simulation.iterations["one"]) == 20
