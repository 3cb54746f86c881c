"""Iteration times in blocks of consecutive ones: what throughput can be read from. Pure.

A loader's workers deliver in bursts: as many batches as there are workers wait ready, and then
there is none for as long as one takes to prepare. An iteration is therefore either short or very
long, and the median of iterations is the time of a short one, whatever the throughput. Over whole
bursts the mean is what throughput is one over; and over blocks of them, the median of those means
is too, but for blocks in which something else stopped the training.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def block_length(iterations: int, period: int, most_blocks: int) -> int:
    """Iterations of a block: a multiple of ``period``, for at most ``most_blocks`` of them."""
    return period * max(1, -(-iterations // (period * most_blocks)))


def block_means(iteration_s: Floats, length: int) -> Floats:
    """Seconds of an iteration, the mean of each whole block from the first iteration on."""
    blocks = len(iteration_s) // length
    means: Floats = iteration_s[: blocks * length].reshape(blocks, length).mean(axis=1)
    return means


def robust_deviation(values: Floats) -> float:
    """The standard deviation, by the median absolute one: some outliers do not change it."""
    return 1.4826 * float(np.median(np.abs(values - np.median(values))))
