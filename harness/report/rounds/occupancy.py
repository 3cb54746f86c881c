"""What leases hold over time, from leases in any order, without keeping or sorting them. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from harness.report.thinning import MAX_POINTS, Floats


@dataclass(frozen=True)
class Occupancy:
    """GPUs, CPUs or bytes that leases hold: the mean from one edge to the next.

    edges_s: (points + 1,); held: (points,). rounds: that a point stands for.
    """

    edges_s: Floats
    held: Floats
    rounds: int

    @property
    def mean(self) -> float:
        """Over the whole run."""
        return float(np.average(self.held, weights=np.diff(self.edges_s)))


class OccupancyBins:
    """Adds up leases into stretches of as many rounds as keep a figure light.

    The GPU time up to an edge, for one, is the sum, over all changes before it, of the change times
    the time since; so that sums of the changes, and of the changes times their times, are all it
    takes.
    """

    def __init__(self, end_s: float, round_s: float, at_most: int = MAX_POINTS) -> None:
        rounds = max(math.ceil(end_s / round_s - 1e-9), 1)
        self._rounds = math.ceil(rounds / at_most)
        self._bin_s = self._rounds * round_s
        self._count = math.ceil(rounds / self._rounds)
        self._end_s = max(end_s, round_s)
        self._change = np.zeros(self._count + 1)
        self._moment = np.zeros(self._count + 1)

    def add(self, from_s: Floats, until_s: Floats, amount: Floats) -> None:
        """Leases, (leases,) each, in any order, and how much each holds."""
        for at_s, change in ((from_s, amount), (until_s, -amount)):
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
        held_s = edges_s * before - moment_before
        held = np.diff(held_s) / np.diff(edges_s)
        return Occupancy(edges_s, np.maximum(held, 0.0), self._rounds)
