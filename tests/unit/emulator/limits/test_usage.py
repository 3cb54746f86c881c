"""What is read from a group's files, in the words of each version."""

from __future__ import annotations

from pathlib import Path

import pytest

from emulator.limits.usage import Usage, read_usage


def files(directory: Path, **contents: str) -> Path:
    directory.mkdir()
    for name, text in contents.items():
        (directory / name.replace("__", ".")).write_text(text)
    return directory


def test_v2_tells_all_in_one_directory(tmp_path: Path) -> None:
    group = files(
        tmp_path / "group",
        cpu__stat="usage_usec 1500000\nuser_usec 7\nnr_periods 20\nnr_throttled 5\n"
        "throttled_usec 250000\n",
        memory__current="4096\n",
        memory__peak="8192\n",
        memory__events="low 0\noom 2\noom_kill 1\n",
    )
    assert read_usage({}, group) == Usage(1.5, 0.25, 20, 5, 4096, 8192, 1)


def test_v1_tells_it_in_several(tmp_path: Path) -> None:
    cpu = files(
        tmp_path / "cpu", cpu__stat="nr_periods 20\nnr_throttled 5\nthrottled_time 250000000\n"
    )
    cpuacct = files(tmp_path / "cpuacct", cpuacct__usage="1500000000\n")
    memory = files(
        tmp_path / "memory",
        memory__usage_in_bytes="4096\n",
        memory__max_usage_in_bytes="8192\n",
        memory__oom_control="oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
    )
    unified = files(tmp_path / "unified", cpu__stat="usage_usec 9\n")
    used = read_usage({"cpu": cpu, "cpuacct": cpuacct, "memory": memory}, unified)
    assert used == Usage(pytest.approx(1.5), pytest.approx(0.25), 20, 5, 4096, 8192, 1)


def test_what_is_not_told_is_none(tmp_path: Path) -> None:
    assert read_usage({}, None) == Usage(None, None, None, None, None, None, None)
    older = files(tmp_path / "older", memory__current="4096\n", cpu__stat="usage_usec 1000000\n")
    assert read_usage({}, older) == Usage(1.0, None, None, None, 4096, None, None)
