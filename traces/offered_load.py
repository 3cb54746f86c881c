"""The load that a trace offers: the GPUs that its jobs would hold if none of them waited. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OfferedLoad:
    """GPUs in use as a step function.

    at_s: shape (steps,), ascending. gpus: shape (steps,), in use from ``at_s`` to the next; the
    last is 0.
    """

    at_s: Floats
    gpus: Floats

    @property
    def peak_gpus(self) -> float:
        return float(self.gpus.max())

    def means(self, edges_s: Floats) -> Floats:
        """Mean GPUs in use between ``edges_s``, shape (n,), ascending. Returns shape (n - 1,)."""
        held_s = np.concatenate(([0.0], np.cumsum(self.gpus[:-1] * np.diff(self.at_s))))
        return np.diff(np.interp(edges_s, self.at_s, held_s)) / np.diff(edges_s)


def offered_load(submit_s: Floats, run_s: Floats, num_gpus: Floats) -> OfferedLoad:
    """The load of one job or more that start when they are submitted. All of shape (jobs,)."""
    at_s = np.concatenate((submit_s, submit_s + run_s))
    order = np.argsort(at_s, kind="stable")
    gpus = np.cumsum(np.concatenate((num_gpus, -num_gpus))[order])
    last_of_instant = np.append(np.diff(at_s[order]) > 0, True)
    return OfferedLoad(at_s[order][last_of_instant], gpus[last_of_instant])
