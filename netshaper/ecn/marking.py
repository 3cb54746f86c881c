"""The two ways of marking."""

from __future__ import annotations

from enum import StrEnum


class Marking(StrEnum):
    """How packets are marked: by the eBPF marker of a port, or by a class's ``red`` queue."""

    MARKER = "marker"
    RED = "red"
