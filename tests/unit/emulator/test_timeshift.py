"""The agent that keeps a job's iterations on their grid."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.timeshift import DRIFT_THRESHOLD, TimeShiftAgent, agent_of
from traces.schedule import TimeShift

AGENTS = st.builds(
    TimeShiftAgent,
    anchor_s=st.floats(0, 1e5),
    shift_s=st.floats(0, 1),
    period_s=st.floats(0.01, 10),
)
READY = st.floats(0, 1e5)


def agent(period_s: float = 1.0, shift_s: float = 0.25, anchor_s: float = 10.0) -> TimeShiftAgent:
    return TimeShiftAgent(anchor_s, shift_s, period_s)


def lag_s(an_agent: TimeShiftAgent, moment_s: float) -> float:
    """How far ``moment_s`` is from the nearest grid point; positive after it."""
    turns = (moment_s - an_agent.anchor_s - an_agent.shift_s) / an_agent.period_s
    return (turns - round(turns)) * an_agent.period_s


@given(AGENTS, READY)
def test_a_start_is_never_before_the_job_is_ready(an_agent: TimeShiftAgent, ready: float) -> None:
    assert an_agent.next_start_s(ready) >= ready
    assert an_agent.first_start_s(ready) >= ready - 1e-9 * max(1.0, an_agent.period_s) - 1e-10


@given(AGENTS, READY)
def test_a_start_is_on_the_grid_or_within_the_threshold_after_it(
    an_agent: TimeShiftAgent, ready: float
) -> None:
    start = an_agent.next_start_s(ready)
    assert -1e-9 <= lag_s(an_agent, start) <= DRIFT_THRESHOLD * an_agent.period_s + 1e-9


@given(AGENTS, READY)
def test_the_wait_is_shorter_than_a_period(an_agent: TimeShiftAgent, ready: float) -> None:
    assert an_agent.next_start_s(ready) - ready <= an_agent.period_s + 1e-9
    assert an_agent.first_start_s(ready) - ready < an_agent.period_s + 1e-9


@given(AGENTS, READY)
def test_the_first_start_is_on_the_grid(an_agent: TimeShiftAgent, earliest: float) -> None:
    assert lag_s(an_agent, an_agent.first_start_s(earliest)) == pytest.approx(0, abs=1e-8)
    assert an_agent.adjustments == 0


@pytest.mark.parametrize(
    ("ready", "start", "adjustments"),
    [
        (11.25, 11.25, 0),  # on the grid
        (11.29, 11.29, 0),  # a little late: goes on at once
        (11.31, 12.25, 1),  # too late: waits for the next point, and that is an adjustment
        (11.80, 12.25, 1),
        (12.24, 12.25, 1),
        (12.26, 13.25, 1),  # a whole turn was missed, so it is no longer a little late
        (11.24, 11.25, 0),  # early: held, which is no adjustment
        (10.90, 11.25, 0),  # however early it is
    ],
)
def test_an_adjustment_counts_only_past_the_threshold(
    ready: float, start: float, adjustments: int
) -> None:
    an_agent = agent()
    an_agent.first_start_s(10.25)
    assert an_agent.next_start_s(ready) == pytest.approx(start)
    assert an_agent.adjustments == adjustments


def test_the_first_point_from_a_moment_on_is_taken() -> None:
    assert agent().first_start_s(10.0) == 10.25
    assert agent().first_start_s(10.25) == 10.25
    assert agent().first_start_s(10.26) == 11.25
    assert agent().first_start_s(9.0) == 9.25


def test_drift_adds_up_to_one_alignment() -> None:
    an_agent = agent()
    starts = [an_agent.first_start_s(10.0)]
    for _ in range(4):
        starts.append(an_agent.next_start_s(starts[-1] + 1.02))
    # 2 % late each time: after the third time 6 %, and the job waits for the grid
    assert starts == pytest.approx([10.25, 11.27, 12.29, 14.25, 15.27])
    assert an_agent.adjustments == 1


def test_a_job_faster_than_its_grid_stays_on_it_for_ever() -> None:
    an_agent = agent()
    start = an_agent.first_start_s(10.0)
    for turn in range(1, 200):
        start = an_agent.next_start_s(start + 0.995)
        assert start == pytest.approx(10.25 + turn, abs=1e-9)
    assert an_agent.adjustments == 0


def test_jitter_below_the_slack_never_needs_an_adjustment() -> None:
    noise = random.Random(1)
    an_agent = agent()
    start = an_agent.first_start_s(10.0)
    for _ in range(2000):
        start = an_agent.next_start_s(start + 0.99 + noise.uniform(0.0, 0.01))
        assert abs(lag_s(an_agent, start)) < 1e-6
    assert an_agent.adjustments == 0


def test_rare_stalls_are_each_one_adjustment() -> None:
    noise = random.Random(2)
    an_agent = agent()
    start = an_agent.first_start_s(10.0)
    stalls = 0
    for turn in range(2000):
        stalled = turn % 50 == 49
        stalls += stalled
        length = 0.99 + noise.uniform(0.0, 0.005) + (0.3 if stalled else 0.0)
        start = an_agent.next_start_s(start + length)
    assert an_agent.adjustments == stalls == 40


def test_a_wider_threshold_lets_more_drift_pass() -> None:
    lenient = TimeShiftAgent(10.0, 0.25, 1.0, drift_threshold=0.2)
    lenient.first_start_s(10.25)
    assert lenient.next_start_s(11.40) == 11.40
    assert lenient.adjustments == 0


def test_a_job_that_is_not_held_starts_once_on_its_grid_and_runs_free_then() -> None:
    free = TimeShiftAgent(10.0, 0.25, 1.0, is_held=False)
    assert free.first_start_s(10.0) == 10.25
    assert [free.next_start_s(ready) for ready in (11.30, 12.7, 13.1)] == [11.30, 12.7, 13.1]
    assert free.adjustments == 0


@pytest.mark.parametrize("is_held", [True, False])
def test_coming_to_a_new_grid_is_no_adjustment(is_held: bool) -> None:
    new = TimeShiftAgent(10.0, 0.25, 1.0, is_held=is_held)
    assert new.next_start_s(11.70) == 12.25
    assert new.adjustments == 0
    # from then on it is like any other
    assert new.next_start_s(13.70) == pytest.approx(14.25 if is_held else 13.70)
    assert new.adjustments == is_held


def test_an_agent_is_what_a_shift_says() -> None:
    shift = TimeShift(0.25, 1.0, is_held=False)
    assert agent_of(shift, 10.0) == TimeShiftAgent(10.0, 0.25, 1.0, is_held=False)
    assert agent_of(None, 10.0) is None
