"""A class of the kernel against the plan."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netshaper.disciplines import Leaf
from netshaper.netlink import ClassCounters
from netshaper.readback import PSCHED_TICK_S, compare_class
from netshaper.shaping import PortShape, port_shape

SHAPE = port_shape(1e9, 4, segments=8)
LEAF = Leaf(0x10, 1_000_000_000, 3028, 2)


def as_the_kernel_keeps_it(shape: PortShape, leaf: Leaf) -> ClassCounters:
    """A bucket is kept as its time at the class's rate, in whole microseconds, in ticks."""
    rate_bytes_per_s = leaf.rate_bps // 8
    bucket_us = int(shape.burst_bytes / rate_bytes_per_s * 1e6)
    return ClassCounters(
        minor=leaf.minor,
        parent_minor=1,
        rate_bytes_per_s=rate_bytes_per_s,
        ceil_bytes_per_s=shape.rate_bps // 8,
        burst_ticks=int(bucket_us * 1e-6 / PSCHED_TICK_S),
        quantum_bytes=leaf.quantum_bytes,
        turn=leaf.turn,
        sent_bytes=12345,
        sent_packets=10,
        dropped_packets=0,
        backlog_bytes=0,
    )


FOUND = as_the_kernel_keeps_it(SHAPE, LEAF)


@given(st.floats(1e6, 1e11), st.integers(1, 20))
def test_what_was_planned_is_no_difference(rate_bps: float, classes: int) -> None:
    shape = port_shape(rate_bps, 4, segments=1)
    leaf = Leaf(0x10, shape.rate_bps // classes, shape.quantum_bytes, 0)
    assert compare_class(as_the_kernel_keeps_it(shape, leaf), shape, leaf) == []


@pytest.mark.parametrize(
    ("change", "setting", "planned", "found"),
    [
        ({"rate_bytes_per_s": 124_999_999}, "rate", 125_000_000, 124_999_999),
        ({"ceil_bytes_per_s": 5}, "ceil", 125_000_000, 5),
        ({"quantum_bytes": 200_000}, "quantum", 3028, 200_000),
        ({"turn": 7}, "prio", 2, 7),
    ],
)
def test_a_changed_setting_is_reported_with_both_values(
    change: dict[str, Any], setting: str, planned: int, found: int
) -> None:
    ((name, *values),) = compare_class(dataclasses.replace(FOUND, **change), SHAPE, LEAF)
    assert name.startswith(setting)
    assert values == [planned, found]


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_changed_bucket_is_reported_in_bytes(factor: float) -> None:
    changed = dataclasses.replace(FOUND, burst_ticks=round(FOUND.burst_ticks * factor))
    ((name, planned, found),) = compare_class(changed, SHAPE, LEAF)
    assert name.startswith("burst")
    assert planned == SHAPE.burst_bytes
    assert found == pytest.approx(SHAPE.burst_bytes * factor, rel=0.01)


def test_all_differences_are_reported_together() -> None:
    changed = dataclasses.replace(
        FOUND, rate_bytes_per_s=1, ceil_bytes_per_s=2, quantum_bytes=3, turn=4, burst_ticks=10**6
    )
    found = compare_class(changed, SHAPE, LEAF)
    assert [name.split()[0] for name, _, _ in found] == ["rate", "ceil", "quantum", "prio", "burst"]


def test_counters_are_no_settings() -> None:
    busy = dataclasses.replace(FOUND, sent_bytes=9, backlog_bytes=7, dropped_packets=3)
    assert compare_class(busy, SHAPE, LEAF) == []
