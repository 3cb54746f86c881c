"""Limits on whatever hierarchies are mounted."""

from __future__ import annotations

import dataclasses
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from emulator.cgroups import create_group, join_group, own_hierarchies, remove_group
from emulator.clean import clean_run
from emulator.limits.available import limits_available
from emulator.limits.limited_group import LimitedGroup
from emulator.limits.run_groups import RunGroups
from netshaper.run_state import STATE_DIRECTORY_VARIABLE, RunState, load_state
from tests.kernel.limited_processes import end_of, holding_memory, sleeping, spinning
from tests.kernel.machine import cgroups
from traces.errors import EmulationError

_MIB = 2**20
_CORES = 0.2
_MEASURED_S = 1.5
_ROOT = Path("/sys/fs/cgroup")


def limits() -> dict[str, Any]:
    """Each limit in turn on one group, with a second group beside it."""
    with _record(), _run("guestlim1") as run:
        group, other = run.create_group("one"), run.create_group("other")
        bystander = sleeping(other.paths)
        seen = {
            "missing": dict(run.available.missing),
            "places": {str(p.path): sorted(p.controllers) for p in run.places},
            "share": _share(group),
            "cpus": _cpus(group),
            "memory": None if run.available.missing else _memory(group),
            "bystander_lives": os.waitpid(bystander, os.WNOHANG) == (0, 0),
        }
        other.kill()
        end_of(bystander)
        return seen


def handed_on() -> dict[str, Any]:
    """What the root of v2 hands on before, during and after two runs that overlap."""
    seen = {"before": handed_on_now()}
    with _record():
        with _run("guestlim2"):
            with _run("guestlim1"):
                seen["both"] = handed_on_now()
            seen["one"] = handed_on_now()
        seen["after"] = handed_on_now()
    return seen


def smaller_parent() -> str | None:
    """What is said when a group is to run on a CPU that the group above does not have."""
    with _record(), _run("guestlim1") as run:
        group = run.create_group("one")
        (group.paths[0].parent / "cpuset.cpus").write_text("0")
        return _refusal(group, cpus=frozenset({0, 1}))


def caller_in_a_group() -> dict[str, Any]:
    """A process in a group of its own cannot hand on from there, and goes above."""
    outer = _ROOT / "outer"
    create_group(outer)
    join_group(outer)
    try:
        with _record(), _run("guestlim1") as run:
            run.create_group("one").set(cpu_cores=0.5, memory_bytes=32 * _MIB)
            return {"places": [str(place.path) for place in run.places]}
    finally:
        join_group(_ROOT)
        remove_group(outer)


def killed_owner() -> dict[str, Any]:
    """What a kill -9 leaves, and what is there after the record was cleaned."""
    before = handed_on_now()
    with _record() as records:
        owner = os.fork()
        if owner == 0:
            try:
                run = RunGroups.create(
                    RunState.create("guestlim1"), limits_available(own_hierarchies())
                )
                sleeping(run.create_group("one").paths)
                os.kill(os.getpid(), signal.SIGKILL)
            finally:
                os._exit(1)
        ended = end_of(owner)
        left_by_kill = cgroups("guestlim1")
        clean_run(load_state(records / "guestlim1"))
        return {
            "ended": ended,
            "left_by_kill": len(left_by_kill),
            "left": cgroups("guestlim1"),
            "handed_on_as_before": handed_on_now() == before,
        }


def _share(group: LimitedGroup) -> dict[str, Any]:
    group.set(cpu_cores=1.0)
    group.set(cpu_cores=_CORES)
    children = [spinning(group.paths) for _ in range(2)]
    time.sleep(0.3)
    begun_s, before = time.monotonic(), group.usage()
    time.sleep(_MEASURED_S)
    after, elapsed_s = group.usage(), time.monotonic() - begun_s
    group.kill()
    ends = [end_of(child) for child in children]
    group.set()
    return {
        "allowed_s": _CORES * elapsed_s,
        "before": dataclasses.asdict(before),
        "after": dataclasses.asdict(after),
        "ends": ends,
    }


def _cpus(group: LimitedGroup) -> dict[str, Any]:
    child = sleeping(group.paths)
    affinity = [sorted(os.sched_getaffinity(child))]
    for cpus in (frozenset({1}), None):
        group.set(cpus=cpus)
        affinity.append(sorted(os.sched_getaffinity(child)))
    refusal = _refusal(group, cpus=frozenset({0, 1000}))
    group.set()
    group.kill()
    end_of(child)
    return {"affinity": affinity, "refusal": refusal}


def _memory(group: LimitedGroup) -> dict[str, Any]:
    group.set(memory_bytes=32 * _MIB + 5)
    greedy = end_of(holding_memory(group.paths, 48 * _MIB))
    peak_bytes = group.usage().memory_peak_bytes
    group.set(memory_bytes=64 * _MIB)
    child = holding_memory(group.paths, 48 * _MIB)
    deadline = time.monotonic() + 30
    while (group.usage().memory_bytes or 0) < 48 * _MIB and time.monotonic() < deadline:
        time.sleep(0.05)
    before = group.usage().oom_kills
    refusal = _refusal(group, memory_bytes=8 * _MIB)
    time.sleep(0.1)
    killed_by_lowering = os.waitpid(child, os.WNOHANG) != (0, 0)
    group.kill()
    if not killed_by_lowering:
        end_of(child)
    return {
        "greedy": greedy,
        "peak_bytes": peak_bytes,
        "oom_kills_before": before,
        "refusal": refusal,
        "killed_by_lowering": killed_by_lowering,
    }


def _refusal(group: LimitedGroup, **limit: Any) -> str | None:
    """What the group said to ``limit``; None where it took it."""
    try:
        group.set(**limit)
    except EmulationError as error:
        return str(error)
    return None


def handed_on_now() -> list[str]:
    """Controllers that the root of v2 hands on; none where there is no v2."""
    file = _ROOT / "cgroup.subtree_control"
    return sorted(file.read_text().split()) if file.exists() else []


@contextmanager
def _record() -> Iterator[Path]:
    """Records of runs in a folder of their own."""
    with tempfile.TemporaryDirectory() as name:
        os.environ[STATE_DIRECTORY_VARIABLE] = name
        try:
            yield Path(name)
        finally:
            del os.environ[STATE_DIRECTORY_VARIABLE]
            Path(name).mkdir(exist_ok=True)  # it goes with the last record


@contextmanager
def _run(run_id: str) -> Iterator[RunGroups]:
    state = RunState.create(run_id)
    try:
        yield RunGroups.create(state, limits_available(own_hierarchies()))
    finally:
        clean_run(state)
