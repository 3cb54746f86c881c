"""Which cores of this box belong to one worker alone. Pure.

A quota lets a process run on any core, now here and now there. Where what stands for a worker's
CPUs is whole cores, and so many are free, it gets cores of its own beside its quota.
"""

from __future__ import annotations

import math
from collections.abc import Hashable


class WholeCores:
    """The cores of the box, by number, and who has which."""

    def __init__(self, cores: frozenset[int]) -> None:
        self._cores = cores
        self._held: dict[Hashable, frozenset[int]] = {}

    def hold(self, worker: Hashable, cpu_cores: float) -> frozenset[int] | None:
        """The cores that ``worker`` has from now on; None where it has none of its own.

        It keeps those that it has, as far as it still may; others are the lowest that are free. One
        core at least stays free, for all that has none of its own.
        """
        had = self._held.pop(worker, frozenset())
        wanted = round(cpu_cores)
        if wanted < 1 or not math.isclose(cpu_cores, wanted, rel_tol=1e-6):
            return None
        free = self._cores.difference(*self._held.values())
        if len(free) <= wanted:
            return None
        kept = sorted(free & had)[:wanted]
        more = sorted(free.difference(kept))[: wanted - len(kept)]
        self._held[worker] = frozenset((*kept, *more))
        return self._held[worker]

    def give_back(self, worker: Hashable) -> None:
        """``worker`` has no more cores of its own."""
        self._held.pop(worker, None)
