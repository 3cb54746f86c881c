"""Where the warm-up of a point ends: found in its iteration times, for it is no constant. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiler.sensitivity.blocks import Floats, block_length, block_means, robust_deviation

LEAST_BLOCKS = 12
"""Fewer say nothing about whether times have become steady."""

_MOST_BLOCKS = 64  # it bounds the work
_DEVIATIONS = 3.5  # Iglewicz and Hoaglin (1993)
_STEP_ERRORS = 4.0  # of the difference of two medians: 1 in 16,000 if it is chance
_MEDIAN_ERROR = 1.2533  # that of a median, in those of a mean (normal distribution)
_SMALL = 0.01  # of the time: half of what a point is measured to


def steady_from(iteration_s: NDArray[Any], period: int = 1) -> int | None:
    """The first iteration that is no warm-up; None while the times are not steady yet.

    iteration_s: shape (iterations), s, since the allocation took effect. period: iterations after
    which their pattern repeats: the number of workers, which deliver in bursts, or those of an
    epoch where that is shorter still. Raises ValueError where it is not at least 1.

    The second half of the blocks (of ``period`` iterations or more) is the reference. It has to be
    level: its own halves may differ by what chance makes of their scatter, or 1 %. The warm-up
    lasts until two blocks in a row were last off it on the same side, by 3.5 robust standard
    deviations and 1 %; a single one, as a stall makes it, is none, but for the very first. So a
    point runs for at least as long again as its warm-up took.
    """
    if period < 1:
        raise ValueError("a pattern repeats after at least one iteration")
    times = np.asarray(iteration_s, dtype=np.float64)
    length = block_length(len(times), period, _MOST_BLOCKS)
    blocks = block_means(times, length)
    if len(blocks) < LEAST_BLOCKS:
        return None
    first, reference = np.split(blocks, [len(blocks) // 2])
    if not _is_level(reference):
        return None
    middle = float(np.median(reference))
    band = max(_DEVIATIONS * robust_deviation(reference), _SMALL * middle)
    side = np.where(np.abs(first - middle) > band, np.sign(first - middle), 0.0)
    # The first block has no predecessor, and what is special about it is that it is the first.
    before = np.concatenate([side[:1], side[:-1]])
    off = np.flatnonzero((side != 0) & (side == before))
    return int(off[-1] + 1) * length if len(off) else 0


def _is_level(blocks: Floats) -> bool:
    """Whether the medians of both halves differ by no more than chance, or 1 %, explains."""
    halves = np.split(blocks, [len(blocks) // 2])
    medians = [float(np.median(half)) for half in halves]
    around = np.concatenate([half - median for half, median in zip(halves, medians, strict=True)])
    error = (
        _MEDIAN_ERROR * robust_deviation(around) * np.sqrt(sum(1 / len(half) for half in halves))
    )
    allowed = max(_STEP_ERRORS * float(error), _SMALL * float(np.median(blocks)))
    return abs(medians[1] - medians[0]) <= allowed
