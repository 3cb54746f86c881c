"""Limits on CPU, CPUs and memory, kept by this machine's kernel."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import emulator.limits.run_groups
from emulator.cgroups import create_group, own_hierarchies, processes_in
from emulator.clean import clean_run
from emulator.limits.available import LIMITS, AvailableLimits, Place, limits_available
from emulator.limits.bandwidth import cpu_bandwidth
from emulator.limits.cpu_list import parse_cpu_list
from emulator.limits.limited_group import LimitedGroup
from emulator.limits.run_groups import RunGroups
from emulator.limits.settings import PAGE_BYTES
from emulator.limits.usage import Usage
from netshaper.run_state import RunState, all_states, load_state
from tests.kernel.command import roundelay, wait_until
from tests.kernel.limited_processes import end_of, holding_memory, sleeping, spinning
from tests.kernel.machine import cgroups, leftovers
from traces.errors import EmulationError, MissingCapabilityError

RUN_ID = "t3stlimit"
MIB = 2**20
AVAILABLE = limits_available(own_hierarchies())
NOTHING: dict[str, object] = {"namespaces": [], "cgroups": [], "processes": [], "files": []}
SHARE_ERROR = 0.05
OVERSHOOT_S = 0.01  # two scheduler ticks, which a process may go on at the end of its quota

pytestmark = pytest.mark.skipif(
    bool(AVAILABLE.missing), reason=f"limits are missing here: {AVAILABLE.missing}"
)


@pytest.fixture
def run_groups() -> Iterator[RunGroups]:
    state = RunState.create(RUN_ID)
    try:
        yield RunGroups.create(state, AVAILABLE)
    finally:
        clean_run(state)
        assert not cgroups(RUN_ID)


@pytest.fixture
def group(run_groups: RunGroups) -> LimitedGroup:
    return run_groups.create_group("server0-one")


def of(value: float | None) -> float:
    """What this kernel is known to tell."""
    assert value is not None
    return value


def spin_within(group: LimitedGroup, cores: float, duration_s: float) -> tuple[Usage, Usage]:
    """Two children that never rest get ``cores`` between them; the usage before and after.

    However busy the box is: no more than that, and all of it in the periods that ended throttled.
    """
    group.set(cpu_cores=cores)
    children = [spinning(group.paths) for _ in range(2)]
    try:
        time.sleep(0.2)
        begun_s, before = time.monotonic(), group.usage()
        time.sleep(duration_s)
        after, elapsed_s = group.usage(), time.monotonic() - begun_s
    finally:
        group.kill()
        assert [end_of(child) for child in children] == [-signal.SIGKILL] * 2
    used_s = of(after.cpu_s) - of(before.cpu_s)
    throttled = of(after.throttled_periods) - of(before.throttled_periods)
    quota_s = cpu_bandwidth(cores).quota_us / 1e6
    assert used_s <= cores * elapsed_s * (1 + SHARE_ERROR) + OVERSHOOT_S
    assert used_s >= throttled * quota_s * (1 - SHARE_ERROR) - OVERSHOOT_S
    assert throttled <= of(after.periods) - of(before.periods)
    return before, after


@pytest.mark.parametrize(("cores", "duration_s"), [(0.02, 4.0), (0.25, 2.0), (1.0, 2.0)])
def test_a_share_of_the_cores_is_kept(group: LimitedGroup, cores: float, duration_s: float) -> None:
    spin_within(group, cores, duration_s)


def test_periods_that_used_their_quota_up_are_counted(group: LimitedGroup) -> None:
    before, after = spin_within(group, 0.02, 1.0)  # so little is used up on the busiest box
    assert of(after.throttled_periods) > of(before.throttled_periods)
    assert of(after.throttled_s) > of(before.throttled_s)


def test_a_share_is_changed_in_place(group: LimitedGroup) -> None:
    for cores in (0.5, 0.05, 0.25):
        spin_within(group, cores, 1.0)
    group.set()
    child = spinning(group.paths)
    before = group.usage()
    time.sleep(0.3)
    assert group.usage().throttled_periods == before.throttled_periods
    group.kill()
    end_of(child)


def test_processes_run_on_the_cpus_they_are_given(group: LimitedGroup) -> None:
    child = sleeping(group.paths)
    before = os.sched_getaffinity(child)
    chosen = frozenset({max(before)})
    group.set(cpus=chosen)
    assert os.sched_getaffinity(child) == chosen
    group.set()
    assert os.sched_getaffinity(child) == before
    group.kill()
    end_of(child)


def test_cpus_that_this_box_lacks_are_refused(group: LimitedGroup) -> None:
    possible = parse_cpu_list(Path("/sys/devices/system/cpu/possible").read_text())
    with pytest.raises(EmulationError, match=r"cpuset\.cpus"):
        group.set(cpus=frozenset({0, max(possible) + 1}))


def test_whoever_exceeds_the_memory_is_ended_and_counted(run_groups: RunGroups) -> None:
    small, other = (run_groups.create_group(name) for name in ("small", "other"))
    small.set(memory_bytes=32 * MIB + 5)
    other.set(memory_bytes=128 * MIB)
    modest = holding_memory(other.paths, 64 * MIB)
    greedy = holding_memory(small.paths, 64 * MIB)
    assert end_of(greedy) == -signal.SIGKILL
    used = small.usage()
    assert used.oom_kills == 1
    assert 31 * MIB < of(used.memory_peak_bytes) <= 32 * MIB
    wait_until(lambda: of(other.usage().memory_bytes) > 64 * MIB, "the other to take its memory")
    assert other.usage().oom_kills == 0
    assert processes_in(other.paths[0]) == [modest]
    run_groups.create_group("third").remove()  # and the run goes on
    other.remove()
    assert end_of(modest) == -signal.SIGKILL


def test_memory_is_raised_in_place(group: LimitedGroup) -> None:
    group.set(memory_bytes=32 * MIB)
    group.set(memory_bytes=96 * MIB)
    child = holding_memory(group.paths, 64 * MIB)
    wait_until(lambda: of(group.usage().memory_bytes) > 64 * MIB, "the child to take its memory")
    group.set(memory_bytes=80 * MIB)
    assert group.usage().oom_kills == 0
    group.set()
    assert processes_in(group.paths[0]) == [child]
    group.kill()
    end_of(child)


@pytest.mark.skipif(
    any(place.version == 2 and "memory" in place.controllers for place in AVAILABLE.places),
    reason="v2 takes a limit below the memory in use",
)
def test_v1_refuses_less_memory_than_is_in_use(group: LimitedGroup) -> None:
    child = holding_memory(group.paths, 64 * MIB)
    wait_until(lambda: of(group.usage().memory_bytes) > 64 * MIB, "the child to take its memory")
    with pytest.raises(EmulationError, match="cannot be reclaimed"):
        group.set(memory_bytes=8 * MIB)
    assert processes_in(group.paths[0]) == [child]
    group.kill()
    end_of(child)


def test_less_than_the_kernel_keeps_is_refused(group: LimitedGroup) -> None:
    with pytest.raises(ValueError, match="cannot be kept"):
        group.set(cpu_cores=0.0005)
    with pytest.raises(ValueError, match="less than a page"):
        group.set(memory_bytes=PAGE_BYTES - 1)


def test_a_limit_that_is_missing_is_refused_and_its_absence_is_not() -> None:
    state = RunState.create(RUN_ID)
    try:
        held = AVAILABLE.places[0]
        none = AvailableLimits(
            (Place(held.path, held.version, frozenset()),), dict.fromkeys(LIMITS, "get one")
        )
        group = RunGroups.create(state, none).create_group("one")
        group.set()
        for limit in ({"cpu_cores": 0.5}, {"memory_bytes": MIB}, {"cpus": frozenset({0})}):
            with pytest.raises(MissingCapabilityError, match="get one"):
                group.set(**limit)  # type: ignore[arg-type]
    finally:
        clean_run(state)


@pytest.mark.parametrize("name", ["", "..", "a/b", ".hidden", "a" * 129, "a\n"])
def test_a_name_that_is_no_name_makes_nothing(run_groups: RunGroups, name: str) -> None:
    with pytest.raises(ValueError, match="name of a group"):
        run_groups.create_group(name)


def test_killing_and_removing_leave_others_alone(run_groups: RunGroups) -> None:
    stranger = sleeping(())
    one, two = (run_groups.create_group(name) for name in ("one", "two"))
    children = [sleeping(one.paths), sleeping(one.paths)]
    neighbour = sleeping(two.paths)
    one.kill()
    assert [end_of(child) for child in children] == [-signal.SIGKILL] * 2
    assert all(path.is_dir() for path in one.paths)
    one.remove()
    one.remove()  # gone already is fine
    assert not any(path.exists() for path in one.paths)
    assert processes_in(two.paths[0]) == [neighbour]
    two.remove()
    assert end_of(neighbour) == -signal.SIGKILL
    assert os.waitpid(stranger, os.WNOHANG) == (0, 0)
    os.kill(stranger, signal.SIGKILL)
    end_of(stranger)


def test_clean_removes_all_groups_of_a_killed_owner(state_directory: Path) -> None:
    reading, writing = os.pipe()
    owner = os.fork()
    if owner == 0:
        try:
            made = RunGroups.create(RunState.create(RUN_ID), AVAILABLE).create_group("one")
            made.set(cpu_cores=0.1, memory_bytes=32 * MIB)
            os.write(writing, str(sleeping(made.paths)).encode())
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    os.close(writing)
    assert end_of(owner) == -signal.SIGKILL
    orphan = int(os.read(reading, 20))
    os.close(reading)
    assert Path(f"/proc/{orphan}").exists()
    assert len(cgroups(RUN_ID)) == len(AVAILABLE.places)
    done = roundelay("clean", "--json")
    assert done.returncode == 0, done.stderr
    (cleaned,) = json.loads(done.stdout)["runs"]
    assert len(cleaned["cgroups"]) == len(AVAILABLE.places)
    assert leftovers(RUN_ID, state_directory) == NOTHING
    wait_until(lambda: not _runs(orphan), "the orphan to end")


def _runs(pid: int) -> bool:
    """Whether ``pid`` is more than an ended process that nobody has waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_kill_after_any_group_is_made_leaves_nothing_after_clean(
    state_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in AVAILABLE.places:

        def make(path: Path, last: Path = place.path) -> None:
            create_group(path)
            if path.parent == last:
                os.kill(os.getpid(), signal.SIGKILL)

        monkeypatch.setattr(emulator.limits.run_groups, "create_group", make)
        owner = os.fork()
        if owner == 0:
            try:
                RunGroups.create(RunState.create(RUN_ID), AVAILABLE)
            finally:
                os._exit(1)
        assert end_of(owner) == -signal.SIGKILL
        assert cgroups(RUN_ID)
        clean_run(load_state(state_directory / RUN_ID))
        assert leftovers(RUN_ID, state_directory) == NOTHING
    assert not list(all_states())


def test_what_the_kernel_tells_is_told(group: LimitedGroup) -> None:
    assert None not in vars(group.usage()).values()
    assert isinstance(group.usage(), Usage)
