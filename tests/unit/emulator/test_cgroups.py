"""Where this process stands in v1, v2, hybrid and container-mounted hierarchies."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from emulator.cgroups import (
    Hierarchy,
    create_group,
    holding_hierarchy,
    join_group,
    parse_hierarchies,
    processes_in,
    remove_group,
)
from traces.errors import EmulationError

V2_MOUNT = (
    "25 20 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
    "26 20 0:23 / /proc rw shared:5 - proc proc rw\n"
)
V1_MOUNTS = (
    "30 24 0:26 / /sys/fs/cgroup/memory rw shared:10 - cgroup cgroup rw,memory\n"
    "31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:11 - cgroup cgroup rw,cpu,cpuacct\n"
    "32 24 0:28 / /sys/fs/cgroup/pids rw shared:12 - cgroup cgroup rw,pids\n"
    "33 24 0:29 / /sys/fs/cgroup/systemd rw shared:13 - cgroup cgroup rw,xattr,name=systemd\n"
)
V1_OWN = "9:memory:/a/b\n8:cpu,cpuacct:/\n7:pids:/user.slice\n1:name=systemd:/init.scope\n"


def places(mountinfo: str, own: str) -> dict[str, tuple[int, str]]:
    return {
        ",".join(sorted(found.controllers)): (found.version, str(found.own_group))
        for found in parse_hierarchies(mountinfo, own)
    }


def test_v2_is_one_hierarchy() -> None:
    assert places(V2_MOUNT, "0::/user.slice/session.scope\n") == {
        "": (2, "/sys/fs/cgroup/user.slice/session.scope")
    }


def test_v1_has_a_hierarchy_for_each_mount() -> None:
    assert places(V1_MOUNTS, V1_OWN) == {
        "memory": (1, "/sys/fs/cgroup/memory/a/b"),
        "cpu,cpuacct": (1, "/sys/fs/cgroup/cpu,cpuacct"),
        "pids": (1, "/sys/fs/cgroup/pids/user.slice"),
        "name=systemd": (1, "/sys/fs/cgroup/systemd/init.scope"),
    }


def test_hybrid_has_both() -> None:
    unified = "40 24 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
    found = places(V1_MOUNTS + unified, V1_OWN + "0::/init.scope\n")
    assert found[""] == (2, "/sys/fs/cgroup/unified/init.scope")
    assert found["memory"] == (1, "/sys/fs/cgroup/memory/a/b")
    assert len(found) == 5


def test_a_controller_that_is_not_mounted_is_left_out() -> None:
    assert places(V1_MOUNTS, "9:freezer:/x\n0::/y\n") == {}
    assert places("", V1_OWN) == {}


@pytest.mark.parametrize(
    ("root", "own", "place"),
    [
        ("/docker/abc", "/docker/abc", "/sys/fs/cgroup/memory"),
        ("/docker/abc", "/docker/abc/child", "/sys/fs/cgroup/memory/child"),
        # the process is not below what is mounted: the mount itself is all that it can see
        ("/docker/abc", "/elsewhere", "/sys/fs/cgroup/memory"),
        ("/docker/abc", "/docker/abcdef", "/sys/fs/cgroup/memory"),
    ],
)
def test_a_container_sees_the_hierarchy_from_its_own_group_down(
    root: str, own: str, place: str
) -> None:
    mount = f"30 24 0:26 {root} /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
    assert places(mount, f"9:memory:{own}\n") == {"memory": (1, place)}


def test_a_v2_container_sees_it_so_too() -> None:
    mount = "25 20 0:22 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup rw\n"
    assert places(mount, "0::/docker/abc/x\n") == {"": (2, "/sys/fs/cgroup/x")}


def test_a_space_in_a_mount_point_is_read() -> None:
    mount = "25 20 0:22 / /mnt/my\\040groups rw - cgroup2 cgroup2 rw\n"
    assert places(mount, "0::/\n") == {"": (2, "/mnt/my groups")}


def test_a_mount_point_in_utf8_is_read() -> None:
    mount = "25 20 0:22 / /mnt/größe rw - cgroup2 cgroup2 rw\n"
    assert places(mount, "0::/\n") == {"": (2, "/mnt/größe")}


def hierarchy(directory: Path, name: str, version: int = 1, writable: bool = True) -> Hierarchy:
    group = directory / name
    if writable:
        group.mkdir()
    controllers = frozenset() if version == 2 else frozenset(name.split(","))
    return Hierarchy(version, directory / name, controllers, group)


def test_v2_holds_best_then_pids_then_freezer(tmp_path: Path) -> None:
    names = ("cpu", "freezer", "pids")
    v1 = [hierarchy(tmp_path, name) for name in names]
    v2 = hierarchy(tmp_path, "unified", version=2)
    assert holding_hierarchy([*v1, v2]) == v2
    assert holding_hierarchy(v1) == v1[2]
    assert holding_hierarchy(v1[:2]) == v1[1]
    assert holding_hierarchy(v1[:1]) == v1[0]


def test_what_cannot_be_written_holds_nothing(tmp_path: Path) -> None:
    locked = hierarchy(tmp_path, "unified", version=2, writable=False)
    pids = hierarchy(tmp_path, "pids")
    assert holding_hierarchy([locked, pids]) == pids
    assert holding_hierarchy([locked]) is None
    assert holding_hierarchy([]) is None


def test_a_group_is_made_once_and_below_its_parent(tmp_path: Path) -> None:
    create_group(tmp_path / "group")
    assert (tmp_path / "group").is_dir()
    for place in (tmp_path / "group", tmp_path / "absent" / "group"):
        with pytest.raises(EmulationError, match="cannot be made"):
            create_group(place)


def test_processes_are_found_in_a_group_and_below(tmp_path: Path) -> None:
    (tmp_path / "below" / "deeper").mkdir(parents=True)
    (tmp_path / "cgroup.procs").write_text("12\n13\n")
    (tmp_path / "below" / "deeper" / "cgroup.procs").write_text("0\n14\n")
    assert sorted(processes_in(tmp_path)) == [12, 13, 14]


@pytest.mark.parametrize("version", [1, 2])
def test_joining_writes_what_the_version_understands(tmp_path: Path, version: int) -> None:
    if version == 2:
        (tmp_path / "cgroup.controllers").touch()
    join_group(tmp_path)
    assert (tmp_path / "cgroup.procs").read_text() == ("0" if version == 2 else str(os.getpid()))


def test_a_group_goes_with_all_below_it(tmp_path: Path) -> None:
    (tmp_path / "group" / "a" / "b").mkdir(parents=True)
    (tmp_path / "group" / "c").mkdir()
    remove_group(tmp_path / "group")
    assert list(tmp_path.iterdir()) == []
    remove_group(tmp_path / "group")  # gone already is fine
