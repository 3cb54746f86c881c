"""The search for the most that a box carries, on boxes whose limit is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.budget_search import (
    LEAST_GROWTH,
    MOST_GROWTH,
    MOST_HALVINGS,
    Probe,
    Trial,
    most_carried,
    next_load_hop_bps,
)
from emulator.verdict import CALIBRATION_LIMIT, IDLE_LIMIT

MOST_BUSY = 1 - IDLE_LIMIT


def held(load: float, busy: float = 0.5) -> Trial:
    return Trial(load, busy, rate_error=0.001)


def failed(load: float) -> Trial:
    return Trial(load, busy_share=0.97, rate_error=0.001)


def test_one_disturbed_probe_does_not_count() -> None:
    probes = [Probe(0.5, 0.001), Probe(1.0, 0.3), Probe(0.52, 0.002)]
    assert Trial.of(1e9, probes) == Trial(1e9, 0.52, 0.002)


@pytest.mark.parametrize(
    ("busy", "error", "holds"),
    [
        (MOST_BUSY, CALIBRATION_LIMIT, True),
        (MOST_BUSY + 0.01, 0.0, False),
        (0.5, CALIBRATION_LIMIT + 0.001, False),
        (0.5, -0.01, True),  # a transfer that a full bucket has made shorter
    ],
)
def test_a_load_holds_where_a_verdict_would_allow_it(
    busy: float, error: float, holds: bool
) -> None:
    assert Trial(1e9, busy, error).holds is holds


def test_the_most_that_held_is_the_result() -> None:
    assert most_carried([held(1e9), held(2e9), failed(3e9)]) == held(2e9)
    assert most_carried([failed(1e9)]) is None


def test_the_next_load_is_as_large_as_the_cpu_use_has_room_for() -> None:
    assert next_load_hop_bps([held(1e9, busy=0.6)]) == pytest.approx(1.5e9)
    assert next_load_hop_bps([held(1e9, busy=0.1)]) == MOST_GROWTH * 1e9
    assert next_load_hop_bps([held(1e9, busy=0.0)]) == MOST_GROWTH * 1e9
    assert next_load_hop_bps([held(1e9, busy=MOST_BUSY)]) == pytest.approx(LEAST_GROWTH * 1e9)


def test_between_two_sides_the_next_load_lies_in_the_middle() -> None:
    assert next_load_hop_bps([held(1e9), failed(4e9)]) == pytest.approx(2e9)
    assert next_load_hop_bps([held(1e9), failed(1.1e9)]) is None


def test_a_box_that_carries_nothing_is_soon_given_up() -> None:
    loads = [8e9]
    trials = [failed(8e9)]
    while (load := next_load_hop_bps(trials)) is not None:
        loads.append(load)
        trials.append(failed(load))
    assert loads == [8e9, 4e9, 2e9, 1e9]
    assert len(loads) == MOST_HALVINGS + 1


@given(st.floats(0.3, 100.0), st.floats(0.0, 0.2))
def test_the_limit_is_found_from_below_in_a_few_trials(capacity: float, others: float) -> None:
    # CPU use grows with the load, from what the controller and others take
    limit = (MOST_BUSY - others) * capacity
    trials: list[Trial] = []
    load: float | None = 1.0
    while load is not None:
        busy = min(others + load / capacity, 1.0)
        trials.append(Trial(load, busy, 0.0 if busy < 0.95 else 0.1))
        load = next_load_hop_bps(trials)
    best = most_carried(trials)
    assert best is not None
    assert limit / LEAST_GROWTH**1.01 <= best.load_hop_bps <= limit
    assert len(trials) <= 14
