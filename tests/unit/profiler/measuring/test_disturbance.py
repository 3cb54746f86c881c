"""CPU time that a training did not get."""

from __future__ import annotations

import pytest

from profiler.measuring.disturbance import cpu_time_of, others_cpus

BEFORE = """\
cpu  100 0 100 800 0 0 0 0 0 0
cpu0 50 0 50 300 100 0 0 0 0 0
cpu1 50 0 50 400 0 0 0 0 0 0
cpu10 9 9 9 9 9 9 9 9 0 0
"""
AFTER = """\
cpu  300 0 100 900 0 0 0 100 0 0
cpu0 150 0 50 300 100 0 0 0 0 0
cpu1 60 0 50 480 0 0 0 10 0 0
cpu10 99 99 99 99 99 99 99 99 0 0
"""


def test_what_was_busy_and_not_the_trainings_was_of_others() -> None:
    before, after = (cpu_time_of({0, 1}, stat) for stat in (BEFORE, AFTER))
    # Of two CPUs one was busy all the time, the other one a fifth of it.
    assert others_cpus(before, after, 2, used_cpus=1.0) == pytest.approx(0.2)
    assert others_cpus(before, after, 2, used_cpus=1.3) == 0
    before, after = (cpu_time_of({0}, stat) for stat in (BEFORE, AFTER))
    assert others_cpus(before, after, 1, used_cpus=0.75) == pytest.approx(0.25)


def test_this_machine_tells_it() -> None:
    assert cpu_time_of({0}).total > 0
