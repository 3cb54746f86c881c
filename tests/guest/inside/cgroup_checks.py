"""The cgroup code on whatever hierarchies are mounted."""

from __future__ import annotations

import errno
import os
import signal
import time
from pathlib import Path

from emulator.cgroups import (
    Hierarchy,
    create_group,
    holding_hierarchy,
    join_group,
    own_hierarchies,
    processes_in,
    remove_group,
)


def groups() -> dict[str, object]:
    """Make nested groups in the hierarchy of choice, fill them, and remove all at once."""
    hierarchies = own_hierarchies()
    holding = holding_hierarchy(hierarchies)
    assert holding is not None
    return {
        "versions": sorted({hierarchy.version for hierarchy in hierarchies}),
        "holding": _described(holding),
        **_fill_and_remove(holding.own_group / "roundelay-check"),
    }


def nested_caller() -> dict[str, object]:
    """The same for a process that is in a group of its own, as a login shell is."""
    root = _named(own_hierarchies(), "", 2).own_group
    outer = root / "outer"
    create_group(outer)
    join_group(outer)
    try:
        holding = holding_hierarchy(own_hierarchies())
        assert holding is not None
        seen = {"outer": str(outer), "holding": _described(holding)}
        return {**seen, **_fill_and_remove(holding.own_group / "roundelay-check")}
    finally:
        join_group(root)
        remove_group(outer)


def cpuset() -> dict[str, object]:
    """A v1 cpuset takes processes only where it has inherited CPUs and memory nodes."""
    own = _named(own_hierarchies(), "cpuset", 1).own_group
    bare = own / "bare"
    bare.mkdir()
    refusal = ""
    try:
        join_group(bare)
    except OSError as error:
        refusal = errno.errorcode[error.errno or 0]
    bare.rmdir()
    made = own / "roundelay-check"
    result = _fill_and_remove(made, ("cpuset.cpus", "cpuset.mems"))
    inherited = {name: (own / name).read_text().strip() for name in ("cpuset.cpus", "cpuset.mems")}
    return {"bare_group_refuses": refusal, "parents": inherited, **result}


def _fill_and_remove(group: Path, files: tuple[str, ...] = ()) -> dict[str, object]:
    inner = group / "server" / "deeper"
    for path in (group, group / "server", inner):
        create_group(path)
    children = [_child_in(group / "server"), _child_in(inner)]
    found = processes_in(group)
    contents = {name: (inner / name).read_text().strip() for name in files}
    begun_s = time.monotonic()
    remove_group(group)
    took_s = time.monotonic() - begun_s
    remove_group(group)  # gone already is fine
    ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    return {
        "children": sorted(children),
        "found": sorted(found),
        "contents": contents,
        "ended_by_kill": [code == -signal.SIGKILL for code in ends],
        "group_is_left": group.exists(),
        "removal_s": took_s,
    }


def _child_in(group: Path) -> int:
    """A child that has joined ``group`` and stays."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            join_group(group)
            os.write(writing, b"joined")
            time.sleep(600)
        finally:
            os._exit(1)
    os.close(writing)
    joined = os.read(reading, 6)
    os.close(reading)
    assert joined, f"the child could not join {group}"
    return child


def _named(hierarchies: list[Hierarchy], controller: str, version: int) -> Hierarchy:
    return next(
        h
        for h in hierarchies
        if h.version == version and (not controller or controller in h.controllers)
    )


def _described(hierarchy: Hierarchy) -> dict[str, object]:
    return {
        "version": hierarchy.version,
        "controllers": sorted(hierarchy.controllers),
        "own_group": str(hierarchy.own_group),
    }
