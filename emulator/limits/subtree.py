"""Controllers that a v2 group hands to the groups below it, and their withdrawal afterwards.

What a run enabled in a group that is not its own is noted on the run's group as an extended
attribute, before it is enabled: so whoever removes the group can undo it, also after a kill -9.
(Kernel documentation: admin-guide/cgroup-v2.rst, "Controlling Controllers".)
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from traces.errors import EmulationError

_ENABLED_FOR = "trusted.roundelay.controllers"


def offered_controllers(group: Path) -> frozenset[str]:
    """What the v2 ``group`` could hand on; nothing where it cannot be read."""
    return _words(group / "cgroup.controllers")


def enable_below(group: Path, controllers: Iterable[str]) -> None:
    """Hand ``controllers`` to the groups below ``group``. EmulationError where it refuses."""
    wanted = sorted(set(controllers) - _handed_on(group))
    if not wanted:
        return
    try:
        (group / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in wanted))
    except OSError as error:
        raise EmulationError(
            f"{group} does not hand on {' '.join(wanted)}: {error.strerror}"
        ) from None


def enable_for(group: Path, controllers: Iterable[str]) -> None:
    """Have the parent of ``group`` hand ``controllers`` on, and note what was not handed on before.

    What another run enabled is noted too: the last of them to go withdraws it.
    """
    noted_by_others = {
        name
        for sibling in group.parent.iterdir()
        if sibling.is_dir() and sibling != group
        for name in noted_controllers(sibling)
    }
    note = sorted(set(controllers) - (_handed_on(group.parent) - noted_by_others))
    if note:
        os.setxattr(group, _ENABLED_FOR, " ".join(note).encode())
    enable_below(group.parent, controllers)


def noted_controllers(group: Path) -> list[str]:
    """What was enabled in the parent of ``group`` for its sake."""
    try:
        return os.getxattr(group, _ENABLED_FOR).decode().split()
    except OSError:  # nothing was noted, or this hierarchy has no notes
        return []


def withdraw_below(group: Path, controllers: Iterable[str]) -> None:
    """No longer hand ``controllers`` on, except those that a group below hands on in turn."""
    for name in controllers:
        with contextlib.suppress(OSError):  # EBUSY: somebody else's by now
            (group / "cgroup.subtree_control").write_text(f"-{name}")


def _handed_on(group: Path) -> frozenset[str]:
    return _words(group / "cgroup.subtree_control")


def _words(file: Path) -> frozenset[str]:
    try:
        return frozenset(file.read_text().split())
    except OSError:
        return frozenset()
