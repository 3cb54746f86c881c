"""Max-min fair rates: by hand for small cases, by their properties for random ones."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.simulation.rates import SHARINGS, Flow, allocate
from traces.cluster import Cluster, Port, Sharing, dumbbell

A, B = Port("a", "x"), Port("b", "x")


def rates(
    *flows: tuple[str, tuple[Port, ...]], sharing: Sharing = Sharing.FAIR, a_bps: float = 12.0
) -> list[float]:
    return allocate([Flow(job, path) for job, path in flows], {A: a_bps, B: 6.0}, sharing)


def test_one_flow_has_the_link() -> None:
    assert rates(("one", (A,))) == [12.0]


def test_without_links_a_flow_has_no_limit_but_its_own() -> None:
    assert rates(("one", ())) == [math.inf]
    assert allocate([Flow("one", (), 5.0)], {}, Sharing.FAIR) == [5.0]
    assert allocate([], {}, Sharing.FAIR) == []


def test_jobs_divide_a_port_evenly_and_a_jobs_flows_its_share() -> None:
    flows = [("one", (A,)), ("two", (A,)), ("two", (A,)), ("two", (A,))]
    assert rates(*flows) == pytest.approx([6.0, 2.0, 2.0, 2.0])


def test_in_one_queue_every_flow_counts() -> None:
    flows = [("one", (A,)), ("two", (A,)), ("two", (A,)), ("two", (A,))]
    assert rates(*flows, sharing=Sharing.FIFO) == pytest.approx([3.0] * 4)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_more_flows_do_not_give_a_job_more(count: int) -> None:
    found = rates(("single", (A,)), *[("many", (A,))] * count)
    assert sum(found[1:]) == pytest.approx(found[0])


def test_what_a_flow_cannot_use_elsewhere_others_take() -> None:
    # one is held to 6 by B, and two takes the rest of A
    assert rates(("one", (A, B)), ("two", (A,)), a_bps=20.0) == pytest.approx([6.0, 14.0])


def test_the_tightest_port_of_a_path_decides() -> None:
    found = rates(("one", (A, B)), ("two", (B,)), ("three", (A,)))
    assert found == pytest.approx([3.0, 3.0, 9.0])


@pytest.mark.parametrize("sharing", SHARINGS)
def test_what_a_limited_flow_leaves_others_take(sharing: Sharing) -> None:
    flows = [Flow("one", (A,), 2.0), Flow("two", (A,)), Flow("three", (A,))]
    assert allocate(flows, {A: 12.0}, sharing) == pytest.approx([2.0, 5.0, 5.0])


def test_a_jobs_limited_flow_leaves_its_share_to_the_jobs_others() -> None:
    flows = [Flow("one", (A,), 1.0), Flow("one", (A,)), Flow("two", (A,))]
    assert allocate(flows, {A: 12.0}, Sharing.FAIR) == pytest.approx([1.0, 5.0, 6.0])


def test_a_job_held_elsewhere_leaves_its_share_to_other_jobs() -> None:
    flows = [Flow("one", (A, B)), Flow("one", (A, B)), Flow("two", (A,))]
    assert allocate(flows, {A: 12.0, B: 4.0}, Sharing.FAIR) == pytest.approx([2.0, 2.0, 8.0])


@pytest.mark.parametrize("sharing", [Sharing.FAIR, Sharing.WEIGHTED])
def test_a_job_with_many_flows_takes_what_a_limited_one_leaves(sharing: Sharing) -> None:
    many = [Flow("many", (A,))] * 4
    limited = [Flow("one", (A,), 2.0), *many]
    assert allocate(limited, {A: 10.0}, sharing) == pytest.approx([2.0] * 5)
    held_elsewhere = [Flow("one", (A, B)), *many]
    assert allocate(held_elsewhere, {A: 10.0, B: 1.0}, sharing) == pytest.approx([1, *[2.25] * 4])


@pytest.mark.parametrize("capacity_bps", [4.0, 1e9])
def test_jobs_that_wait_for_each_other_at_two_ports_both_get_all_that_is_there(
    capacity_bps: float,
) -> None:
    """x + 2 y = C at A and 2 x + y = C at B, with x = y: nobody can know the own rate first."""
    flows = [Flow("one", (A, B)), Flow("one", (A,)), Flow("two", (A, B)), Flow("two", (B,))]
    found = allocate(flows, {A: capacity_bps, B: capacity_bps}, Sharing.FAIR)
    assert found == pytest.approx([capacity_bps / 3] * 4)


def test_weights_divide_a_port_among_jobs_and_not_among_flows() -> None:
    flows = [Flow("one", (A,)), Flow("two", (A,), weight=3.0), Flow("two", (A,), weight=3.0)]
    assert allocate(flows, {A: 12.0}, Sharing.WEIGHTED) == pytest.approx([3.0, 4.5, 4.5])
    assert allocate(flows, {A: 12.0}, Sharing.FAIR) == pytest.approx([6.0, 3.0, 3.0])


def test_what_a_heavy_job_cannot_use_others_take_by_weight() -> None:
    heavy = Flow("heavy", (A, B), weight=6.0)
    flows = [heavy, Flow("one", (A,), weight=1.0), Flow("two", (A,), weight=2.0)]
    assert allocate(flows, {A: 12.0, B: 3.0}, Sharing.WEIGHTED) == pytest.approx([3.0, 3.0, 6.0])


def test_a_greater_priority_has_the_port_and_the_next_what_it_leaves() -> None:
    high, low = Flow("high", (A,), priority=5), Flow("low", (A,), priority=1)
    assert allocate([low, high], {A: 12.0}, Sharing.PRIORITY) == [0.0, 12.0]
    limited = Flow("high", (A,), 8.0, priority=5)
    lows = [low, Flow("other", (A,), priority=1)]
    assert allocate([*lows, limited], {A: 12.0}, Sharing.PRIORITY) == pytest.approx([2, 2, 8])


def test_priorities_count_at_every_port_of_a_path() -> None:
    flows = [Flow("high", (B,), priority=7), Flow("low", (A, B)), Flow("also low", (A,))]
    assert allocate(flows, {A: 12.0, B: 6.0}, Sharing.PRIORITY) == pytest.approx([6.0, 0.0, 12.0])


def test_weights_count_under_no_other_discipline() -> None:
    flows = [Flow("one", (A,), weight=5.0), Flow("two", (A,))]
    for sharing in (Sharing.FAIR, Sharing.FIFO, Sharing.PRIORITY):
        assert allocate(flows, {A: 12.0}, sharing) == pytest.approx([6.0, 6.0])


@st.composite
def situations(draw: st.DrawFn) -> tuple[list[Flow], dict[Port, float], Sharing]:
    cluster: Cluster = dumbbell(
        draw(st.integers(1, 3)),
        draw(st.integers(1, 3)),
        draw(st.floats(1.0, 100.0)),
        draw(st.none() | st.floats(1.0, 100.0)),
    )
    pairs = list(itertools.permutations(cluster.servers, 2))
    weights = draw(st.lists(st.floats(0.1, 10.0), min_size=4, max_size=4))
    priorities = draw(st.lists(st.integers(0, 7), min_size=4, max_size=4))
    flows = [
        Flow(f"job{job}", cluster.path(*pair), limit, weights[job], priorities[job])
        for job, pair, limit in draw(
            st.lists(
                st.tuples(
                    st.integers(0, 3),
                    st.sampled_from(pairs),
                    st.just(math.inf) | st.floats(0.1, 100.0),
                ),
                min_size=1,
                max_size=12,
            )
        )
    ]
    capacity = {port: cluster.rate_bps(port) for port in cluster.ports}
    return flows, capacity, draw(st.sampled_from(SHARINGS))


def load_by_sharer(
    flows: list[Flow], found: list[float], sharing: Sharing
) -> dict[Port, dict[object, float]]:
    """Rate for its weight."""
    load: dict[Port, dict[object, float]] = defaultdict(lambda: defaultdict(float))
    for index, (flow, rate) in enumerate(zip(flows, found, strict=True)):
        for port in flow.path:
            load[port][sharer_of(flow, index, sharing)] += rate / weight_of(flow, sharing)
    return load


def sharer_of(flow: Flow, index: int, sharing: Sharing) -> object:
    return index if sharing is Sharing.FIFO else flow.job


def weight_of(flow: Flow, sharing: Sharing) -> float:
    return flow.weight if sharing is Sharing.WEIGHTED else 1.0


def load_by_port(flows: list[Flow], found: list[float]) -> dict[Port, float]:
    load: dict[Port, float] = defaultdict(float)
    for flow, rate in zip(flows, found, strict=True):
        for port in flow.path:
            load[port] += rate
    return load


@given(situations())
def test_no_port_is_overloaded_and_no_limit_exceeded(
    situation: tuple[list[Flow], dict[Port, float], Sharing],
) -> None:
    flows, capacity, sharing = situation
    found = allocate(flows, capacity, sharing)
    for port, load in load_by_port(flows, found).items():
        assert load <= capacity[port] * (1 + 1e-9)
    for flow, rate in zip(flows, found, strict=True):
        assert 0 <= rate <= flow.limit_bps * (1 + 1e-9)


@given(situations())
def test_every_flow_has_a_reason_for_not_being_faster(
    situation: tuple[list[Flow], dict[Port, float], Sharing],
) -> None:
    """Its own limit, or a full port at which nobody else has more than its job (or it) has.

    For their weights; and under ``priority`` among those of a priority that is not smaller.
    """
    flows, capacity, sharing = situation
    found = allocate(flows, capacity, sharing)
    for index, (flow, rate) in enumerate(zip(flows, found, strict=True)):
        rivals = [
            not (sharing is Sharing.PRIORITY and other.priority < flow.priority) for other in flows
        ]
        total = load_by_port(flows, [r * rival for r, rival in zip(found, rivals, strict=True)])
        equals = [
            not (sharing is Sharing.PRIORITY and other.priority != flow.priority) for other in flows
        ]
        load = load_by_sharer(
            flows, [r * equal for r, equal in zip(found, equals, strict=True)], sharing
        )
        limited = rate >= flow.limit_bps * (1 - 1e-9)
        bottleneck = any(
            total[port] >= capacity[port] * (1 - 1e-9)
            and load[port][sharer_of(flow, index, sharing)] >= max(load[port].values()) * (1 - 1e-9)
            for port in flow.path
        )
        assert limited or bottleneck, (flow, rate)


@given(situations())
def test_a_lower_priority_never_takes_from_a_higher_one(
    situation: tuple[list[Flow], dict[Port, float], Sharing],
) -> None:
    flows, capacity, _ = situation
    found = allocate(flows, capacity, Sharing.PRIORITY)
    for priority in {flow.priority for flow in flows}:
        served = [index for index, flow in enumerate(flows) if flow.priority >= priority]
        without = allocate([flows[index] for index in served], capacity, Sharing.PRIORITY)
        assert without == [found[index] for index in served]


@given(situations(), st.floats(0.1, 10.0))
def test_rates_scale_with_the_links(
    situation: tuple[list[Flow], dict[Port, float], Sharing], factor: float
) -> None:
    flows, capacity, sharing = situation
    scaled_flows = [replace(flow, limit_bps=flow.limit_bps * factor) for flow in flows]
    scaled = {port: rate * factor for port, rate in capacity.items()}
    expected = [rate * factor for rate in allocate(flows, capacity, sharing)]
    assert allocate(scaled_flows, scaled, sharing) == pytest.approx(expected, rel=1e-6)


@given(situations(), st.randoms(use_true_random=False))
def test_the_order_of_the_flows_does_not_matter(
    situation: tuple[list[Flow], dict[Port, float], Sharing], random: object
) -> None:
    flows, capacity, sharing = situation
    order = list(range(len(flows)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = allocate([flows[index] for index in order], capacity, sharing)
    found = allocate(flows, capacity, sharing)
    assert shuffled == pytest.approx([found[index] for index in order], rel=1e-6)
