"""A busy box is not measured."""

from __future__ import annotations

import itertools

import pytest

from emulator import budget
from emulator.budget import BUSY_LIMIT, BusyBoxError, require_quiet_box
from emulator.cpu_time import CpuTime


@pytest.fixture(autouse=True)
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "QUIET_S", 0.0)


def watched(monkeypatch: pytest.MonkeyPatch, *, idle: int, steal: int = 0) -> None:
    """The next hundred ticks of the box."""
    readings = itertools.chain([CpuTime(1000, 500, 10), CpuTime(1100, 500 + idle, 10 + steal)])
    monkeypatch.setattr(budget, "read_cpu_time", lambda: next(readings))


def test_a_quiet_box_may_be_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    watched(monkeypatch, idle=100 - round(BUSY_LIMIT * 100))
    require_quiet_box()


def test_a_busy_box_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    watched(monkeypatch, idle=40)
    with pytest.raises(BusyBoxError) as caught:
        require_quiet_box()
    assert str(caught.value).startswith("60% of the CPU is in use by other programs")
    assert "nothing is stored; try again" in str(caught.value)


def test_time_that_the_hypervisor_takes_counts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    watched(monkeypatch, idle=95, steal=5)
    with pytest.raises(BusyBoxError, match="5% of the CPU is in use by the hypervisor's others"):
        require_quiet_box()
