"""A rate and its confidence interval from transfers that overlap. Pure.

The time is cut into blocks; the means of blocks are as good as independent, so Student's t gives
the interval of the mean of all. (Law, Simulation Modeling and Analysis, on batch means.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from profiler.limits.transfers import Transfers

_BLOCKS = 20
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Rate:
    """Bytes a second, and the 95 % interval of it."""

    bytes_per_s: float
    interval_bytes_per_s: tuple[float, float]


def rate_of(transfers: Transfers, from_s: float, until_s: float) -> Rate:
    """The rate between ``from_s`` and ``until_s``. What a transfer moves counts evenly over its
    time, also where it ends after ``until_s``.

    ValueError where there is no time.
    """
    if not until_s > from_s:
        raise ValueError("a rate needs some time")
    lasting_s = np.maximum(transfers.ended_s - transfers.begun_s, 1e-9)
    edges_s = np.linspace(from_s, until_s, _BLOCKS + 1)
    shares = [np.clip((edge_s - transfers.begun_s) / lasting_s, 0, 1) for edge_s in edges_s]
    moved_bytes = np.array([transfers.moved_bytes @ share for share in shares])
    rates = np.diff(moved_bytes) / np.diff(edges_s)
    mean = float(rates.mean())
    quantile = float(stdtrit(_BLOCKS - 1, (1 + _CONFIDENCE) / 2))
    half_width = quantile * float(rates.std(ddof=1)) / math.sqrt(_BLOCKS)
    return Rate(mean, (max(mean - half_width, 0.0), mean + half_width))
