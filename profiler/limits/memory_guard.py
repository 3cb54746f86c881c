"""The memory limit that a training process is guarded by. Pure.

It is no knob: what a point gives the training is the size of its cache. The guard ends a process
that takes far more than it did before, instead of having the machine run out of memory.
"""

from __future__ import annotations

_MARGIN_SHARE = 0.25
_LEAST_MARGIN_BYTES = 512 * 2**20
"""Buffers of a framework and a loader's batches come and go in pieces of this order."""


def memory_guard_bytes(baseline_bytes: int, cache_bytes: int) -> int:
    """The limit for a point whose cache may hold ``cache_bytes``.

    baseline_bytes: what the processes held without their cache (anonymous and shared memory) at the
    allocation with the most CPUs, whose loader has the most workers.
    """
    margin_bytes = max(round(baseline_bytes * _MARGIN_SHARE), _LEAST_MARGIN_BYTES)
    return baseline_bytes + cache_bytes + margin_bytes
