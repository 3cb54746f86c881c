"""Interleavers by name: from an arm and its contended links to time-shifts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.scheduling.cassini import SharedLinks, time_shifts
from traces.scenario import Arm
from traces.schedule import TimeShift


def no_shifts(arm: Arm, links: Sequence[SharedLinks]) -> dict[str, TimeShift]:
    """Every job starts its iterations as soon as it can."""
    del arm, links
    return {}


INTERLEAVERS: dict[str, Callable[[Arm, Sequence[SharedLinks]], dict[str, TimeShift]]] = {
    "none": no_shifts,
    "cassini": time_shifts,
}
