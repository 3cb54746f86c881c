"""A training process and all that it starts, held to points' allocations by this kernel."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from emulator.limits.available import AvailableLimits
from emulator.limits.limited_group import LimitedGroup
from netshaper.run_state import STATE_DIRECTORY_VARIABLE
from profiler.allocation import Allocation
from profiler.limits.evidence import EvidenceSampler
from profiler.limits.group_files import place_with
from profiler.limits.point_evidence import PointEvidence
from profiler.limits.point_limits import PointLimits, limits_for_training
from tests.kernel.command import roundelay, wait_until
from tests.kernel.machine import cgroups, leftovers
from tests.kernel.unprivileged import (
    as_user,
    directory_of_user,
    environment_of_user,
    why_not,
)
from traces.errors import EmulationError

RUN_ID = "t3stpoint"
MIB = 2**20
AVAILABLE = limits_for_training()
CPUS = sorted(os.sched_getaffinity(0))
NOTHING: dict[str, object] = {"namespaces": [], "cgroups": [], "processes": [], "files": []}
SHARE_ERROR = 0.05
OVERSHOOT_S = 0.01  # two scheduler ticks, which a process may go on at the end of its quota

pytestmark = pytest.mark.skipif(
    bool(AVAILABLE.missing), reason=f"limits are missing here: {AVAILABLE.missing}"
)

SPINNING = """
import os
if os.fork():
    os.fork()
elif os.fork() == 0:
    os.fork()
os.write(1, b"spinning\\n")
while True:
    pass
"""
"""Five processes in three generations, none of which ever rests."""

HOLDING = """
import mmap, os, sys
print("begun", flush=True)
held = []
for line in sys.stdin:
    kind, size = line.split()
    if kind == "anon":
        held.append(b"x" * int(size))
    elif kind == "shmem":
        held.append(mmap.mmap(-1, int(size)))
        held[-1].write(b"x" * int(size))
    elif os.fork() == 0:  # the name of a file: a child reads it, and ends
        file = os.open(kind, os.O_RDONLY)
        if size == "cold":
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        while os.read(file, 1 << 20):
            pass
        os._exit(0)
    else:
        os.wait()
    print("done", flush=True)
"""
"""Takes memory, or reads a file through a child, as it is told by lines."""

CACHING = """
import sys
import numpy as np
from profiler.loading.minio_cache import SharedMinioCache
from traces.errors import BadInputError
cache = SharedMinioCache(np.full(512, 2**20), 0, seed=1)
print("begun", flush=True)
for line in sys.stdin:
    try:
        cache.resize(int(line.split()[1]))
        print("holds", cache.held_bytes, flush=True)
    except BadInputError as error:
        print(error, flush=True)
"""
"""Makes its cache as large as it is told by lines, and says so."""

UNPRIVILEGED = """
import json, subprocess, sys
from profiler.allocation import Allocation
from profiler.limits.evidence import EvidenceSampler
from profiler.limits.point_limits import PointLimits, limits_for_training

spinning = "print('spinning', flush=True)\\nwhile True: pass"
with PointLimits("unprivileged", limits_for_training()) as limits:
    command = limits.command_within((sys.executable, "-c", spinning))
    with subprocess.Popen(command, stdout=subprocess.PIPE) as training:
        training.stdout.readline()
        limits.watch(training.pid)
        enforced = limits.set(Allocation(0.5, 0), 2**40)
        sampler = EvidenceSampler(limits)
        sampler.begin()
        try:
            training.wait(0.5)
        except subprocess.TimeoutExpired:
            pass
        evidence = sampler.end()
        limits.kill()
print(json.dumps([enforced.to_document(), evidence.to_document()]))
"""
"""A point with half a CPU, and what it says of it."""


@pytest.fixture
def limits() -> Iterator[PointLimits]:
    with PointLimits(RUN_ID, AVAILABLE) as made:
        yield made
    assert not cgroups(RUN_ID)


@contextlib.contextmanager
def training(limits: PointLimits, script: str) -> Iterator[subprocess.Popen[str]]:
    """``script`` in the group of ``limits``; ended afterwards with all that it started."""
    command = limits.command_within((sys.executable, "-c", script))
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            limits.watch(process.pid)
            yield process
        finally:
            limits.kill()


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def told(process: subprocess.Popen[str], *words: object) -> str:
    """What it answers."""
    assert process.stdin is not None
    process.stdin.write(" ".join(map(str, words)) + "\n")
    process.stdin.flush()
    return line_of(process)


def measured(limits: PointLimits, duration_s: float) -> PointEvidence:
    sampler = EvidenceSampler(limits)
    sampler.begin()
    time.sleep(duration_s)
    return sampler.end()


def of(value: float | None) -> float:
    """What this kernel is known to tell."""
    assert value is not None
    return value


def check_share(evidence: PointEvidence, cpus: float, quota_s: float) -> None:
    """However busy the box is: no more than ``cpus``, and all of it in throttled periods."""
    used_s = of(evidence.cpu.used_s)
    assert used_s <= cpus * evidence.elapsed_s * (1 + SHARE_ERROR) + OVERSHOOT_S
    throttled = of(evidence.cpu.throttled_periods)
    assert used_s >= throttled * quota_s * (1 - SHARE_ERROR) - OVERSHOOT_S


def test_half_a_core_is_what_a_family_gets(limits: PointLimits) -> None:
    with training(limits, SPINNING) as first:
        assert [line_of(first) for _ in range(5)] == ["spinning"] * 5
        assert len(limits.processes()) == 5
        enforced = limits.set(Allocation(0.5, 0))
        assert (enforced.cpus, enforced.cpu_list) == (0.5, str(CPUS[0]))
        assert enforced.cpus_by == "cgroup"
        assert enforced.unenforced == ()
        time.sleep(0.2)
        evidence = measured(limits, 2.0)
    check_share(evidence, 0.5, of(enforced.quota_us) / 1e6)
    assert of(evidence.cpu.throttled_periods) > 0
    assert of(evidence.cpu.throttled_s) > 0
    assert evidence.cpu.used_by == "cgroup"
    assert evidence.cpu.cpus_allowed == str(CPUS[0])
    assert evidence.memory.processes == 5
    if evidence.pressure.scope == "group":
        assert evidence.pressure.stalled["cpu"].some_s > 0


def test_an_allocation_is_changed_while_they_run(limits: PointLimits) -> None:
    with training(limits, SPINNING) as first:
        line_of(first)
        for cpus in (0.25, 1.0, 0.5, float(len(CPUS))):
            enforced = limits.set(Allocation(cpus, 0))
            assert enforced.cpus == cpus
            time.sleep(0.1)
            evidence = measured(limits, 0.5)
            if cpus < 1:
                check_share(evidence, cpus, of(enforced.quota_us) / 1e6)
            else:
                assert enforced.quota_us is None, "whole CPUs need none, and its unrest neither"
                assert evidence.cpu.throttled_periods == 0
                check_share(evidence, cpus, 0.0)
            assert {len(os.sched_getaffinity(pid)) for pid in limits.processes()} == {
                max(round(cpus), 1)
            }


def test_a_quota_above_is_told(limits: PointLimits) -> None:
    place = place_with(limits.places, "cpu")
    assert place is not None
    above = LimitedGroup((replace(place, path=place.path.parent),), {})
    above.set(cpu_cores=0.5)
    try:
        enforced = limits.set(Allocation(0.75, 0))
        assert (enforced.cpus, enforced.quota_us) == (0.5, None)
        (clause,) = enforced.unenforced
        assert "a quota above leaves 0.5 CPUs" in clause
        lower = limits.set(Allocation(0.25, 0))
        assert (lower.cpus, lower.unenforced) == (0.25, ())
    finally:
        limits.set(Allocation(1.0, 0))
        above.set()


def test_cpus_without_a_cpuset_are_kept_by_affinity() -> None:
    places = [replace(one, controllers=one.controllers - {"cpuset"}) for one in AVAILABLE.places]
    partly = AvailableLimits(tuple(places), {"cpuset": "get one"})
    with PointLimits(RUN_ID, partly) as limits, training(limits, SPINNING) as first:
        line_of(first)
        enforced = limits.set(Allocation(0.5, 0))
        assert (enforced.cpus, enforced.cpus_by) == (0.5, "affinity")
        evidence = measured(limits, 0.5)
        check_share(evidence, 0.5, of(enforced.quota_us) / 1e6)
        assert evidence.cpu.cpus_allowed == str(CPUS[0])
        assert evidence.cpu.threads_put_back is not None


def test_a_user_without_rights_gets_whole_cpus_and_is_told() -> None:
    command = (sys.executable, "-c", UNPRIVILEGED)
    reason = why_not(sys.executable, "--version")
    if reason is not None:
        pytest.skip(f"another user cannot run {sys.executable}: {reason}")
    with directory_of_user() as home:
        done = subprocess.run(
            as_user(*command),
            capture_output=True,
            text=True,
            check=False,
            cwd=home,
            env=environment_of_user(home, **{STATE_DIRECTORY_VARIABLE: str(home / "state")}),
        )
    assert done.returncode == 0, done.stderr
    enforced, evidence = json.loads(done.stdout)
    assert (enforced["cpus"], enforced["cpus_by"]) == (1, "affinity")
    rounded, unguarded = enforced["unenforced"]
    assert "rounded up to 1" in rounded
    assert "memory is not guarded" in unguarded
    assert evidence["cpu"]["cpus_allowed"] == enforced["cpu_list"]
    assert evidence["cpu"]["used_by"] == "/proc/PID/stat"
    assert 0 < evidence["cpu"]["used_s"] <= evidence["elapsed_s"] * (1 + SHARE_ERROR)
    assert evidence["memory"]["proportional"]["pss_bytes"] > 0
    assert evidence["storage_read_bytes"] is not None
    assert "sudo" in evidence["missing"]["cpu.throttled_s"]


def test_memory_is_told_apart_and_storage_is_counted(limits: PointLimits, tmp_path: Path) -> None:
    stored = tmp_path / "data"
    with stored.open("wb") as file:
        file.write(os.urandom(16 * MIB))
        os.fsync(file.fileno())
    with training(limits, HOLDING) as first:
        assert line_of(first) == "begun"
        sampler = EvidenceSampler(limits)
        sampler.begin()
        assert told(first, "anon", 64 * MIB) == "done"
        assert told(first, "shmem", 32 * MIB) == "done"
        assert told(first, stored, "cold") == "done"
        cold = sampler.end()
        sampler.begin()
        assert told(first, stored, "warm") == "done"
        warm = sampler.end()
    charged, proportional = cold.memory.charged, cold.memory.proportional
    assert charged is not None
    assert proportional is not None
    assert 64 * MIB < charged.anon_bytes < 80 * MIB
    assert 32 * MIB <= charged.shmem_bytes < 36 * MIB
    assert 16 * MIB <= charged.file_bytes < 48 * MIB
    assert of(cold.memory.highest_held_bytes) >= charged.held_bytes > 96 * MIB
    assert of(proportional.anon_bytes) > 64 * MIB
    assert of(proportional.shmem_bytes) >= 32 * MIB
    assert 16 * MIB <= of(cold.storage_read_bytes) < 20 * MIB
    assert of(warm.storage_read_bytes) < MIB
    assert cold.memory.oom_kills == 0


def test_the_guard_is_put_where_it_fits_and_ends_who_goes_beyond(limits: PointLimits) -> None:
    with training(limits, HOLDING) as first:
        assert line_of(first) == "begun"
        assert told(first, "anon", 64 * MIB) == "done"
        small = limits.set(Allocation(1.0, 0), 32 * MIB)
        assert small.memory_guard_bytes is None
        assert "memory is not guarded" in small.unenforced[0]
        assert told(first, "anon", MIB) == "done"
        guarded = limits.set(Allocation(1.0, 0), 128 * MIB + 5)
        assert (guarded.memory_guard_bytes, guarded.unenforced) == (128 * MIB, ())
        sampler = EvidenceSampler(limits)
        sampler.begin()
        assert told(first, "anon", 256 * MIB) == ""
        assert first.wait() == -signal.SIGKILL
        assert sampler.end().memory.oom_kills == 1
        assert limits.set(Allocation(1.0, 0)).memory_guard_bytes is None
    with training(limits, HOLDING) as second:  # and the profile goes on
        assert line_of(second) == "begun"


def test_a_cache_fits_the_memory_of_its_group(limits: PointLimits) -> None:
    limits.set(Allocation(1.0, 0), 256 * MIB)
    with training(limits, CACHING) as first:
        assert line_of(first) == "begun"
        assert told(first, "resize", 64 * MIB) == f"holds {64 * MIB}"
        refused = told(first, "resize", 512 * MIB)
        assert "does not fit the memory that can be taken here; allowed: up to " in refused
        allowed_bytes = int(refused.rsplit(" ", 2)[1])
        assert 64 * MIB <= allowed_bytes < 256 * MIB
        assert told(first, "resize", 96 * MIB) == f"holds {96 * MIB}", "as it was before"
        limits.set(Allocation(1.0, 0))
        assert told(first, "resize", 512 * MIB) == f"holds {512 * MIB}", "without a limit"


def test_two_profiles_do_not_share_an_id_and_the_second_harms_nothing(limits: PointLimits) -> None:
    with pytest.raises(EmulationError, match="in use"):
        PointLimits(RUN_ID, AVAILABLE)
    assert all(place.path.is_dir() for place in limits.places)


def test_clean_ends_the_training_of_a_killed_profiler(state_directory: Path) -> None:
    reading, writing = os.pipe()
    owner = os.fork()
    if owner == 0:
        try:
            made = PointLimits(RUN_ID, AVAILABLE)
            made.set(Allocation(0.5, 0), 512 * MIB)
            command = made.command_within((sys.executable, "-c", SPINNING))
            subprocess.Popen(command, stdout=writing)
            wait_until(lambda: len(made.processes()) == 5, "the family")
            os.write(writing, b"started\n")
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    os.close(writing)
    assert os.waitstatus_to_exitcode(os.waitpid(owner, 0)[1]) == -signal.SIGKILL
    assert len(cgroups(RUN_ID)) == len(AVAILABLE.places)
    done = roundelay("clean", "--json")
    assert done.returncode == 0, done.stderr
    (cleaned,) = json.loads(done.stdout)["runs"]
    assert len(cleaned["cgroups"]) == len(AVAILABLE.places)
    # All five held the pipe open: its end means that they are gone.
    while os.read(reading, 4096):
        pass
    os.close(reading)
    assert leftovers(RUN_ID, state_directory) == NOTHING
