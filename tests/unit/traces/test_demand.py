"""Demands and their curves."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traces.demand import Demand, Pattern, Phase, Transfer, dedicated_iteration, demand_curve

LINE_RATE_BPS = 1e9
SECOND_BYTES = LINE_RATE_BPS / 8


def seconds(duration_s: float, ready_s: float = 0.0, **changes: object) -> Transfer:
    """A transfer that takes ``duration_s`` at the line rate."""
    return Transfer(ready_s, duration_s * SECOND_BYTES, **changes)  # type: ignore[arg-type]


@st.composite
def demands(draw: st.DrawFn) -> Demand:
    compute_s = draw(st.floats(0.001, 0.5))
    transfers = []
    for share in sorted(draw(st.lists(st.floats(0, 1), max_size=5))):
        limit = draw(st.none() | st.floats(1e7, 2e9))
        transfers.append(
            Transfer(
                min(share * compute_s, compute_s),
                draw(st.floats(1e3, 2e7)),
                blocking=draw(st.booleans()),
                rate_limit_bps=limit,
            )
        )
    return Demand(compute_s, tuple(transfers))


@pytest.mark.parametrize(
    ("compute_s", "transfers", "problem"),
    [
        (-1.0, (), "zero or more"),
        (math.inf, (), "zero or more"),
        (math.nan, (), "zero or more"),
        (1.0, (Transfer(2.0, 1),), "outside the compute timeline"),
        (1.0, (Transfer(-0.1, 1),), "outside the compute timeline"),
        (1.0, (Transfer(0.5, 0),), "more than 0"),
        (1.0, (Transfer(0.5, -5),), "more than 0"),
        (1.0, (Transfer(0.5, math.inf),), "more than 0"),
        (1.0, (Transfer(0.5, math.nan),), "more than 0"),
        (1.0, (Transfer(0.5, 1), Transfer(0.4, 1)), "order of ready_s"),
    ],
)
def test_an_impossible_demand_is_refused(
    compute_s: float, transfers: tuple[Transfer, ...], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        Demand(compute_s, transfers)


def test_a_ring_sends_to_the_next_rank() -> None:
    assert Transfer(0, 6).flows(3) == ((0, 1, 6), (1, 2, 6), (2, 0, 6))


def test_all_to_all_divides_a_workers_bytes_among_the_others() -> None:
    flows = Transfer(0, 6, Pattern.ALL_TO_ALL).flows(3)
    assert {(a, b) for a, b, _ in flows} == {(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)}
    assert {size for _, _, size in flows} == {3}


def test_pairs_send_what_they_say() -> None:
    assert Transfer(0, 6, Pattern.PAIRS, pairs=((0, 2), (1, 2))).flows(3) == ((0, 2, 6), (1, 2, 6))


@pytest.mark.parametrize("pattern", list(Pattern))
def test_one_worker_alone_sends_nothing(pattern: Pattern) -> None:
    assert Transfer(0, 6, pattern, pairs=((0, 0),)).flows(1) == ()


@given(st.integers(2, 9), st.sampled_from([Pattern.RING, Pattern.ALL_TO_ALL]))
def test_every_worker_sends_the_transfers_bytes(workers: int, pattern: Pattern) -> None:
    flows = Transfer(0, 1e6, pattern).flows(workers)
    for rank in range(workers):
        assert sum(size for a, _, size in flows if a == rank) == pytest.approx(1e6)
        assert sum(size for _, b, size in flows if b == rank) == pytest.approx(1e6)


def test_bytes_per_worker_adds_the_transfers() -> None:
    assert Demand(1.0, (Transfer(0, 5), Transfer(1, 7))).bytes_per_worker == 12


@pytest.mark.parametrize(
    ("demand", "period_s", "phases"),
    [
        # nothing to send: all compute
        (Demand(0.5, ()), 0.5, []),
        # after the compute: compute + bytes / rate
        (Demand(0.5, (seconds(0.25, 0.5),)), 0.75, [(0.5, 0.75)]),
        # hidden behind the compute
        (Demand(0.5, (seconds(0.25, 0.125),)), 0.5, [(0.125, 0.375)]),
        # blocking: the compute after it waits
        (Demand(0.5, (seconds(0.25, 0.125, blocking=True),)), 0.75, [(0.125, 0.375)]),
        # the second is ready in time, and back to back they are one phase
        (Demand(0.5, (seconds(0.25, 0.25), seconds(0.25, 0.5))), 0.75, [(0.25, 0.75)]),
        # the second waits for the network
        (Demand(0.5, (seconds(0.5, 0.25), seconds(0.25, 0.5))), 1.0, [(0.25, 1.0)]),
        # the network waits for the second
        (Demand(1.0, (seconds(0.25, 0.25), seconds(0.25, 0.75))), 1.0, [(0.25, 0.5), (0.75, 1.0)]),
        # a held timeline moves what comes after it
        (
            Demand(1.0, (seconds(0.25, 0.25, blocking=True), seconds(0.25, 0.75))),
            1.25,
            [(0.25, 0.5), (1.0, 1.25)],
        ),
        # a blocking transfer that waits for the network holds the timeline that much longer
        (
            Demand(1.0, (seconds(0.5, 0.25), seconds(0.25, 0.5, blocking=True))),
            1.5,
            [(0.25, 1.0)],
        ),
    ],
)
def test_the_curve_is_that_of_a_job_alone(
    demand: Demand, period_s: float, phases: list[tuple[float, float]]
) -> None:
    curve = demand_curve(demand, LINE_RATE_BPS)
    assert curve.period_s == period_s
    assert [(phase.start_s, phase.end_s) for phase in curve.phases] == phases
    assert {phase.rate_bps for phase in curve.phases} <= {LINE_RATE_BPS}


def of_others(duration_s: float, ready_s: float, *, blocking: bool = False) -> Transfer:
    """A transfer in which the first worker only receives."""
    return Transfer(
        ready_s, duration_s * SECOND_BYTES, Pattern.PAIRS, blocking, pairs=((1, 0), (2, 1))
    )


@pytest.mark.parametrize(
    ("demand", "period_s", "phases"),
    [
        # it is not on the curve of the first worker, but the iteration waits for it
        (Demand(0.5, (of_others(0.25, 0.5),)), 0.75, []),
        # a blocking one holds the timeline of all
        (
            Demand(1.0, (of_others(0.5, 0.25, blocking=True), seconds(0.25, 0.5))),
            1.5,
            [(1.0, 1.25)],
        ),
        # others' links are not the first worker's
        (Demand(1.0, (of_others(0.5, 0.25), seconds(0.25, 0.5))), 1.0, [(0.5, 0.75)]),
        # to two others goes twice as much
        (
            Demand(1.0, (seconds(0.25, 0.5, pattern=Pattern.PAIRS, pairs=((0, 1), (0, 2))),)),
            1.0,
            [(0.5, 1.0)],
        ),
    ],
)
def test_the_curve_is_that_of_the_first_worker(
    demand: Demand, period_s: float, phases: list[tuple[float, float]]
) -> None:
    curve = demand_curve(demand, LINE_RATE_BPS)
    assert curve.period_s == period_s
    assert [(phase.start_s, phase.end_s) for phase in curve.phases] == phases


def test_a_worker_sends_to_each_of_its_pairs() -> None:
    transfer = Transfer(0, 6, Pattern.PAIRS, pairs=((0, 1), (0, 2), (1, 0)))
    assert [transfer.sent_bytes(rank) for rank in range(3)] == [12, 6, 0]
    assert Transfer(0, 6, Pattern.RING).sent_bytes(2) == 6
    assert Transfer(0, 6, Pattern.ALL_TO_ALL).sent_bytes(2) == 6


def test_a_limited_transfer_takes_longer_at_its_own_rate() -> None:
    limited = seconds(0.25, 0.5, rate_limit_bps=LINE_RATE_BPS / 2)
    (phase,) = demand_curve(Demand(0.5, (limited,)), LINE_RATE_BPS).phases
    assert phase == Phase(0.5, 1.0, LINE_RATE_BPS / 2)


def test_transfers_at_different_rates_are_different_phases() -> None:
    limited = seconds(0.25, 0.5, rate_limit_bps=LINE_RATE_BPS / 2)
    curve = demand_curve(Demand(0.5, (seconds(0.25, 0.25), limited)), LINE_RATE_BPS)
    assert curve.phases == (Phase(0.25, 0.5, 1e9), Phase(0.5, 1.0, 5e8))


@pytest.mark.parametrize("rate", [0.0, -1.0])
def test_a_line_rate_of_nothing_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="more than 0"):
        demand_curve(Demand(1.0, ()), rate)


@given(demands())
def test_a_curve_carries_exactly_the_demands_bytes(demand: Demand) -> None:
    curve = demand_curve(demand, LINE_RATE_BPS)
    bits = sum((phase.end_s - phase.start_s) * phase.rate_bps for phase in curve.phases)
    assert bits == pytest.approx(demand.bytes_per_worker * 8, rel=1e-9, abs=1e-6)


@given(demands())
def test_phases_are_in_order_and_within_the_period(demand: Demand) -> None:
    curve = demand_curve(demand, LINE_RATE_BPS)
    edges = [t for phase in curve.phases for t in (phase.start_s, phase.end_s)]
    assert edges == sorted(edges)
    assert all(0 <= t <= curve.period_s for t in edges)
    assert curve.period_s >= demand.compute_s


@given(demands())
def test_computing_takes_as_long_as_the_demand_says(demand: Demand) -> None:
    iteration = dedicated_iteration(demand, LINE_RATE_BPS)
    lengths_s = [end_s - start_s for start_s, end_s in iteration.computing]
    assert all(length_s > 0 for length_s in lengths_s)
    assert sum(lengths_s) == pytest.approx(demand.compute_s)
    edges_s = [edge_s for span in iteration.computing for edge_s in span]
    assert edges_s == sorted(edges_s)
    assert edges_s[-1] <= iteration.period_s


def test_computing_stands_still_for_blocking_transfers_alone() -> None:
    demand = Demand(
        1.0,
        (seconds(0.25, 0.25), of_others(0.5, 0.5, blocking=True), seconds(0.25, 1.0)),
    )
    iteration = dedicated_iteration(demand, LINE_RATE_BPS)
    assert iteration.computing == ((0.0, 0.5), (1.0, 1.5))
    sent = [(each.ready_s, each.start_s, each.end_s) for each in iteration.transfers]
    assert sent == [(0.25, 0.25, 0.5), (0.5, 0.5, 1.0), (1.5, 1.5, 1.75)]
    assert [each.is_own for each in iteration.transfers] == [True, False, True]
    assert iteration.period_s == 1.75
