"""Where limits belong in v1, v2, hybrid and container hierarchies, and what is missing there.

The directories stand for the kernel's: they have the files that decide, with what it writes there.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from emulator.cgroups import parse_hierarchies
from emulator.limits.available import AvailableLimits, limits_available

ALL = "cpuset cpu io memory pids"


def v2_group(path: Path, offered: str = ALL, processes: str = "", kind: str = "domain") -> Path:
    """A group of the unified hierarchy; kind "" for the root of all."""
    path.mkdir(parents=True)
    (path / "cgroup.controllers").write_text(offered + "\n")
    (path / "cgroup.subtree_control").touch()
    (path / "cgroup.procs").write_text(processes)
    if kind:
        (path / "cgroup.type").write_text(kind + "\n")
    return path


def v2_mount(place: Path, root: str = "/") -> str:
    return f"25 20 0:22 {root} {place} rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"


def v1_mounts(place: Path, *controllers: str) -> str:
    for names in controllers:
        (place / names).mkdir(parents=True)
    return "".join(
        f"30 24 0:{26 + index} / {place / names} rw - cgroup cgroup rw,{names}\n"
        for index, names in enumerate(controllers)
    )


def found(mountinfo: str, own: str) -> AvailableLimits:
    return limits_available(parse_hierarchies(mountinfo, own))


def places(available: AvailableLimits, below: Path) -> dict[str, set[str]]:
    return {
        str(place.path.relative_to(below)): set(place.controllers) for place in available.places
    }


def test_v1_has_a_place_in_each_hierarchy_that_is_used(tmp_path: Path) -> None:
    mounts = v1_mounts(tmp_path, "cpu,cpuacct", "cpuset", "memory", "pids", "freezer")
    own = "6:freezer:/\n5:pids:/\n4:memory:/a\n3:cpuset:/\n2:cpu,cpuacct:/\n"
    (tmp_path / "memory" / "a").mkdir()
    available = found(mounts, own)
    assert places(available, tmp_path) == {
        "pids": set(),
        "cpu,cpuacct": {"cpu", "cpuacct"},
        "cpuset": {"cpuset"},
        "memory/a": {"memory"},
    }
    assert available.places[0].path == tmp_path / "pids", "what only holds processes comes first"
    assert not available.missing
    assert not available.unenforced


def test_hybrid_limits_in_v1_and_holds_in_v2(tmp_path: Path) -> None:
    mounts = v1_mounts(tmp_path, "cpu", "cpuacct", "cpuset", "memory")
    unified = v2_group(tmp_path / "unified", offered="hugetlb", processes="1\n", kind="")
    available = found(
        mounts + v2_mount(unified), "4:memory:/\n3:cpuset:/\n2:cpuacct:/\n1:cpu:/\n0::/\n"
    )
    assert available.places[0].path == unified
    assert places(available, tmp_path) == {
        "unified": set(),
        "cpu": {"cpu"},
        "cpuacct": {"cpuacct"},
        "cpuset": {"cpuset"},
        "memory": {"memory"},
    }
    assert not available.missing


def test_hybrid_may_have_some_controllers_in_v2(tmp_path: Path) -> None:
    mounts = v1_mounts(tmp_path, "cpu,cpuacct")
    unified = v2_group(tmp_path / "unified", offered="memory cpuset", kind="")
    available = found(mounts + v2_mount(unified), "1:cpu,cpuacct:/\n0::/\n")
    assert places(available, tmp_path) == {
        "unified": {"memory", "cpuset"},
        "cpu,cpuacct": {"cpu", "cpuacct"},
    }


def test_the_root_of_v2_takes_groups_beside_its_processes(tmp_path: Path) -> None:
    root = v2_group(tmp_path / "cgroup", processes="1\n2\n", kind="")
    available = found(v2_mount(root), "0::/\n")
    assert places(available, tmp_path) == {"cgroup": {"cpu", "cpuset", "memory"}}


def test_a_v2_session_goes_above_its_own_processes(tmp_path: Path) -> None:
    root = v2_group(tmp_path / "cgroup", kind="")
    v2_group(root / "user.slice", offered="memory pids")
    v2_group(root / "user.slice" / "session.scope", offered="memory pids", processes="7\n")
    available = found(v2_mount(root), "0::/user.slice/session.scope\n")
    assert places(available, tmp_path) == {"cgroup": {"cpu", "cpuset", "memory"}}


def test_of_two_that_offer_the_same_the_nearer_is_taken(tmp_path: Path) -> None:
    root = v2_group(tmp_path / "cgroup", kind="")
    v2_group(root / "slice")
    v2_group(root / "slice" / "scope", processes="7\n")
    available = found(v2_mount(root), "0::/slice/scope\n")
    assert places(available, tmp_path) == {"cgroup/slice": {"cpu", "cpuset", "memory"}}


def test_a_container_on_v2_uses_its_own_part(tmp_path: Path) -> None:
    root = v2_group(tmp_path / "cgroup")
    v2_group(root / "init", processes="0\n")
    available = found(v2_mount(root, "/docker/abc"), "0::/docker/abc/init\n")
    assert places(available, tmp_path) == {"cgroup": {"cpu", "cpuset", "memory"}}


@pytest.mark.parametrize("blocked", [{"processes": "0\n1\n"}, {"kind": "domain threaded"}])
def test_a_container_whose_processes_are_in_the_way_only_holds(
    tmp_path: Path, blocked: dict[str, str]
) -> None:
    root = v2_group(tmp_path / "cgroup", **blocked)
    available = found(v2_mount(root, "/docker/abc"), "0::/docker/abc\n")
    assert places(available, tmp_path) == {"cgroup": set()}
    assert set(available.missing) == {"cpu", "cpuset", "memory"}
    assert "--cgroupns=host" in available.missing["cpu"]
    assert len(available.unenforced) == 3


def test_a_container_on_v1_uses_its_own_part(tmp_path: Path) -> None:
    (tmp_path / "memory" / "inner").mkdir(parents=True)
    mount = f"30 24 0:26 /docker/abc {tmp_path}/memory rw - cgroup cgroup rw,memory\n"
    available = found(mount, "9:memory:/docker/abc/inner\n")
    assert places(available, tmp_path)["memory/inner"] == {"memory"}


def test_what_is_not_delegated_is_named(tmp_path: Path) -> None:
    root = v2_group(tmp_path / "cgroup", offered="memory pids")
    available = found(v2_mount(root), "0::/\n")
    assert set(available.missing) == {"cpu", "cpuset"}
    assert "does not offer" in available.missing["cpu"]


def test_a_hierarchy_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    mount = f"30 24 0:26 / {tmp_path}/absent rw - cgroup cgroup rw,memory\n"
    available = found(mount, "9:memory:/\n")
    assert available.places == ()
    assert f"{tmp_path}/absent is not writable" in available.missing["memory"]
    assert "no mounted cgroup hierarchy" in available.missing["cpu"]


def test_no_cgroups_at_all() -> None:
    available = limits_available([])
    assert available.places == ()
    assert set(available.missing) == {"cpu", "cpuset", "memory"}
