"""CPUs and memory that this process can have: in a container not all of the machine's."""

from __future__ import annotations

import os

from emulator.cgroups import own_hierarchies
from emulator.memory import available_memory_bytes
from profiler.limits.group_files import least_memory_left, least_quota_cpus


def usable_cpus() -> float:
    """CPU time a second, by the affinity of this process and by the quotas of its group and of
    those above it."""
    by_affinity = float(len(os.sched_getaffinity(0)))
    quota = least_quota_cpus(own_hierarchies())
    return by_affinity if quota is None else min(by_affinity, quota)


def usable_memory_bytes() -> int:
    """What can still be taken: of the machine's memory, and by the limits of its group and of those
    above it."""
    available_bytes = available_memory_bytes()
    left_bytes = least_memory_left(own_hierarchies())
    return available_bytes if left_bytes is None else min(available_bytes, left_bytes)
