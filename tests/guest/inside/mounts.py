"""Mounts the cgroup hierarchies of one version, and no other, at /sys/fs/cgroup.

Once in a guest, before any group is made: the kernel keeps groups that were removed, and with them
their controllers, for as long as something refers to them, and gives those controllers to no
hierarchy of the other version meanwhile.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

_MOUNT = Path("/sys/fs/cgroup")
# Not memory: the pages in use are charged to the hierarchy that the guest began with.
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
        _mount("cgroup", place, "-o", controllers)
    return sorted(path.name for path in _MOUNT.iterdir())


def _mount(kind: str, place: Path, *options: str) -> None:
    subprocess.run(("mount", "-t", kind, *options, "none", str(place)), check=True)


def _unmount_all() -> None:
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    places = [line.split()[1] for line in mounts]
    for place in sorted(places, reverse=True):
        if Path(place).is_relative_to(_MOUNT):
            subprocess.run(("umount", place), check=True)
