"""From counters and the job's own marks to what an iteration sends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from profiler.network.command_here import CountedRun, JobHere
from profiler.network.counter_readings import Readings
from profiler.network.device_counters import CountedDevice
from profiler.network.fitted_run import FittedRun, fit_run
from profiler.network.iteration_marks import Mark

PERIOD_S, UP_S, RATE = 0.1, 0.03, 1_000_000.0  # bytes/s
SENT_BYTES = UP_S * RATE
START_S = 0.5
ETH0 = CountedDevice("eth0", Path(), Path())


def sent_until(times_s: np.ndarray) -> np.ndarray:
    turns, phase_s = np.divmod(np.maximum(times_s - START_S, 0.0), PERIOD_S)
    return turns * SENT_BYTES + np.minimum(phase_s, UP_S) * RATE


def counted(
    iterations: int, *, marked: bool = True, missed: tuple[float, float] = (0, 0)
) -> CountedRun:
    """An iteration begins with its Up phase, and its mark comes at its end."""
    times_s = np.arange(0, START_S + iterations * PERIOD_S + 0.3, 1e-3)
    times_s = times_s[(times_s <= missed[0]) | (times_s >= missed[1])]
    times_s[-1] = max(times_s[-1], times_s[-2] + 1e-6)
    until = sent_until(np.minimum(times_s, START_S + iterations * PERIOD_S))
    counts = np.repeat(until.round().astype(np.uint64)[:, np.newaxis, np.newaxis], 2, axis=2)
    marks = [Mark(START_S + done * PERIOD_S, done) for done in range(1, iterations + 1)]
    return CountedRun(
        job=JobHere(("train",), iterations, 0, 1e-3, (ETH0,)),
        readings=Readings(times_s, counts, 1e-3),
        marks=tuple(marks) if marked else (),
        iterations_done=iterations if marked else 0,
        refused_reports=0,
        began_unix_s=0.0,
        length_s=float(times_s[-1]),
        status=0,
        interrupted=False,
    )


def check(fitted: FittedRun) -> None:
    assert fitted.pattern is not None
    assert fitted.pattern.period_s.value == pytest.approx(PERIOD_S, rel=0.002)
    (phase,) = fitted.pattern.phases
    assert phase.bytes.value == pytest.approx(SENT_BYTES, rel=0.01)
    assert phase.end_s.value - phase.start_s.value == pytest.approx(UP_S, rel=0.03)


def test_the_fit_and_the_marks_say_the_same() -> None:
    fitted = fit_run(counted(20), are_chosen=False)
    check(fitted)
    assert fitted.timer is not None
    assert fitted.timer.value == pytest.approx(PERIOD_S)
    assert fitted.period_error == pytest.approx(0, abs=0.002)
    assert fitted.marked_bytes is not None
    assert fitted.marked_bytes.value == pytest.approx(SENT_BYTES, rel=0.001)
    assert fitted.begins_after_mark_s == pytest.approx(UP_S, abs=0.001)
    assert fitted.gap_share == 0


def test_without_marks_silence_around_the_job_is_left_out() -> None:
    fitted = fit_run(counted(20, marked=False), are_chosen=False)
    check(fitted)
    assert fitted.sent is not None
    assert fitted.sent.edges_s[0] == pytest.approx(START_S, abs=0.002)
    assert fitted.sent.edges_s[-1] == pytest.approx(START_S + 19 * PERIOD_S + UP_S, abs=0.002)
    assert (fitted.timer, fitted.period_error, fitted.begins_after_mark_s) == (None, None, None)


def test_iterations_with_a_gap_do_not_count_for_their_bytes() -> None:
    fitted = fit_run(counted(20, missed=(1.005, 1.025)), are_chosen=False)
    check(fitted)
    assert fitted.marked_bytes is not None
    assert fitted.marked_bytes.value == pytest.approx(SENT_BYTES, rel=0.001)
    assert fitted.gap_share > 0


@pytest.mark.parametrize("marked", [True, False])
def test_too_few_iterations_are_no_fit_and_a_reason(marked: bool) -> None:
    fitted = fit_run(counted(2, marked=marked), are_chosen=False)
    assert (fitted.fit, fitted.pattern) == (None, None)
    assert fitted.problem is not None
    assert [count.device.name for count in fitted.devices] == ["eth0"]


def test_a_machine_that_sends_nothing() -> None:
    fitted = fit_run(counted(0, marked=False), are_chosen=False)
    assert (fitted.devices, fitted.sent, fitted.fit) == ((), None, None)
    assert fitted.problem is not None
    assert fitted.problem.problem == "no network device sent anything"
