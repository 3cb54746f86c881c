"""The ways of marking."""

from __future__ import annotations

from enum import StrEnum


class Marking(StrEnum):
    """How packets are marked: by the eBPF marker of a port, or by a class's ``red`` queue.

    UNAVAILABLE: they were to be, and nothing here can: how many would have been is not known.
    """

    MARKER = "marker"
    RED = "red"
    UNAVAILABLE = "unavailable"
