"""What the network namespaces of a run's servers hold, seen from outside while it runs and after.

An open namespace stays when the run has removed its name, and its counters with it.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.guest.inside.command import TIMEOUT_S, Command
from tests.kernel.machine import processes

_POLL_S = 0.05
_COUNTERS = "/proc/net/netstat"


@dataclass
class ServersSeen:
    """The servers of one arm.

    marks_before: packets that had arrived marked before a job sent any.
    congestion_controls: of the established connections.
    """

    namespaces: dict[str, int]
    marks_before: int
    congestion_controls: set[str] = field(default_factory=set)

    def received_marks(self) -> int:
        """IpExtInCEPkts of all servers since the jobs began; closes their namespaces."""
        try:
            texts = [_inside(each, "cat", _COUNTERS) for each in self.namespaces.values()]
            return sum(map(_received_marks, texts)) - self.marks_before
        finally:
            for descriptor in self.namespaces.values():
                os.close(descriptor)


def watch_servers(run: Command, state: Path, servers: int) -> list[ServersSeen]:
    """Watch until ``run`` ends; one entry an arm, in which each of ``servers`` has one worker."""
    seen: list[ServersSeen] = []
    deadline = time.monotonic() + TIMEOUT_S
    while run.exit is None and time.monotonic() < deadline:
        workers = _workers(run, state)
        if len(workers) == servers and not (seen and set(workers) <= set(seen[-1].namespaces)):
            # At once: no time is left for a command before the first transfer.
            texts = [Path(f"/proc/{pid}/net/netstat").read_text() for pid in workers.values()]
            opened = {name: _open(pid) for name, pid in workers.items()}
            seen.append(ServersSeen(opened, sum(map(_received_marks, texts))))
        if seen and not seen[-1].congestion_controls:
            for descriptor in seen[-1].namespaces.values():
                seen[-1].congestion_controls |= _congestion_controls(descriptor)
        time.sleep(_POLL_S)
    return seen


def _workers(run: Command, state: Path) -> dict[str, int]:
    """Network namespace -> process, of those that are alone in a namespace other than the run's.

    A probe visits the servers' namespaces one after the other, workers stay in all of them at once.
    """
    outside = {_namespace(run.pid), _namespace(os.getpid()), ""}
    found = {pid: _namespace(pid) for pid in processes(str(state))}
    members = Counter(found.values())
    return {name: pid for pid, name in found.items() if members[name] == 1 and name not in outside}


def _namespace(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/net")  # noqa: PTH115 - not a path, but a name and a number
    except OSError:
        return ""


def _open(pid: int) -> int:
    return os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def _received_marks(counters: str) -> int:
    names, values = (line.split() for line in counters.splitlines() if line.startswith("IpExt:"))
    return int(values[names.index("InCEPkts")])


def _congestion_controls(descriptor: int) -> set[str]:
    """The first word about each established connection is its congestion control's name."""
    lines = _inside(descriptor, "ss", "-tinH", "state", "established").splitlines()
    return {line.split()[0] for line in lines if line.startswith(("\t", " "))}


def _inside(descriptor: int, *command: str) -> str:
    path = f"/proc/{os.getpid()}/fd/{descriptor}"
    done = subprocess.run(
        ("nsenter", f"--net={path}", *command), capture_output=True, text=True, check=True
    )
    return done.stdout
