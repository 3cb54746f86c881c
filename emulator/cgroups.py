"""cgroups, v1, v2 and hybrid: groups that hold a run's processes so that they can be found and
ended.

(Kernel documentation: admin-guide/cgroup-v2.rst and cgroup-v1/cgroups.rst.)
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from emulator.limits.subtree import noted_controllers, withdraw_below
from traces.errors import EmulationError

_KILL_TIMEOUT_S = 10.0
_POLL_S = 0.02
_OCTAL = re.compile(r"\\([0-7]{3})")  # how mountinfo writes white space and backslashes


@dataclass(frozen=True)
class Hierarchy:
    """One mounted cgroup hierarchy and the calling process's place in it."""

    version: int
    mount: Path
    controllers: frozenset[str]
    own_group: Path


def parse_hierarchies(mountinfo: str, own_cgroups: str) -> list[Hierarchy]:
    """Hierarchies from the texts of /proc/self/mountinfo and /proc/self/cgroup. Pure."""
    own: dict[frozenset[str], str] = {}
    for line in own_cgroups.splitlines():
        _, names, path = line.split(":", 2)
        own[frozenset(filter(None, names.split(",")))] = path
    hierarchies = []
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind not in ("cgroup", "cgroup2"):
            continue
        _, _, _, mounted_root, mount, *_ = before.split()
        mount_point = Path(_OCTAL.sub(lambda escape: chr(int(escape[1], 8)), mount))
        words = set(options.rpartition(" ")[2].split(","))
        for controllers, path in own.items():
            if (kind == "cgroup2") is not (not controllers) or not controllers <= words:
                continue
            # A container may see only a part of the hierarchy, mounted from its own group down.
            inside = PurePosixPath(path)
            root = PurePosixPath(mounted_root)
            relative = inside.relative_to(root) if inside.is_relative_to(root) else PurePosixPath()
            version = 2 if kind == "cgroup2" else 1
            hierarchies.append(Hierarchy(version, mount_point, controllers, mount_point / relative))
    return hierarchies


def own_hierarchies() -> list[Hierarchy]:
    """The hierarchies of this machine, as the calling process sees them."""
    return parse_hierarchies(
        Path("/proc/self/mountinfo").read_text(), Path("/proc/self/cgroup").read_text()
    )


def holding_hierarchy(hierarchies: list[Hierarchy]) -> Hierarchy | None:
    """Where groups that only hold processes are best made, or None where nothing is writable.

    v2 first (also beside v1), since it can end a whole group at once; then v1's pids and freezer,
    which put no limits on what is in them.
    """
    writable = [h for h in hierarchies if os.access(h.own_group, os.W_OK)]
    preferred = sorted(
        writable,
        key=lambda h: (
            h.version != 2,
            "pids" not in h.controllers,
            "freezer" not in h.controllers,
            str(h.mount),
        ),
    )
    return preferred[0] if preferred else None


def create_group(path: Path) -> None:
    """Make the group ``path``; its parent must exist. v1 cpusets inherit their parent's sets."""
    try:
        path.mkdir()
        for name in ("cpuset.cpus", "cpuset.mems"):
            if (path / name).exists() and (path.parent / name).exists():
                inherited = (path.parent / name).read_text()
                with contextlib.suppress(OSError):  # v2: empty means inherited, and is right
                    (path / name).write_text(inherited)
    except OSError as error:
        raise EmulationError(f"the cgroup {path} cannot be made: {error.strerror}") from None


def join_group(path: Path) -> None:
    """Move the calling process into ``path``."""
    (path / "cgroup.procs").write_text("0" if path_is_v2(path) else str(os.getpid()))


def path_is_v2(path: Path) -> bool:
    """Whether ``path`` belongs to the unified hierarchy."""
    return (path / "cgroup.controllers").exists()


def processes_in(path: Path) -> list[int]:
    """Process ids in the group and in those below it."""
    pids: list[int] = []
    for group in (path, *_descendants(path)):
        with contextlib.suppress(OSError):
            pids += [int(word) for word in (group / "cgroup.procs").read_text().split()]
    return [pid for pid in pids if pid > 0]


def kill_group(path: Path) -> None:
    """End every process in ``path`` and below, also those that are forked meanwhile."""
    deadline = time.monotonic() + _KILL_TIMEOUT_S
    while processes_in(path):
        _send_kill(path)
        if time.monotonic() > deadline:
            raise EmulationError(f"processes in the cgroup {path} do not end")
        time.sleep(_POLL_S)


def remove_group(path: Path) -> None:
    """End every process in ``path`` and remove it with all below it. Gone already is fine.

    Controllers that the group above handed on for its sake are withdrawn.
    """
    deadline = time.monotonic() + _KILL_TIMEOUT_S
    while path.exists():
        _send_kill(path)
        controllers = noted_controllers(path)
        try:
            for group in (*_descendants(path), path):
                group.rmdir()
        except FileNotFoundError:
            continue
        except OSError as error:
            if time.monotonic() > deadline:
                raise EmulationError(f"the cgroup {path} stays busy: {error.strerror}") from None
            time.sleep(_POLL_S)
        else:
            withdraw_below(path.parent, controllers)


def _send_kill(path: Path) -> None:
    """SIGKILL to the processes that are in ``path`` and below, and to no other."""
    if (path / "cgroup.kill").exists():  # v2 since Linux 5.14
        with contextlib.suppress(FileNotFoundError):
            (path / "cgroup.kill").write_text("1")
        return
    with contextlib.ExitStack() as opened:
        descriptors = {}
        for pid in processes_in(path):
            with contextlib.suppress(ProcessLookupError):
                descriptors[pid] = os.pidfd_open(pid)
                opened.callback(os.close, descriptors[pid])
        # Who is still in the group now is who was opened: an id may pass to another process.
        for pid in descriptors.keys() & set(processes_in(path)):
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(descriptors[pid], signal.SIGKILL)


def _descendants(path: Path) -> list[Path]:
    """Groups below ``path``, deepest first."""
    below = [directory for directory in path.rglob("*") if directory.is_dir()]
    return sorted(below, key=lambda directory: len(directory.parts), reverse=True)
