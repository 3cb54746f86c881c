"""Affinity of real threads and processes."""

from __future__ import annotations

import os

import pytest

from profiler.limits.affinity import AffinityKeeper, hold_to
from profiler.limits.process_tree import ProcessTree, threads_of
from tests.unit.profiler.limits.children import FAMILY, line_of, running, wait_until

CPUS = frozenset(os.sched_getaffinity(0))
ONE = frozenset({max(CPUS)})

pytestmark = pytest.mark.skipif(len(CPUS) < 2, reason="one CPU leaves no choice")


def test_every_thread_of_every_process_is_held_and_let_go() -> None:
    with running(FAMILY) as family:
        line_of(family)
        line_of(family)
        tree = ProcessTree(family.pid)
        threads = [thread for pid in tree.processes() for thread in threads_of(pid)]
        assert len(threads) == 4
        assert hold_to(tree.processes, ONE) == (4, 0)
        assert {frozenset(os.sched_getaffinity(thread)) for thread in threads} == {ONE}
        assert hold_to(tree.processes, ONE) == (0, 0)
        assert hold_to(tree.processes, CPUS, only_strays=True) == (0, 0), "a part of them is enough"
        assert hold_to(tree.processes, CPUS) == (4, 0)
        tree.kill()


def test_whoever_starts_later_or_strays_is_held_too() -> None:
    script = """
import os, sys, time
print("begun", flush=True)
sys.stdin.readline()
os.fork()
os.sched_setaffinity(0, {int(cpu) for cpu in sys.argv[1:]})
os.write(1, b"strayed\\n")
sys.stdin.readline()
"""
    with running(script, *map(str, CPUS)) as parent:
        assert line_of(parent) == "begun"
        tree = ProcessTree(parent.pid)
        keeper = AffinityKeeper(tree.processes)
        try:
            assert keeper.hold(ONE) == 0
            assert parent.stdin is not None
            parent.stdin.write("\n")
            parent.stdin.flush()
            assert line_of(parent) == line_of(parent) == "strayed"
            wait_until(
                lambda: {frozenset(os.sched_getaffinity(pid)) for pid in tree.processes()} == {ONE},
                "both to be put back",
            )
            wait_until(lambda: keeper.put_back >= 2, "it to be counted")
        finally:
            keeper.close()
            tree.kill()
