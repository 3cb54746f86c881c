"""GPUs in use over time, from leases in any order, without holding or sorting them. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from harness.report.thinning import MAX_POINTS, Floats


@dataclass(frozen=True)
class Occupancy:
    """GPUs in use. edges_s: (points + 1,); gpus: (points,), the mean from one edge to the next.

    rounds: that a point stands for.
    """

    edges_s: Floats
    gpus: Floats
    rounds: int


class OccupancyBins:
    """Adds up leases into stretches of as many rounds as keep a figure light.

    The GPU time up to an edge is the sum, over all changes before it, of the change times the time
    since; so that sums of the changes, and of the changes times their times, are all it takes.
    """

    def __init__(self, end_s: float, round_s: float) -> None:
        rounds = max(math.ceil(end_s / round_s - 1e-9), 1)
        self._rounds = math.ceil(rounds / MAX_POINTS)
        self._bin_s = self._rounds * round_s
        self._count = math.ceil(rounds / self._rounds)
        self._end_s = max(end_s, round_s)
        self._change = np.zeros(self._count + 1)
        self._moment = np.zeros(self._count + 1)

    def add(self, from_s: Floats, until_s: Floats, gpus: Floats) -> None:
        """Leases, (leases,) each, in any order."""
        for at_s, change in ((from_s, gpus), (until_s, -gpus)):
            # A lease that ends with the run changes nothing before its end.
            bins = np.minimum((at_s / self._bin_s).astype(np.int64), self._count)
            size = self._count + 1
            self._change += np.bincount(bins, change, size)
            self._moment += np.bincount(bins, change * at_s, size)

    def occupancy(self) -> Occupancy:
        """What has been added so far."""
        edges_s = np.minimum(np.arange(self._count + 1) * self._bin_s, self._end_s)
        before = np.concatenate(([0.0], np.cumsum(self._change)[:-1]))
        moment_before = np.concatenate(([0.0], np.cumsum(self._moment)[:-1]))
        gpu_s = edges_s * before - moment_before
        gpus = np.diff(gpu_s) / np.diff(edges_s)
        return Occupancy(edges_s, np.maximum(gpus, 0.0), self._rounds)
