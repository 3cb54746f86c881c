"""Shares of the box's CPU time."""

from __future__ import annotations

from emulator.cpu_time import CpuTime, read_cpu_time, shares

STAT = "cpu  100 20 30 400 50 6 7 8 9 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n"


def test_waiting_for_io_is_idle_and_guests_are_not_counted_twice() -> None:
    assert read_cpu_time(STAT) == CpuTime(total=621, idle=450, steal=8)


def test_shares_are_those_of_the_time_between() -> None:
    before, after = CpuTime(1000, 500, 10), CpuTime(1200, 650, 30)
    assert shares(before, after) == (0.75, 0.1)


def test_no_time_between_is_no_share() -> None:
    assert shares(CpuTime(5, 5, 5), CpuTime(5, 5, 5)) == (0.0, 0.0)


def test_this_box_has_its_own_time() -> None:
    now = read_cpu_time()
    assert now.total >= now.idle > 0
