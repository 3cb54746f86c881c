"""Interleavers by name: from an arm, and what CASSINI makes of its links, to time-shifts."""

from __future__ import annotations

from collections.abc import Callable

from harness.scheduling.cassini.interleaving import Interleaving
from harness.scheduling.cassini.time_shifts import time_shifts
from traces.arm import Arm
from traces.schedule import TimeShift


def no_shifts(arm: Arm, interleaving: Interleaving) -> dict[str, TimeShift]:
    """Every job starts its iterations as soon as it can."""
    del arm, interleaving
    return {}


INTERLEAVERS: dict[str, Callable[[Arm, Interleaving], dict[str, TimeShift]]] = {
    "none": no_shifts,
    "cassini": time_shifts,
}
