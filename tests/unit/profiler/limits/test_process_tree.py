"""Trees of real processes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from profiler.limits.process_tree import ProcessTree, threads_of
from tests.unit.profiler.limits.children import FAMILY, line_of, running, tell, wait_until


def test_children_of_children_belong_to_it_and_nobody_else_does() -> None:
    with running(FAMILY) as family, running(FAMILY) as stranger:
        ids = {int(line_of(family)), int(line_of(family))}
        line_of(stranger)
        tree = ProcessTree(family.pid)
        members = set(tree.processes())
        assert family.pid in members
        assert ids <= members
        assert len(members) == 3
        tree.kill()
        assert family.wait() == -9
        assert stranger.poll() is None
        ProcessTree(stranger.pid).kill()


def test_an_orphan_stays_a_member() -> None:
    with running(FAMILY) as family:
        grandchild = int(line_of(family))
        line_of(family)
        tree = ProcessTree(family.pid)
        assert grandchild in tree.processes()
        tell(family)
        assert line_of(family) == "waited"
        assert set(tree.processes()) == {family.pid, grandchild}
        tree.kill()
        assert not tree.processes()


def test_one_that_has_ended_and_was_not_waited_for_is_left_out() -> None:
    with subprocess.Popen(("true",)) as child:
        tree = ProcessTree(child.pid)
        wait_until(lambda: not tree.processes(), "the child to end")
        assert Path(f"/proc/{child.pid}").exists()


def test_threads() -> None:
    with running(FAMILY) as family:
        line_of(family)
        line_of(family)
        assert len(threads_of(family.pid)) == 2
        ProcessTree(family.pid).kill()
    assert os.getpid() in threads_of(os.getpid())
    assert threads_of(2**22 + 1) == []
