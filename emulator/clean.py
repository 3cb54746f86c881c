"""Removes what a run left behind: exactly what its record names, and nothing of anybody else's."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from emulator.cgroups import remove_group
from netshaper.apply import existing_namespaces, remove_namespaces
from netshaper.plan import NAMESPACE_PREFIX
from netshaper.run_state import RunState, boot_id

_EXIT_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Cleaned:
    """What was removed of one run (or, in a dry run, would be)."""

    run_id: str
    namespaces: list[str]
    cgroups: list[str]
    processes: list[int]


def leftovers(state: RunState) -> Cleaned:
    """What of ``state`` is still there. After a reboot nothing of the kernel's can be ours."""
    if state.boot != boot_id():
        return Cleaned(state.run_id, [], [], [])
    prefix = f"{NAMESPACE_PREFIX}-{state.run_id}-"
    existing = existing_namespaces()
    return Cleaned(
        run_id=state.run_id,
        namespaces=[n for n in state.namespaces if n in existing and n.startswith(prefix)],
        cgroups=[c for c in state.cgroups if state.run_id in Path(c).name and Path(c).is_dir()],
        processes=[process.pid for process in state.processes if process.is_alive()],
    )


def clean_run(state: RunState) -> Cleaned:
    """Remove the run: processes first (they keep namespaces alive), its record last."""
    found = leftovers(state)
    for pid in found.processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    _wait_for_exit(state)
    for cgroup in found.cgroups:
        remove_group(Path(cgroup))
    remove_namespaces(found.namespaces)
    state.forget()
    return found


def _wait_for_exit(state: RunState) -> None:
    deadline = time.monotonic() + _EXIT_TIMEOUT_S
    while any(process.is_alive() for process in state.processes):
        if time.monotonic() > deadline:
            return
        time.sleep(0.01)
