"""Steps of the emulated GPU: whole, cut by pauses, short at the end, and late for lack of data."""

from __future__ import annotations

import itertools
import time
from collections import deque

import pytest

from emulator.training.gpu import Gpu

STEP_S = 0.004


class Steps:
    """A feed that hands out steps at once, as many as there are."""

    def __init__(self, ready_s: list[float]) -> None:
        self._ready_s = deque(ready_s)

    def take(self, deadline_s: float) -> float | None:
        if self._ready_s and self._ready_s[0] <= deadline_s:
            return self._ready_s.popleft()
        time.sleep(max(0.0, deadline_s - time.monotonic()))
        return None


def test_steps_follow_each_other_without_a_gap() -> None:
    start_s = time.monotonic()
    gpu = Gpu(STEP_S, steps_left=3, feed=Steps([0.0] * 3))
    assert gpu.run(start_s, start_s + 1)
    assert gpu.finished_s == pytest.approx(start_s + 3 * STEP_S)
    ends_s = [ended_s for _, ended_s, _ in gpu.spans]
    assert ends_s == pytest.approx([start_s + n * STEP_S for n in (1, 2, 3)])
    assert all(stall_s == 0 for _, _, stall_s in gpu.spans)


def test_a_pause_takes_nothing_from_a_step_and_adds_nothing() -> None:
    start_s = time.monotonic()
    gpu = Gpu(STEP_S, steps_left=2, feed=Steps([0.0] * 2))
    assert not gpu.run(start_s, start_s + 1.5 * STEP_S)
    assert gpu.steps == pytest.approx(1.5)
    assert gpu.begun == pytest.approx(0.5)
    resume_s = start_s + 10 * STEP_S
    assert gpu.run(resume_s, resume_s + 1)
    assert gpu.finished_s == pytest.approx(resume_s + 0.5 * STEP_S)
    assert gpu.steps == pytest.approx(2)


def test_another_worker_goes_on_in_the_middle_of_a_step() -> None:
    start_s = time.monotonic()
    gpu = Gpu(STEP_S, steps_left=0.75, feed=Steps([]), begun=0.25)
    assert gpu.run(start_s, start_s + 1)
    assert gpu.finished_s == pytest.approx(start_s + 0.75 * STEP_S)


def test_the_last_step_may_be_a_part_of_one() -> None:
    start_s = time.monotonic()
    gpu = Gpu(STEP_S, steps_left=1.25, feed=Steps([0.0] * 2))
    assert gpu.run(start_s, start_s + 1)
    assert gpu.finished_s == pytest.approx(start_s + 1.25 * STEP_S)
    assert gpu.steps == pytest.approx(1.25)


def test_waiting_for_data_is_a_stall_also_across_a_pause() -> None:
    start_s = time.monotonic()
    feed = Steps([start_s + 20 * STEP_S])
    gpu = Gpu(STEP_S, steps_left=1, feed=feed)
    assert not gpu.run(start_s, start_s + STEP_S)
    assert gpu.steps == 0
    resume_s = start_s + 18 * STEP_S
    assert gpu.run(resume_s, resume_s + 1)
    ((began_s, _, stall_s),) = gpu.spans
    assert began_s == pytest.approx(start_s + 20 * STEP_S)
    assert stall_s == pytest.approx((1 + 2) * STEP_S)


class OthersLate:
    """A meeting at which the others arrive after so many tries."""

    def __init__(self, misses: int) -> None:
        self._misses = misses

    def wait(self, deadline_s: float) -> bool:
        self._misses -= 1
        return self._misses < 0


def test_a_step_that_waits_for_other_workers_is_done_but_not_over() -> None:
    start_s = time.monotonic()
    gpu = Gpu(STEP_S, steps_left=1, feed=Steps([0.0]), meeting=OthersLate(1))
    assert not gpu.run(start_s, start_s + 1)
    assert gpu.begun == pytest.approx(1)
    assert gpu.finished_s is None
    assert gpu.run(start_s + 2 * STEP_S, start_s + 1)
    assert gpu.steps == pytest.approx(1)


def test_a_wall_clock_that_jumps_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    jumps_s = itertools.cycle([0.0, 4e9, -4e9])
    monkeypatch.setattr(time, "time", lambda: next(jumps_s))
    start_s = time.monotonic()
    gpu = Gpu(STEP_S, steps_left=3, feed=Steps([0.0] * 3))
    assert gpu.run(start_s, start_s + 1)
    assert gpu.finished_s == pytest.approx(start_s + 3 * STEP_S)
