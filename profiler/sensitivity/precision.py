"""How well a point's iteration time is known, and whether to go on measuring. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiler.sensitivity.blocks import Floats, block_length, block_means

LEAST_BLOCKS = 10
"""From fewer no 95 % interval of their median can be drawn."""

RELATIVE_WIDTH = 0.02

_MOST_BLOCKS = 24
"""Short blocks of long and short iterations are skewed: their median is percents off the mean."""

_RESAMPLES = 2000
_ENDS = (2.5, 97.5)  # percent: of a 95 % interval
_CORRELATED = 2.0  # errors of the correlation of independent blocks, 1 / sqrt(blocks)


@dataclass(frozen=True)
class Estimate:
    """The time of an iteration, one over which is the throughput.

    iteration_s: median over ``blocks`` of the mean of their ``block_iterations`` consecutive
    iterations each (see profiler.sensitivity.blocks). interval_s: of 95 %; where there are fewer
    than LEAST_BLOCKS, the least and the most of the blocks, which is no such interval.
    """

    iteration_s: float
    interval_s: tuple[float, float]
    blocks: int
    block_iterations: int

    @property
    def relative_width(self) -> float:
        """Of the interval; infinite where there are too few blocks for one."""
        if self.blocks < LEAST_BLOCKS:
            return math.inf
        low, high = self.interval_s
        return (high - low) / self.iteration_s


def estimate(iteration_s: NDArray[Any], period: int = 1, seed: int = 0) -> Estimate:
    """From the iterations after the warm-up, shape (iterations), s.

    period: see ``steady_from``. Blocks are of that length or a multiple; they get longer while one
    resembles the one before it, as the bootstrap takes them to be independent. Its resamples are
    drawn from ``seed``. Raises ValueError where there is no iteration.
    """
    times = np.asarray(iteration_s, dtype=np.float64)
    if not len(times):
        raise ValueError("no iteration has no time")
    length = min(block_length(len(times), period, _MOST_BLOCKS), len(times))
    blocks = _latest_blocks(times, length)
    while len(blocks) >= 2 * LEAST_BLOCKS and _are_correlated(blocks):
        length *= 2
        blocks = _latest_blocks(times, length)
    low, high = _interval(blocks, seed)
    return Estimate(float(np.median(blocks)), (low, high), len(blocks), length)


@dataclass(frozen=True)
class Precision:
    """When a point is done. budget_s: the most that it may take; warm-up counts."""

    budget_s: float
    relative_width: float = RELATIVE_WIDTH

    def is_precise(self, estimate: Estimate) -> bool:
        """Whether its interval is narrow enough.

        A point that stops as soon as that is so has an interval which is a little too narrow: the
        chance that it is was tried again with every block.
        """
        return estimate.relative_width <= self.relative_width

    def is_done(self, estimate: Estimate, spent_s: float) -> bool:
        """Whether to leave the point: it is precise, or its budget is spent."""
        return spent_s >= self.budget_s or self.is_precise(estimate)


def _latest_blocks(times: Floats, length: int) -> Floats:
    """What does not fill a block is left out at the beginning, next to the warm-up."""
    return block_means(times[len(times) % length :], length)


def _are_correlated(blocks: Floats) -> bool:
    around = blocks - blocks.mean()
    squares = float(around @ around)
    if squares == 0:
        return False
    return float(around[1:] @ around[:-1]) / squares > _CORRELATED / math.sqrt(len(blocks))


def _interval(blocks: Floats, seed: int) -> tuple[float, float]:
    if len(blocks) < LEAST_BLOCKS:
        return float(blocks.min()), float(blocks.max())
    drawn = np.random.default_rng(seed).integers(len(blocks), size=(_RESAMPLES, len(blocks)))
    low, high = np.percentile(np.median(blocks[drawn], axis=1), _ENDS)
    return float(low), float(high)
