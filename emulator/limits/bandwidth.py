"""How a share of the box's cores becomes a quota of CPU time per period. Pure.

(Kernel documentation: scheduler/sched-bwc.rst.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_LEAST_QUOTA_US = 1_000  # kernel/sched/core.c: min_cfs_quota_period
_LONGEST_PERIOD_US = 1_000_000  # kernel/sched/core.c: max_cfs_quota_period
# The kernel hands CPU time to a processor 5 ms at a time, and a scheduler tick may be 4 ms long: a
# shorter period makes work, and iteration times no steadier.
_SHORTEST_PERIOD_US = 5_000
LEAST_CORES = _LEAST_QUOTA_US / _LONGEST_PERIOD_US


@dataclass(frozen=True)
class CpuBandwidth:
    """``quota_us`` of CPU time, summed over all cores, in each period of ``period_us``."""

    quota_us: int
    period_us: int

    @property
    def cores(self) -> float:
        """The share that the kernel keeps: the one asked for, to a two-thousandth."""
        return self.quota_us / self.period_us


def cpu_bandwidth(cores: float) -> CpuBandwidth:
    """The shortest period whose quota the kernel takes, since long ones stretch single iterations.

    cores: of this box, such as 0.0125 or 1.5. ValueError below LEAST_CORES, or where not finite.
    """
    if not math.isfinite(cores) or cores < LEAST_CORES:
        raise ValueError(f"{cores} cores cannot be kept; the least is {LEAST_CORES}")
    period_us = min(
        max(_SHORTEST_PERIOD_US, math.ceil(_LEAST_QUOTA_US / cores)), _LONGEST_PERIOD_US
    )
    return CpuBandwidth(max(_LEAST_QUOTA_US, round(cores * period_us)), period_us)
