"""Few constant levels for a curve on a circle: penalised least squares, solved exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_MOST_LEVELS = 24
_SHARE_OF_A_LEVEL = 0.002  # of all squares: what one more level has to explain
_NOISE_OF_A_LEVEL = 3.0  # times the noise and the logarithm of the cells, as in BIC
_EDGE_CELLS = 2  # as short, a level between its neighbours is an edge that was blurred
_NEARLY_EQUAL = 0.1  # of the highest
_FLAT_SHARE = 12  # the circle is cut open in the flattest of as short stretches


@dataclass(frozen=True, eq=False)
class Levels:
    """Constant levels around a circle.

    starts: shape (k), ascending, the cell at which each begins; behind the last cell they go on
    with the next turn. values: shape (k), the mean of each. Neighbours differ.
    cells: of the circle.
    """

    starts: NDArray[np.int64]
    values: NDArray[np.float64]
    cells: int

    @property
    def lengths(self) -> NDArray[np.int64]:
        return (np.roll(self.starts, -1) - self.starts - 1) % self.cells + 1

    def from_level(self, first: int) -> Levels:
        """The same levels, of which ``first`` is the first."""
        starts = np.append(self.starts[first:], self.starts[:first] + self.cells)
        return Levels(starts, np.roll(self.values, -first), self.cells)

    def without(self, level: int) -> Levels:
        """The other levels. Its cells go to the one before, and so do those of the one behind if
        the two are nearly equal."""
        before, behind = self.values[level - 1], self.values[(level + 1) % len(self.values)]
        gone = [level]
        if abs(behind - before) <= _NEARLY_EQUAL * self.values.max():
            gone.append((level + 1) % len(self.values))
        return Levels(np.delete(self.starts, gone), np.delete(self.values, gone), self.cells)


def constant_levels(curve: NDArray[np.float64]) -> Levels:
    """The levels of ``curve``, shape (cells): as few as its noise allows."""
    cells = len(curve)
    cut = _flattest(curve)
    starts = np.sort((_changes(np.roll(curve, -cut)) + cut) % cells)
    starts = _without_edges(curve, starts) if len(starts) > 1 else np.zeros(1, dtype=np.int64)
    return Levels(starts, _means(curve, starts), cells)


def _flattest(curve: NDArray[np.float64]) -> int:
    """The middle of the stretch that varies least: it lies inside a level."""
    width = max(3, len(curve) // _FLAT_SHARE)
    stretches = np.lib.stride_tricks.sliding_window_view(
        np.append(curve, curve[: width - 1]), width
    )
    return (int(np.argmin(stretches.var(axis=1))) + width // 2) % len(curve)


def _changes(curve: NDArray[np.float64]) -> NDArray[np.int64]:
    """The cells at which a ``curve`` that begins and ends inside a level changes to another."""
    cells = len(curve)
    sums = np.append(0.0, np.cumsum(curve))
    squares = np.append(0.0, np.cumsum(curve**2))
    length = np.arange(cells + 1)[None, :] - np.arange(cells + 1)[:, None]
    within = squares[None, :] - squares[:, None]
    within -= (sums[None, :] - sums[:, None]) ** 2 / np.maximum(length, 1)
    # error[i, j]: of one level on the cells from i to j.
    error = np.where(length > 0, np.maximum(within, 0.0), np.inf)
    noise = np.median(np.diff(curve) ** 2) / (2 * 0.455)  # the median of chi-squared with 1
    penalty = max(
        _SHARE_OF_A_LEVEL * float(error[0, cells]), _NOISE_OF_A_LEVEL * noise * np.log(cells)
    )
    least = error[0].copy()
    came_from = np.zeros((_MOST_LEVELS, cells + 1), dtype=np.int64)
    totals = [least[cells]]
    for levels in range(1, min(_MOST_LEVELS, cells)):
        ways = least[:, None] + error
        came_from[levels] = np.argmin(ways, axis=0)
        least = np.take_along_axis(ways, came_from[levels][None, :], axis=0)[0]
        totals.append(least[cells])
    best = int(np.argmin(np.array(totals) + penalty * np.arange(len(totals))))
    ends = [cells]
    for levels in range(best, 0, -1):
        ends.append(int(came_from[levels, ends[-1]]))
    return np.array(ends[:0:-1], dtype=np.int64)


def _means(curve: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The mean of each level; the last goes on to the first start."""
    turned = np.roll(curve, -starts[0])
    own = starts - starts[0]
    means: NDArray[np.float64] = np.add.reduceat(turned, own) / np.diff(np.append(own, len(curve)))
    return means


def _without_edges(curve: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """``starts`` with one in place of two where a short level lies between its neighbours'."""
    while len(starts) > 2:
        values = _means(curve, starts)
        lengths = (np.roll(starts, -1) - starts) % len(curve)
        before, behind = np.roll(values, 1), np.roll(values, -1)
        blurred = ((values - before) * (behind - values) > 0) & (lengths <= _EDGE_CELLS)
        if not blurred.any():
            return starts
        edge = int(np.argmax(blurred))
        is_like_next = abs(values[edge] - behind[edge]) < abs(values[edge] - before[edge])
        # Without its own start it belongs to the level before; without the next one's, to that.
        starts = np.delete(starts, (edge + 1) % len(starts) if is_like_next else edge)
    return starts
