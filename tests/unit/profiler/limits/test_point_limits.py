"""Points without any privilege: whole CPUs, by affinity."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from profiler.allocation import Allocation
from profiler.limits.enter import entering, main
from profiler.limits.memory_guard import memory_guard_bytes
from profiler.limits.point_limits import PointLimits
from profiler.limits.usable import usable_cpus
from tests.unit.profiler.limits.children import FAMILY, NO_PRIVILEGE, line_of, running
from traces.errors import BadInputError

CPUS = sorted(os.sched_getaffinity(0))
MIB = 2**20


def test_a_fraction_is_rounded_up_and_said() -> None:
    with running(FAMILY) as family, PointLimits("unprivileged", NO_PRIVILEGE) as limits:
        line_of(family)
        limits.watch(family.pid)
        assert not limits.keeps_fractions
        enforced = limits.set(Allocation(0.25, 0))
        assert (enforced.cpus, enforced.cpu_list) == (min(1, usable_cpus()), str(CPUS[0]))
        assert (enforced.cpus_by, enforced.quota_us) == ("affinity", None)
        assert enforced.unenforced[0] == "0.25 CPUs were rounded up to 1: use sudo"
        assert {frozenset(os.sched_getaffinity(pid)) for pid in limits.processes()} == {
            frozenset(CPUS[:1])
        }
        json.dumps(enforced.to_document())


def test_whole_cpus_are_kept_and_leaving_ends_the_processes() -> None:
    with running(FAMILY) as family:
        with PointLimits("unprivileged", NO_PRIVILEGE) as limits:
            line_of(family)
            limits.watch(family.pid)
            enforced = limits.set(Allocation(len(CPUS), 10 * MIB))
            assert enforced.cpus == usable_cpus()
            assert bool(enforced.unenforced) is (usable_cpus() < len(CPUS)), "of a quota above"
            guarded = limits.set(Allocation(len(CPUS), 10 * MIB), 100 * MIB)
            assert guarded.unenforced[0] == "memory is not guarded: use sudo"
            assert guarded.memory_guard_bytes is None
            assert limits.usage() is None
            assert limits.state is None
        assert family.wait() == -9
        assert limits.processes() == []


@pytest.mark.parametrize("cpus", [0.0, -1.0, len(CPUS) + 0.25, float("nan")])
def test_cpus_that_are_not_there_are_refused(cpus: float) -> None:
    with (
        PointLimits("unprivileged", NO_PRIVILEGE) as limits,
        pytest.raises(BadInputError, match="cannot be given"),
    ):
        limits.set(Allocation(cpus, 0))


def test_without_groups_a_command_is_itself() -> None:
    with PointLimits("unprivileged", NO_PRIVILEGE) as limits:
        command = ("python", "train.py", "--", "x")
        assert limits.command_within(command) == command


def test_a_command_in_groups_keeps_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    words = entering([], ["printf", "%s.", "a b", "--", "c"])
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "a b.--.c."
    assert main(["--", "/nowhere/train"]) == 127
    assert "not found" in capsys.readouterr().err
    assert main(["/nowhere", "--", "true"]) == 127
    assert "/nowhere" in capsys.readouterr().err


def test_the_guard_has_room_beside_the_cache() -> None:
    assert memory_guard_bytes(100 * MIB, 50 * MIB) == (100 + 50 + 512) * MIB
    assert memory_guard_bytes(8000 * MIB, 50 * MIB) == (8000 + 50 + 2000) * MIB
