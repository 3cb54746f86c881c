"""Iterations unlike the others, and where the others become something else."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

_DEVIATIONS = (
    3.5  # Iglewicz and Hoaglin (1993): of the median absolute deviation, as a standard one
)
_NORMAL = 1.4826  # the standard deviation, in median absolute deviations of a normal distribution
_LEAST_SHARE = 0.05
_LEAST_UNEXPLAINED = 0.1

_STEP_SHARE = 0.05  # of the median: a smaller step is no change of the pattern
_STEP_UNEXPLAINED = 0.15
_BETTER_THAN_A_LINE = 0.6  # the squares of a step against those of a slow drift
_BETTER_THAN_NOTHING = 0.5
_LEAST_RUN = 8  # iterations


class Unlike(StrEnum):
    """Why an iteration counts as an outlier."""

    LONGER = "longer"
    SHORTER = "shorter"
    MORE_BYTES = "more bytes"
    FEWER_BYTES = "fewer bytes"
    OTHER_PATTERN = "another pattern"


def unlike(
    lengths_s: NDArray[np.float64],
    sent_bytes: NDArray[np.float64],
    unexplained: NDArray[np.float64],
) -> list[Unlike | None]:
    """Of each iteration why it is an outlier, None if it is none. All have shape (iterations).

    An iteration is one where its length or bytes are further from the median than 3.5 robust
    standard deviations and than 5 %, or as much more of it is unexplained and at least 10 %.
    """
    length = _deviations(lengths_s, _LEAST_SHARE * float(np.median(lengths_s)))
    sent = _deviations(sent_bytes, _LEAST_SHARE * float(np.median(sent_bytes)))
    off = _deviations(unexplained, _LEAST_UNEXPLAINED)
    return [
        _why(*deviations)
        for deviations in zip(length.tolist(), sent.tolist(), off.tolist(), strict=True)
    ]


def _deviations(values: NDArray[np.float64], least: float) -> NDArray[np.float64]:
    """How far each is from the median, in units beyond which it is an outlier."""
    median = np.median(values)
    robust = _NORMAL * float(np.median(np.abs(values - median)))
    limit = max(_DEVIATIONS * robust, least)
    deviations: NDArray[np.float64] = (values - median) / (limit if limit > 0 else 1.0)
    return deviations


def _why(length: float, sent: float, off: float) -> Unlike | None:
    if sent > 1:
        return Unlike.MORE_BYTES
    if length > 1:
        return Unlike.LONGER
    if length < -1:
        return Unlike.SHORTER
    if sent < -1:
        return Unlike.FEWER_BYTES
    return Unlike.OTHER_PATTERN if off > 1 else None


def change_of_pattern(
    lengths_s: NDArray[np.float64],
    sent_bytes: NDArray[np.float64],
    unexplained: NDArray[np.float64],
) -> int | None:
    """The first iteration of another pattern; None where one pattern goes on to the end.

    A change is a step of the length, the bytes, or what is unexplained, that explains more of their
    squares than a slow drift would.
    """
    steps = [
        _step(lengths_s, _STEP_SHARE * float(np.median(lengths_s))),
        _step(sent_bytes, _STEP_SHARE * float(np.median(sent_bytes))),
        _step(unexplained, _STEP_UNEXPLAINED),
    ]
    found = [step for step in steps if step is not None]
    return min(found, key=lambda step: step[1])[0] if found else None


def _step(values: NDArray[np.float64], least: float) -> tuple[int, float] | None:
    """Where ``values`` step by at least ``least``, and the share of squares that is left then."""
    count = len(values)
    if count < 2 * _LEAST_RUN:
        return None
    smooth = _running_median(values)
    sums = np.append(0.0, np.cumsum(smooth))
    before = np.arange(_LEAST_RUN, count - _LEAST_RUN + 1)
    left = sums[before] / before
    right = (sums[-1] - sums[before]) / (count - before)
    between = before * (count - before) / count * (left - right) ** 2
    best = int(np.argmax(between))
    step = int(before[best])
    # Medians, for which some stalls close to each other are no step.
    if abs(float(np.median(values[:step]) - np.median(values[step:]))) < least:
        return None
    total = float(((smooth - smooth.mean()) ** 2).sum())
    rest = total - float(between[best])
    line = np.polynomial.Polynomial.fit(np.arange(count), smooth, 1)
    drift = float(((smooth - line(np.arange(count))) ** 2).sum())
    if rest > _BETTER_THAN_NOTHING * total or rest > _BETTER_THAN_A_LINE * drift:
        return None
    return step, rest / total


def _running_median(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of five: one or two outliers in a row are no step."""
    padded = np.pad(values, 2, mode="edge")
    medians: NDArray[np.float64] = np.median(
        np.lib.stride_tricks.sliding_window_view(padded, 5), axis=1
    )
    return medians
