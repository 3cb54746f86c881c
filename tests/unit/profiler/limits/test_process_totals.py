"""What processes used, with those that have ended, as this kernel counts it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from profiler.limits.process_totals import read_proportional_memory, read_totals
from profiler.limits.process_tree import ProcessTree
from tests.unit.profiler.limits.children import line_of, running, tell, wait_until

MIB = 2**20

READER = """
import os, sys, time
def read():
    file = os.open(sys.argv[1], os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    while os.read(file, 1 << 20):
        pass
sys.stdin.readline()
child = os.fork()
if child == 0:
    read()
    os._exit(0)
os.waitpid(child, 0)
print("read", flush=True)
sys.stdin.readline()
"""
"""Waits for a line; then a child of it reads a file from storage and ends."""

SPINNER = """
import os, sys, time
if os.fork() == 0:
    while time.process_time() < 0.3:
        pass
    os._exit(0)
os.wait()
print("spun", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A file of 2 MiB, written back."""
    path = tmp_path / "data"
    with path.open("wb") as file:
        file.write(os.urandom(2 * MIB))
        file.flush()
        os.fsync(file.fileno())
    if not _comes_from_storage(path):
        pytest.skip(f"{tmp_path} has no storage below it")
    return path


def _comes_from_storage(path: Path) -> bool:
    with running(READER, str(path)) as reader:
        tell(reader)
        line_of(reader)
        return "\nread_bytes: 0\n" not in Path(f"/proc/{reader.pid}/io").read_text()


def test_bytes_of_an_ended_child_count(stored: Path) -> None:
    with running(READER, str(stored)) as reader:
        tree = ProcessTree(reader.pid)
        before = read_totals(tree.processes)
        tell(reader)
        assert line_of(reader) == "read"
        after = read_totals(tree.processes)
    assert before.storage_read_bytes is not None
    assert after.storage_read_bytes is not None
    assert 2 * MIB <= after.storage_read_bytes - before.storage_read_bytes < 3 * MIB


def test_cpu_time_of_an_ended_child_counts() -> None:
    with running(SPINNER) as spinner:
        assert line_of(spinner) == "spun"
        used = read_totals(ProcessTree(spinner.pid).processes)
    assert used.cpu_s is not None
    assert used.cpu_s >= 0.28, "a tick each of user and system time may be missing"
    assert not used.missing


def test_where_none_runs_nothing_is_told_with_the_reason() -> None:
    totals = read_totals(lambda: [])
    assert totals.cpu_s is None
    assert totals.storage_read_bytes is None
    assert set(totals.missing) == {"cpu_s", "storage_read_bytes"}
    assert read_proportional_memory(lambda: []) == (None, 0, "none of its processes runs")


def test_processes_that_come_and_go_are_given_up_with_the_reason() -> None:
    own = os.getpid()
    answers = iter(range(10**6))
    totals = read_totals(lambda: [own] if next(answers) % 2 else [own, os.getppid()])
    assert "came and went" in totals.missing["cpu_s"]


def test_memory_that_two_share_counts_once() -> None:
    script = """
import mmap, os, sys
shared = mmap.mmap(-1, 64 << 20)
shared.write(b"x" * (64 << 20))
child = os.fork()
os.write(1, b"%d\\n" % shared[:: mmap.PAGESIZE].count(b"x"))
sys.stdin.readline()
"""
    with running(script) as parent:
        assert line_of(parent) == line_of(parent)
        tree = ProcessTree(parent.pid)
        wait_until(lambda: len(tree.processes()) == 2, "the child")
        total, processes, missing = read_proportional_memory(tree.processes)
        tree.kill()
    assert (processes, missing) == (2, "")
    assert total is not None
    assert total.shmem_bytes is not None
    assert 64 * MIB <= total.shmem_bytes < 66 * MIB
