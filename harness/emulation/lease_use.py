"""What jobs were held to and what they used, summed up over each lease."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from emulator.rounds.lease import ServerUse
from harness.leases import EndedLeases
from traces.rounds_results import LEASE_USE

_Value = float | int | None


@dataclass
class _Sums:
    """Over the rounds of a lease. None stays None: what the kernel does not say is not zero."""

    cpus_enforced: float | None = None
    memory_enforced_bytes: float | None = None
    memory_peak_bytes: float | None = None
    cpu_s: float | None = None
    throttled_s: float | None = None
    cpu_demanded_s: float = 0.0
    hits: int = 0
    misses: int = 0

    def add(self, use: ServerUse) -> None:
        self.cpus_enforced = use.enforced_cpus
        self.memory_enforced_bytes = use.enforced_memory_bytes
        peaks = [p for p in (self.memory_peak_bytes, use.peak_memory_bytes) if p is not None]
        self.memory_peak_bytes = max(peaks, default=None)
        self.cpu_s = _plus(self.cpu_s, use.cpu_s)
        self.throttled_s = _plus(self.throttled_s, use.throttled_s)
        self.cpu_demanded_s += use.demanded_cpu_s
        self.hits += use.hits
        self.misses += use.misses


def _plus(sum_s: float | None, more_s: float | None) -> float | None:
    return sum_s if more_s is None else (sum_s or 0.0) + more_s


@dataclass
class LeaseUse:
    """The sums of the leases that run, by row of the JobTable and server."""

    _sums: dict[tuple[int, int], _Sums] = field(default_factory=dict)

    def add(self, row: int, uses: Sequence[ServerUse]) -> None:
        """What the job in ``row`` used in a round."""
        for use in uses:
            self._sums.setdefault((row, use.server), _Sums()).add(use)

    def take(self, leases: EndedLeases) -> dict[str, list[_Value]]:
        """Columns of LEASE_USE for ``leases``, whose sums end with them."""
        columns: dict[str, list[_Value]] = {name: [] for name in LEASE_USE.names}
        for row, server, from_s, until_s in zip(
            leases.job, leases.server, leases.from_s, leases.until_s, strict=True
        ):
            sums = self._sums.pop((int(row), int(server)), None)
            length_s = float(until_s - from_s)
            used = None if sums is None or sums.cpu_s is None else sums.cpu_s / length_s
            columns["cpus_used"].append(used)
            for name in LEASE_USE.names:
                if name != "cpus_used":
                    columns[name].append(None if sums is None else getattr(sums, name))
        return columns
