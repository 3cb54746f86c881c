"""Holds a training process, and all that it starts, to the allocation of a point.

By cgroup where this process may make one, otherwise by affinity, which needs no privilege and keeps
whole CPUs only.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType

from emulator.cgroups import own_hierarchies, processes_in
from emulator.clean import clean_run
from emulator.interrupt import interrupts_ignored
from emulator.limits.available import LIMITS, AvailableLimits, Place, limits_available
from emulator.limits.bandwidth import LEAST_CORES
from emulator.limits.cpu_list import format_cpu_list
from emulator.limits.limited_group import LimitedGroup
from emulator.limits.run_groups import RunGroups
from emulator.limits.usage import Usage
from netshaper.rootless import is_rootless
from netshaper.run_state import RunState, state_root
from profiler.allocation import Allocation
from profiler.limits.affinity import AffinityKeeper
from profiler.limits.enforced import Enforced
from profiler.limits.enter import entering
from profiler.limits.group_files import (
    cpus_of,
    least_quota_cpus,
    memory_limit_of,
    memory_split_of,
    quota_of,
    seen_from,
)
from profiler.limits.process_tree import ProcessTree
from traces.errors import BadInputError, EmulationError

_GROUP = "training"


def limits_for_training() -> AvailableLimits:
    """What this process may limit here; changes nothing."""
    if is_rootless():
        return _none("run as root outside a user namespace")
    available = limits_available(own_hierarchies())
    place = next(path for path in (state_root(), *state_root().parents) if path.exists())
    if len(available.missing) < len(LIMITS) and not os.access(place, os.W_OK):
        return _none(f"{place} is not writable, where a record of cgroups is kept; use sudo")
    return available


def _none(remedy: str) -> AvailableLimits:
    return AvailableLimits((), dict.fromkeys(LIMITS, remedy))


class PointLimits:
    """Context of one profile's training processes. Leaving it ends them and removes the group.

    Start a process with ``command_within`` and say ``watch``; then ``set`` as often as wanted.
    """

    def __init__(self, run_id: str, available: AvailableLimits) -> None:
        """available: of ``limits_for_training``. EmulationError where another run has ``run_id``,
        or the kernel refuses the group."""
        self.available = available
        self.state: RunState | None = None
        self._group: LimitedGroup | None = None
        self._tree: ProcessTree | None = None
        self._keeper: AffinityKeeper | None = None
        self._cpus = sorted(os.sched_getaffinity(0))
        if len(available.missing) < len(LIMITS):
            self.state = RunState.create(run_id)
            try:
                self._group = RunGroups.create(self.state, available).create_group(_GROUP)
            except BaseException:
                clean_run(self.state)
                raise
        if "cpuset" in available.missing:
            self._keeper = AffinityKeeper(self.processes)

    def __enter__(self) -> PointLimits:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with interrupts_ignored():
            if self._keeper is not None:
                self._keeper.close()
            try:
                self.kill()
            finally:
                if self.state is not None:
                    clean_run(self.state)

    @property
    def keeps_fractions(self) -> bool:
        """Whether a part of a CPU can be kept; otherwise it is rounded up to whole ones."""
        return "cpu" not in self.available.missing

    @property
    def most_cpus(self) -> int:
        """Of which a point can be given some: those that this process may run on itself."""
        return len(self._cpus)

    @property
    def places(self) -> Sequence[Place]:
        """The directories of the group; none where there is no group."""
        return () if self._group is None else self._group.places

    @property
    def threads_put_back(self) -> int | None:
        """Threads that had left their CPUs; None where a cpuset does not let them."""
        return None if self._keeper is None else self._keeper.put_back

    def command_within(self, command: Sequence[str]) -> tuple[str, ...]:
        """The words that run ``command`` in the group from its first instruction on."""
        return entering(() if self._group is None else self._group.paths, command)

    def watch(self, pid: int) -> None:
        """``pid`` is the training process now; where there is a group, it says so itself."""
        if self._group is None:
            self._tree = ProcessTree(pid)

    def processes(self) -> list[int]:
        """Ids of the training process and of all that it started."""
        if self._group is not None:
            return processes_in(self._group.paths[0])
        return [] if self._tree is None else self._tree.processes()

    def usage(self) -> Usage | None:
        """What the group has used; None without a group."""
        return None if self._group is None else self._group.usage()

    def kill(self) -> None:
        """End the training process and all that it started."""
        if self._group is not None:
            self._group.kill()
        elif self._tree is not None:
            self._tree.kill()

    def set(self, allocation: Allocation, memory_guard_bytes: int | None = None) -> Enforced:
        """Give the processes this and no more, while they run; also those that start later.

        CPUs are those of the lowest numbers, as many as the allocation has, rounded up; a quota
        keeps a fraction. The guard (``memory_guard``) belongs in place once a cache has its new
        size: without it before that, for neither may a cache that shrinks be in its way.

        Raises BadInputError for CPUs that this machine cannot give.
        """
        if not LEAST_CORES <= allocation.cpus <= self.most_cpus:
            raise BadInputError(
                f"{allocation.cpus:g} CPUs cannot be given here",
                allowed=f"{LEAST_CORES:g} to {self.most_cpus}, which this process may run on",
            )
        cpus = frozenset(self._cpus[: math.ceil(allocation.cpus)])
        is_fraction = len(cpus) != allocation.cpus
        unenforced = []
        if is_fraction and not self.keeps_fractions:
            remedy = self.available.missing["cpu"]
            unenforced.append(f"{allocation.cpus:g} CPUs were rounded up to {len(cpus)}: {remedy}")
        above_cpus = self._quota_cpus_above()
        # One above that of the group above changes nothing, and v1 refuses it.
        has_quota = is_fraction and self.keeps_fractions and allocation.cpus < above_cpus
        quota_cpus = allocation.cpus if has_quota else None
        unenforced += self._set_group(quota_cpus, cpus, memory_guard_bytes)
        if self._keeper is not None:
            refused = self._keeper.hold(cpus)
            if refused:
                unenforced.append(f"{refused} threads run as another user on other CPUs: use sudo")
        if above_cpus < allocation.cpus:
            unenforced.append(
                f"a quota above leaves {above_cpus:g} CPUs: raise that of the container or session"
            )
        quota = quota_of(self.places)
        in_force = cpus_of(self.places) or cpus
        return Enforced(
            asked=allocation,
            cpus=min(len(in_force), above_cpus, math.inf if quota is None else quota.cores),
            cpu_list=format_cpu_list(in_force),
            cpus_by="cgroup" if self._keeper is None else "affinity",
            quota_us=None if quota is None else quota.quota_us,
            period_us=None if quota is None else quota.period_us,
            memory_guard_bytes=memory_limit_of(self.places),
            unenforced=tuple(unenforced),
        )

    def _quota_cpus_above(self) -> float:
        """What quotas of the groups above leave; infinite without any."""
        parents = [replace(place, path=place.path.parent) for place in self.places]
        least = least_quota_cpus(seen_from(parents, own_hierarchies()))
        return math.inf if least is None else least

    def _set_group(
        self, quota_cpus: float | None, cpus: frozenset[int], guard_bytes: int | None
    ) -> list[str]:
        """What of it is not kept."""
        if "memory" in self.available.missing and guard_bytes is not None:
            remedy = self.available.missing["memory"]
            unguarded = [f"memory is not guarded: {remedy}"]
            guard_bytes = None
        else:
            unguarded = []
        if self._group is None:
            return unguarded
        split = memory_split_of(self._group.places)
        if guard_bytes is not None and split is not None and guard_bytes < split.held_bytes:
            # v1 would refuse, v2 end processes.
            unguarded.append(
                f"memory is not guarded: {split.held_bytes} bytes are held, more than {guard_bytes}"
            )
            guard_bytes = None
        cpuset = None if "cpuset" in self.available.missing else cpus
        try:
            self._group.set(cpu_cores=quota_cpus, memory_bytes=guard_bytes, cpus=cpuset)
        except EmulationError as error:
            if guard_bytes is None:
                raise
            self._group.set(cpu_cores=quota_cpus, memory_bytes=None, cpus=cpuset)
            unguarded.append(f"memory is not guarded: {error}")
        return unguarded
