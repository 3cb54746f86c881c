"""What the kernel writes, v1 and v2, word for word."""

from __future__ import annotations

import pytest

from emulator.limits.bandwidth import CpuBandwidth
from profiler.limits.kernel_text import (
    MemorySplit,
    Pressure,
    ProportionalMemory,
    parse_cpu_ticks,
    parse_memory_limit,
    parse_memory_split,
    parse_pressure,
    parse_quota,
    parse_smaps_rollup,
    parse_storage_read_bytes,
)


@pytest.mark.parametrize(
    ("version", "text", "quota"),
    [
        (2, "max 100000\n", None),
        (2, "2500 5000\n", CpuBandwidth(2500, 5000)),
        (1, "-1\n 100000\n", None),
        (1, "150000\n 100000\n", CpuBandwidth(150_000, 100_000)),
    ],
)
def test_a_quota(version: int, text: str, quota: CpuBandwidth | None) -> None:
    assert parse_quota(version, text) == quota


@pytest.mark.parametrize(
    ("text", "limit"),
    [("max\n", None), ("9223372036854771712\n", None), ("4096\n", 4096), ("0\n", 0)],
)
def test_a_memory_limit(text: str, limit: int | None) -> None:
    assert parse_memory_limit(text) == limit


def test_memory_of_v2_counts_shared_memory_once() -> None:
    text = "anon 1000\nfile 700\nkernel 30\nkernel_stack 10\nshmem 200\nfile_mapped 5\n"
    split = parse_memory_split(2, text)
    assert split == MemorySplit(anon_bytes=1000, file_bytes=500, shmem_bytes=200)
    assert split.held_bytes == 1200


def test_memory_of_v1_is_that_with_the_groups_below() -> None:
    text = (
        "cache 1\nrss 2\nshmem 3\nhierarchical_memory_limit 9223372036854771712\n"
        "total_cache 700\ntotal_rss 1000\ntotal_rss_huge 0\ntotal_shmem 200\n"
    )
    assert parse_memory_split(1, text) == MemorySplit(1000, 500, 200)


def test_pressure() -> None:
    text = (
        "some avg10=0.32 avg60=0.18 avg300=0.33 total=134977005\n"
        "full avg10=0.24 avg60=0.11 avg300=0.17 total=82708294\n"
    )
    assert parse_pressure(text) == Pressure(some_s=134.977005, full_s=82.708294)


def test_pressure_of_cpus_before_linux_5_13_has_one_line() -> None:
    assert parse_pressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n").full_s is None


def test_proportional_memory() -> None:
    text = (
        "55b65e198000-7ffdd90c2000 ---p 00000000 00:00 0                          [rollup]\n"
        "Rss:                1764 kB\nPss:                 253 kB\nPss_Dirty:           116 kB\n"
        "Pss_Anon:            116 kB\nPss_File:            137 kB\nPss_Shmem:             0 kB\n"
        "SwapPss:               0 kB\n"
    )
    assert parse_smaps_rollup(text) == ProportionalMemory(253 * 1024, 116 * 1024, 137 * 1024, 0)


def test_proportional_memory_before_linux_5_3_has_no_parts() -> None:
    text = "1000-2000 ---p 00000000 00:00 0 [rollup]\nRss: 8 kB\nPss: 4 kB\n"
    assert parse_smaps_rollup(text) == ProportionalMemory(4096, None, None, None)


def test_bytes_read_are_those_from_storage() -> None:
    text = (
        "rchar: 6976\nwchar: 1\nsyscr: 10\nsyscw: 2\nread_bytes: 8192\nwrite_bytes: 4\n"
        "cancelled_write_bytes: 0\n"
    )
    assert parse_storage_read_bytes(text) == 8192


def test_cpu_time_of_a_process_whose_name_is_odd() -> None:
    fields = "S 1 42 42 0 -1 4194304 100 200 0 0 30 12 7 3 20 0 1 0 500 0 0"
    assert parse_cpu_ticks(f"42 (a) b (c 1 2) {fields}\n") == 30 + 12 + 7 + 3
