"""Limits, memory and pressure of groups; directories stand for the kernel's, with its words."""

from __future__ import annotations

from pathlib import Path

import pytest

from emulator.cgroups import Hierarchy
from emulator.limits.available import Place
from emulator.limits.bandwidth import CpuBandwidth
from profiler.limits.group_files import (
    cpus_of,
    least_memory_left,
    least_memory_limit,
    least_quota_cpus,
    memory_limit_of,
    memory_split_of,
    pressure_of,
    quota_of,
    seen_from,
)
from profiler.limits.kernel_text import MemorySplit

STALLED = "some avg10=0.00 avg60=0.00 avg300=0.00 total=2000000\n"


def group(directory: Path, **contents: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in contents.items():
        (directory / name.replace("__", ".")).write_text(text)
    return directory


def test_v2_has_all_in_one_place(tmp_path: Path) -> None:
    path = group(
        tmp_path / "group",
        cpu__max="2500 5000\n",
        cpuset__cpus__effective="0-1,4\n",
        memory__max="1048576\n",
        memory__stat="anon 10\nfile 7\nshmem 3\n",
        cpu__pressure=STALLED,
        io__pressure=STALLED,
        memory__pressure=STALLED,
    )
    places = [Place(path, 2, frozenset({"cpu", "cpuset", "memory"}))]
    assert quota_of(places) == CpuBandwidth(2500, 5000)
    assert cpus_of(places) == frozenset({0, 1, 4})
    assert memory_limit_of(places) == 1_048_576
    assert memory_split_of(places) == MemorySplit(10, 4, 3)
    scope, pressure = pressure_of(places)
    assert scope == "group"
    assert {name: one.some_s for name, one in pressure.items()} == dict.fromkeys(
        ("cpu", "io", "memory"), 2.0
    )


def test_v1_has_a_place_for_each(tmp_path: Path) -> None:
    places = [
        Place(
            group(tmp_path / "cpu", cpu__cfs_quota_us="2500\n", cpu__cfs_period_us="5000\n"),
            1,
            frozenset({"cpu"}),
        ),
        Place(group(tmp_path / "cpuset", cpuset__effective_cpus="3\n"), 1, frozenset({"cpuset"})),
        Place(
            group(
                tmp_path / "memory",
                memory__limit_in_bytes="9223372036854771712\n",
                memory__stat="total_cache 7\ntotal_rss 10\ntotal_shmem 3\n",
            ),
            1,
            frozenset({"memory"}),
        ),
    ]
    assert quota_of(places) == CpuBandwidth(2500, 5000)
    assert cpus_of(places) == frozenset({3})
    assert memory_limit_of(places) is None
    assert memory_split_of(places) == MemorySplit(10, 4, 3)


def test_without_a_group_there_is_nothing_of_it() -> None:
    for read in (quota_of, cpus_of, memory_limit_of, memory_split_of):
        assert read(()) is None
    assert pressure_of(())[0] == "machine"


def test_beside_v1_the_group_of_v2_has_the_pressure(tmp_path: Path) -> None:
    unified = group(tmp_path / "unified", cpu__pressure=STALLED, io__pressure=STALLED)
    scope, pressure = pressure_of([Place(unified, 2, frozenset())])
    assert scope == "group"
    assert set(pressure) == {"cpu", "io"}, "what is not there is left out"


def test_the_smallest_limit_above_counts(tmp_path: Path) -> None:
    root = group(tmp_path / "cgroup")
    group(root / "slice", cpu__max="150000 100000\n", memory__max="2097152\n")
    own = group(root / "slice" / "scope", cpu__max="max 100000\n", memory__max="4194304\n")
    unified = Hierarchy(2, root, frozenset(), own)
    assert least_quota_cpus([unified]) == 1.5
    assert least_memory_limit([unified]) == 2_097_152
    (root / "slice" / "memory.stat").write_text("anon 97152\nfile 500000\nshmem 0\n")
    (own / "memory.stat").write_text("anon 90000\nfile 4104304\nshmem 3104304\n")
    assert least_memory_left([unified]) == 4_194_304 - 3_194_304, "the tightest, page cache apart"


def test_limits_above_in_v1_are_those_of_their_own_hierarchy(tmp_path: Path) -> None:
    cpu = group(tmp_path / "cpu", cpu__cfs_quota_us="-1\n", cpu__cfs_period_us="100000\n")
    own = group(cpu / "own", cpu__cfs_quota_us="50000\n", cpu__cfs_period_us="100000\n")
    memory = group(tmp_path / "memory", memory__limit_in_bytes="9223372036854771712\n")
    hierarchies = [
        Hierarchy(1, cpu, frozenset({"cpu"}), own),
        Hierarchy(1, memory, frozenset({"memory"}), memory),
    ]
    assert least_quota_cpus(hierarchies) == pytest.approx(0.5)
    assert least_memory_limit(hierarchies) is None
    assert least_memory_left(hierarchies) is None


def test_a_group_elsewhere_is_bounded_by_what_is_above_it(tmp_path: Path) -> None:
    root = group(tmp_path / "cgroup")
    session = group(root / "slice" / "scope", cpu__max="50000 100000\n")
    made = group(root / "slice" / "made", cpu__max="2500 5000\n")
    group(root / "slice", cpu__max="80000 100000\n")
    unified = Hierarchy(2, root, frozenset(), session)
    legacy = Hierarchy(1, tmp_path / "memory", frozenset({"memory"}), tmp_path / "memory")
    places = [Place(made, 2, frozenset({"cpu"}))]
    assert seen_from(places, [unified, legacy]) == [
        Hierarchy(2, root, frozenset(), made),
        legacy,
    ]
    assert least_quota_cpus(seen_from(places, [unified])) == 0.5
    (made / "cpu.max").write_text("max 100000\n")
    assert least_quota_cpus(seen_from(places, [unified])) == 0.8
