"""Time of the emulated cluster, which passes in rounds only, and the clock on the wall. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass
class RoundClock:
    """When each round passed. stride: how many times faster the cluster's time is."""

    stride: float
    _wall_s: list[float] = field(default_factory=list)
    _cluster_s: list[float] = field(default_factory=list)

    def add(self, start_s: float, resume_s: float, wall_s: float) -> None:
        """A round that began at ``start_s`` of the cluster, on the wall at ``resume_s``, and lasted
        ``wall_s`` there."""
        self._wall_s += (resume_s, resume_s + wall_s)
        self._cluster_s += (start_s, start_s + wall_s * self.stride)

    def passed_s(self, wall_s: Floats) -> Floats:
        """Time on the wall that rounds took, until each moment of ``wall_s``; the same shape.

        Between two rounds it stands still.
        """
        if not self._wall_s:
            return np.zeros(wall_s.shape)
        passed = np.zeros(len(self._wall_s))
        passed[1::2] = np.diff(self._wall_s)[::2]
        return np.asarray(np.interp(wall_s, self._wall_s, np.cumsum(passed)))

    def cluster_s(self, wall_s: Floats) -> Floats:
        """Time of the cluster at each moment of ``wall_s``; the same shape.

        Between two rounds it is the end of the first, whenever the second begins.
        """
        if not self._wall_s:
            return np.zeros(wall_s.shape)
        last = np.clip(np.searchsorted(self._wall_s, wall_s, side="right") - 1, 0, None) // 2 * 2
        into_s = np.clip(wall_s - np.take(self._wall_s, last), 0.0, None)
        length_s = np.take(self._wall_s, last + 1) - np.take(self._wall_s, last)
        start_s: Floats = np.take(self._cluster_s, last)
        return np.asarray(start_s + np.minimum(into_s, length_s) * self.stride)
