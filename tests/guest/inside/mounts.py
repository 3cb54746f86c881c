"""Mounts the cgroup hierarchies of one version, and no other, at /sys/fs/cgroup."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

_MOUNT = Path("/sys/fs/cgroup")
_RELEASE_TIMEOUT_S = 30.0
# Not memory: pages in use that are charged to groups of v2, also removed ones, keep it there.
_V1_HIERARCHIES = ("cpuset", "cpu,cpuacct", "pids", "freezer")


def mount_v2() -> list[str]:
    """Only the unified hierarchy; returns its controllers."""
    _unmount_all()
    _mount("cgroup2", _MOUNT)
    return (_MOUNT / "cgroup.controllers").read_text().split()


def mount_v1() -> list[str]:
    """Only hierarchies of version 1; returns what is mounted."""
    _unmount_all()
    _mount("tmpfs", _MOUNT)
    for controllers in _V1_HIERARCHIES:
        place = _MOUNT / controllers
        place.mkdir()
        _mount_when_released(controllers, place)
    return sorted(path.name for path in _MOUNT.iterdir())


def _mount(kind: str, place: Path, *options: str) -> None:
    subprocess.run(("mount", "-t", kind, *options, "none", str(place)), check=True)


def _mount_when_released(controllers: str, place: Path) -> None:
    """A controller stays v2's until the kernel has released the groups that were removed."""
    deadline = time.monotonic() + _RELEASE_TIMEOUT_S
    while True:
        try:
            return _mount("cgroup", place, "-o", controllers)
        except subprocess.CalledProcessError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.1)


def _unmount_all() -> None:
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    places = [line.split()[1] for line in mounts]
    for place in sorted(places, reverse=True):
        if Path(place).is_relative_to(_MOUNT):
            subprocess.run(("umount", place), check=True)
