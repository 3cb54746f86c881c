"""The leaves of a port: rates, quanta and turns by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netshaper.disciplines import (
    FIRST_JOB_CLASS,
    HIGHEST_PRIORITY,
    MOST_WEIGHT_RATIO,
    SHARED_CLASS,
    JobTraffic,
    Leaf,
    port_classes,
)
from netshaper.plan import plan_network
from netshaper.shaping import FRAME_BYTES, MOST_SEGMENTS, port_shape
from traces.cluster import Cluster, Port, Sharing, dumbbell
from traces.errors import BadInputError

SHAPE = port_shape(100e6, 4, segments=1)


def leaves(sharing: Sharing, *jobs: JobTraffic) -> list[tuple[int, int, int]]:
    """Rate, quantum and turn of each leaf."""
    found = port_classes(sharing, SHAPE, jobs)
    return [(leaf.rate_bps, leaf.quantum_bytes, leaf.turn) for leaf in found.leaves]


ONE = JobTraffic("one", weight=1.0, priority=0)
TWO = JobTraffic("two", weight=2.5, priority=3)
THREE = JobTraffic("three", weight=0.5, priority=7)


def test_fair_leaves_are_alike() -> None:
    assert leaves(Sharing.FAIR, ONE, TWO, THREE) == [(33_333_333, FRAME_BYTES, 0)] * 3


def test_weighted_leaves_have_rates_and_turns_by_weight() -> None:
    assert leaves(Sharing.WEIGHTED, ONE, TWO, THREE) == [
        (25_000_000, 2 * FRAME_BYTES, 0),
        (62_500_000, 5 * FRAME_BYTES, 0),
        (12_500_000, FRAME_BYTES, 0),
    ]


def test_the_greatest_priority_is_served_first_and_nobody_is_promised_much() -> None:
    assert leaves(Sharing.PRIORITY, ONE, TWO, THREE) == [
        (10_000, FRAME_BYTES, 7),
        (10_000, FRAME_BYTES, 4),
        (10_000, FRAME_BYTES, 0),
    ]


@pytest.mark.parametrize("sharing", Sharing)
def test_without_jobs_there_is_one_queue(sharing: Sharing) -> None:
    found = port_classes(sharing, SHAPE, [])
    assert found.leaves == (Leaf(SHARED_CLASS, SHAPE.rate_bps, FRAME_BYTES, 0),)
    assert found.are_shared


def test_under_fifo_all_jobs_stand_in_one_queue() -> None:
    found = port_classes(Sharing.FIFO, SHAPE, [ONE, TWO])
    assert found.of_job == {"one": SHARED_CLASS, "two": SHARED_CLASS}
    assert found.are_shared


@pytest.mark.parametrize("sharing", sorted(set(Sharing) - {Sharing.FIFO}))
def test_every_job_has_a_leaf_of_its_own(sharing: Sharing) -> None:
    found = port_classes(sharing, SHAPE, [ONE, TWO, THREE])
    assert list(found.of_job.values()) == [FIRST_JOB_CLASS + place for place in range(3)]
    assert [leaf.minor for leaf in found.leaves] == list(found.of_job.values())
    assert not found.are_shared


def test_weights_too_far_apart_are_refused_where_they_count() -> None:
    light, heavy = JobTraffic("light", weight=0.1), JobTraffic("heavy", weight=10.5)
    with pytest.raises(BadInputError, match=r"weights from 0\.1 to 10\.5 are too far") as caught:
        port_classes(Sharing.WEIGHTED, SHAPE, [light, heavy])
    assert caught.value.key == "workload.jobs"
    for sharing in (Sharing.FAIR, Sharing.PRIORITY, Sharing.FIFO):
        port_classes(sharing, SHAPE, [light, heavy])
    port_classes(Sharing.WEIGHTED, SHAPE, [light, JobTraffic("heavy", weight=10.0)])


@given(
    st.sampled_from(Sharing),
    st.floats(1e6, 1e11),
    st.integers(1, MOST_SEGMENTS),
    st.lists(st.tuples(st.floats(1.0, MOST_WEIGHT_RATIO), st.integers(0, 7)), max_size=63),
)
def test_leaves_are_what_htb_can_hold_and_never_promise_more_than_the_port(
    sharing: Sharing, rate_bps: float, segments: int, jobs: list[tuple[float, int]]
) -> None:
    shape = port_shape(rate_bps, 4, segments)
    traffic = [JobTraffic(f"job{n}", *each) for n, each in enumerate(jobs)]
    found = port_classes(sharing, shape, traffic)
    assert sum(leaf.rate_bps for leaf in found.leaves) <= shape.rate_bps
    for leaf in found.leaves:
        assert leaf.rate_bps >= 8
        assert shape.quantum_bytes <= leaf.quantum_bytes <= MOST_WEIGHT_RATIO * shape.quantum_bytes
        assert 0 <= leaf.turn <= HIGHEST_PRIORITY
        assert shape.burst_bytes / (leaf.rate_bps / 8) / 64e-9 < 2**32


def with_buffers(buffer_bytes: int | None) -> Cluster:
    cluster = dumbbell(1, 1, 1e9)
    middle = [replace(link, buffer_bytes=buffer_bytes) for link in cluster.links[1:2]]
    return replace(cluster, links=(cluster.links[0], *middle, *cluster.links[2:]))


def test_a_links_own_buffer_is_scaled_as_its_rate() -> None:
    plan = plan_network("run1", "n0", with_buffers(5_000_000), [ONE], 10.0, 4)
    middle = plan.ports[Port("switch-left", "switch-right")]
    assert middle.shape.buffer_bytes == 500_000
    limits = {
        command.words[-1]
        for command in plan.commands
        if (command.namespace, command.words[3:4]) == (middle.namespace, (middle.device,))
        and "bfifo" in command.words
    }
    assert limits == {"500000"}
    others = plan_network("run1", "n0", with_buffers(None), [ONE], 10.0, 4).ports
    edge = Port("left0", "switch-left")
    assert plan.ports[edge].shape == others[edge].shape


def test_a_buffer_that_the_windows_overflow_is_refused_with_the_least_that_will_do() -> None:
    with pytest.raises(BadInputError, match="a lossless port would drop") as caught:
        plan_network("run1", "n0", with_buffers(100_000), [ONE], 10.0, 4)
    assert caught.value.key == "cluster.topology"
    least = int(next(word for word in caught.value.allowed.split() if word.isdigit()))
    plan_network("run1", "n0", with_buffers(least), [ONE], 10.0, 4)
    with pytest.raises(BadInputError):
        plan_network("run1", "n0", with_buffers(least - 10), [ONE], 10.0, 4)
