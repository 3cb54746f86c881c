"""The load of ports in equal stretches of time, summed up while a simulation runs. Pure."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np

from harness.job_table import Floats
from harness.simulation.fluid import RateSegment
from traces.cluster import Port


class SampledLoads:
    """Bits that each job sent at each port, by stretches of ``interval_s``."""

    def __init__(self, interval_s: float) -> None:
        self.interval_s = interval_s
        self._bits: dict[tuple[Port, str], dict[int, float]] = defaultdict(
            lambda: defaultdict(float)
        )

    def add(self, segment: RateSegment) -> None:
        """Take in one stretch of a constant rate."""
        bits = self._bits[segment.port, segment.job]
        at_s = segment.start_s
        stretch = math.floor(at_s / self.interval_s)
        while at_s < segment.end_s:
            until_s = min((stretch + 1) * self.interval_s, segment.end_s)
            bits[stretch] += (until_s - at_s) * segment.rate_bps
            at_s, stretch = until_s, stretch + 1

    def rates(self) -> dict[tuple[Port, str], tuple[Floats, Floats]]:
        """By port and job: (ends of stretches, mean rates in bit/s).

        The first job of a port has those from 0 to the last of all, so that none of a port's is
        left out; others from their own first to their own last.
        """
        found: dict[tuple[Port, str], tuple[Floats, Floats]] = {}
        last_of_all = max((max(bits) for bits in self._bits.values()), default=0)
        ports: set[Port] = set()
        for key, bits in self._bits.items():
            first, last = min(bits), max(bits)
            if key[0] not in ports:
                ports.add(key[0])
                first, last = 0, last_of_all
            sent = np.array([bits.get(each, 0.0) for each in range(first, last + 1)])
            ends_s = np.arange(first + 1, last + 2, dtype=float) * self.interval_s
            found[key] = (ends_s, sent / self.interval_s)
        return found
