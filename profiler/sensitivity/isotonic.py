"""A table that must rise, made to rise with the least change. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Risen:
    """values: shape as given, falling along no axis.

    changed: how many values are others than they were. most: the largest change, as a share.
    """

    values: Floats
    changed: int
    most: float


def risen(values: Floats) -> Risen:
    """``values``, all above 0, of any number of axes, so that they fall along none of them.

    The isotonic regression that keeps the largest relative change as small as can be: of each value
    the (geometric) middle between the largest that lies before it and the smallest that lies behind
    it along all axes. (Barlow et al., Statistical Inference under Order Restrictions, 1972.)
    """
    logs = np.log(values)
    before, behind = logs, logs
    for axis in range(logs.ndim):
        before = np.maximum.accumulate(before, axis=axis)
        behind = np.flip(np.minimum.accumulate(np.flip(behind, axis), axis=axis), axis)
    rising = np.where(before == behind, values, np.exp((before + behind) / 2))
    # Two ways to the same value may differ in the last bit.
    for axis in range(logs.ndim):
        rising = np.maximum.accumulate(rising, axis=axis)
    change = np.abs(rising / values - 1)
    return Risen(rising, int(np.count_nonzero(change > _ROUNDING)), float(change.max(initial=0.0)))
