"""What is written for a limit, in which order, and what must then be read."""

from __future__ import annotations

import itertools

import pytest

from emulator.limits.bandwidth import cpu_bandwidth
from emulator.limits.settings import (
    PAGE_BYTES,
    Setting,
    cpu_settings,
    cpuset_settings,
    memory_settings,
)

MIB = 2**20
NO_LIMIT = str((2**63 - 1) // PAGE_BYTES * PAGE_BYTES)


def written(settings: tuple[Setting, ...]) -> list[tuple[str, str]]:
    return [(setting.file, setting.written) for setting in settings]


def test_cpu_shares() -> None:
    assert written(cpu_settings(2, 0.25)) == [("cpu.max", "1250 5000")]
    assert written(cpu_settings(2, None)) == [("cpu.max", "max 100000")]
    assert written(cpu_settings(1, 0.25)) == [
        ("cpu.cfs_period_us", "5000"),
        ("cpu.cfs_quota_us", "1250"),
    ]
    assert written(cpu_settings(1, None))[1] == ("cpu.cfs_quota_us", "-1")


def test_a_change_in_two_writes_is_never_above_both_shares() -> None:
    shares = (0.001, 0.0125, 0.1, 0.2, 0.21, 0.5, 1.0, 1.5, 8.0)
    for old, new in itertools.permutations(map(cpu_bandwidth, shares), 2):
        between = old.quota_us / new.period_us  # the period is written first
        assert between <= max(old.cores, new.cores)


@pytest.mark.parametrize("version", [1, 2])
def test_memory_is_kept_in_whole_pages(version: int) -> None:
    (memory,) = memory_settings(version, 10 * PAGE_BYTES + 7, has_swap_limit=False)
    assert memory.expected == str(10 * PAGE_BYTES)
    with pytest.raises(ValueError, match="less than a page"):
        memory_settings(version, PAGE_BYTES - 1, has_swap_limit=False)


def test_v2_memory_goes_without_swap() -> None:
    assert written(memory_settings(2, MIB, has_swap_limit=True)) == [
        ("memory.max", str(MIB)),
        ("memory.swap.max", "0"),
    ]
    assert written(memory_settings(2, None, has_swap_limit=True)) == [
        ("memory.max", "max"),
        ("memory.swap.max", "max"),
    ]


def test_v1_memory_is_never_above_memory_and_swap_together() -> None:
    memory, both = "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"

    def order(limit_bytes: int | None, now_bytes: int) -> list[tuple[str, str]]:
        return written(
            memory_settings(1, limit_bytes, has_swap_limit=True, swap_limit_bytes=now_bytes)
        )

    assert order(2 * MIB, MIB) == [(both, str(2 * MIB)), (memory, str(2 * MIB))]
    assert order(MIB, 2 * MIB) == [(memory, str(MIB)), (both, str(MIB))]
    assert order(None, MIB) == [(both, NO_LIMIT), (memory, NO_LIMIT)]


@pytest.mark.parametrize(
    ("version", "effective"), [(1, "cpuset.effective_cpus"), (2, "cpuset.cpus.effective")]
)
def test_cpus_are_checked_by_what_is_effective(version: int, effective: str) -> None:
    (chosen,) = cpuset_settings(version, frozenset({0, 1, 3}), "0-7")
    assert chosen == Setting("cpuset.cpus", "0-1,3", effective, "0-1,3")
    (inherited,) = cpuset_settings(version, None, "0-7")
    assert inherited == Setting("cpuset.cpus", "0-7", effective, "0-7")


@pytest.mark.parametrize("cpus", [frozenset[int](), frozenset({-1, 0})])
def test_no_cpu_is_not_a_set_to_run_on(cpus: frozenset[int]) -> None:
    with pytest.raises(ValueError, match="not a set of CPUs"):
        cpuset_settings(2, cpus, "0-7")
