"""Which moment of an iteration each moment of a series is: dynamic time warping on a circle.

One iteration is a template of cells on a circle. A path goes through the series and around the
circle: with each interval it moves one cell on, or none, or two, so that an iteration may be slower
or faster, and any pause costs little. The best path costs least (Viterbi); from it follows the next
template, as the mean of what lay on each cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from traces.compiled import compiled
from traces.load_series import EvenLoad

# Rates are in units of the rate at which the average byte is sent.
_STAY_COST = 0.005
_SKIP_COST = 0.02
_MOST_PER_INTERVAL = 0.5  # what fits nowhere, such as a checkpoint, must not bend all around it

_MOST_UNITS = 2.0
_FIRST_ROUNDS = 3
_ROUNDS = 2
_NEAR_LENGTH = 0.03
_BLOCK_ITERATIONS = 256  # the way back through a block is kept in memory
_OVERLAP_ITERATIONS = 4


@dataclass(frozen=True, eq=False)
class Alignment:
    """A series on the circle.

    position: shape (n), the cell of each interval, counted on with each turn; it never falls.
    template: shape (cells), the rate in bytes/s on each cell.
    cost: of the path, by interval, as a share of what a constant rate would cost.
    """

    position: NDArray[np.int64]
    template: NDArray[np.float64]
    cost: float

    @property
    def cells(self) -> int:
        return len(self.template)

    def first_intervals(self, cell: float) -> NDArray[np.int64]:
        """The first interval at or behind ``cell`` of each turn that the path goes around."""
        turns = np.arange(self.position[0] // self.cells, self.position[-1] // self.cells + 2)
        wanted = turns * self.cells + cell
        wanted = wanted[(wanted > self.position[0]) & (wanted <= self.position[-1])]
        intervals: NDArray[np.int64] = np.searchsorted(self.position, wanted)
        return intervals


def first_alignment(load: EvenLoad, period: int) -> Alignment:
    """``load`` on a circle of about ``period`` intervals, of which it has two or more."""
    unit = typical_rate(load)
    template = _seed(_in_units(load, unit), load.observed, period)
    return align(load, template * unit, _FIRST_ROUNDS)


def align(load: EvenLoad, template: NDArray[np.float64], rounds: int = _ROUNDS) -> Alignment:
    """``load`` on the circle of a ``template``, in bytes/s, that is like its own."""
    unit = typical_rate(load)
    rate = _in_units(load, unit)
    template = template / unit
    position, cost = _path(rate, load.observed, template)
    for _ in range(rounds - 1):
        template = _mean_by_cell(rate, load.observed, position, template)
        template = _resized(template, _usual_length(position, len(template)))
        position, cost = _path(rate, load.observed, template)
    mean = float((rate * load.observed).sum()) / max(float(load.observed.sum()), 1e-12)
    constant = float(np.sum(load.observed * np.minimum((rate - mean) ** 2, _MOST_PER_INTERVAL)))
    return Alignment(position, template * unit, cost / constant if constant else np.inf)


def _in_units(load: EvenLoad, unit: float) -> NDArray[np.float64]:
    return np.minimum(load.rate_bytes_per_s / unit, _MOST_UNITS)


def typical_rate(load: EvenLoad) -> float:
    """The rate at which the average byte is sent: a scale that no idle time lowers."""
    sent = load.rate_bytes_per_s * load.observed
    total = float(sent.sum())
    return float((sent * load.rate_bytes_per_s).sum()) / total if total else 1.0


def _seed(
    rate: NDArray[np.float64], observed: NDArray[np.float64], period: int
) -> NDArray[np.float64]:
    """The stretch of one ``period`` that the next stretch resembles most, for what they send."""
    starts = np.arange(0, len(rate) - 2 * period + 1, max(1, period // 4))
    both = observed[:-period] * observed[period:]
    one, other = rate[:-period], rate[period:]
    difference = _sums(both * np.minimum((one - other) ** 2, _MOST_PER_INTERVAL), starts, period)
    sent = _sums(both * (one**2 + other**2), starts, period)
    # Pauses resemble each other most.
    busy = (sent > 0) & (sent >= np.median(sent) / 2)
    unlike = np.where(busy, difference / np.maximum(sent, 1e-12), np.inf)
    best = int(starts[np.argmin(unlike)])
    window = slice(best, best + period)
    seen = np.flatnonzero(observed[window] > 0)
    if not len(seen):
        return np.zeros(period)
    return np.interp(np.arange(period), seen, rate[window][seen])


def _sums(
    values: NDArray[np.float64], starts: NDArray[np.int64], width: int
) -> NDArray[np.float64]:
    until = np.append(0.0, np.cumsum(values))
    sums: NDArray[np.float64] = until[starts + width] - until[starts]
    return sums


def _path(
    rate: NDArray[np.float64], observed: NDArray[np.float64], template: NDArray[np.float64]
) -> tuple[NDArray[np.int64], float]:
    """The best path, and what it costs. A long series is gone through in blocks, each of which
    begins where the one before was, some turns before its end."""
    cells = len(template)
    block = _BLOCK_ITERATIONS * cells
    overlap = _OVERLAP_ITERATIONS * cells
    position = np.zeros(len(rate), dtype=np.int64)
    total = 0.0
    start, cell = 0, -1
    while True:
        end = min(len(rate), start + block)
        path, costs = _block_path(
            rate[start:end],
            observed[start:end],
            template,
            cell,
            _STAY_COST,
            _SKIP_COST,
            _MOST_PER_INTERVAL,
        )
        if cell >= 0:
            path += position[start] - path[0]
        position[start:end] = path
        kept = len(path) if end == len(rate) else len(path) - overlap
        total += float(costs[:kept].sum())
        if end == len(rate):
            return position, total
        start += kept
        cell = int(position[start] % cells)


@compiled
def _block_path(
    rate: NDArray[np.float64],
    observed: NDArray[np.float64],
    template: NDArray[np.float64],
    first_cell: int,
    stay_cost: float,
    skip_cost: float,
    most: float,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The path through one block and what each interval adds to its cost; from ``first_cell``, or
    from any where that is -1."""
    count, cells = len(rate), len(template)
    moved = np.zeros((count, cells), dtype=np.uint8)
    cost = np.zeros(cells)
    if first_cell >= 0:
        cost[:] = np.inf
        cost[first_cell] = 0.0
    behind = np.empty(cells)
    for interval in range(count):
        for cell in range(cells):
            if interval == 0:
                best, move = cost[cell], 0
            else:
                best, move = cost[cell - 1], 1
                if cost[cell] + stay_cost < best:
                    best, move = cost[cell] + stay_cost, 0
                if cost[cell - 2] + skip_cost < best:
                    best, move = cost[cell - 2] + skip_cost, 2
            difference = rate[interval] - template[cell]
            behind[cell] = best + observed[interval] * min(difference * difference, most)
            moved[interval, cell] = move
        cost[:] = behind
    position = np.empty(count, dtype=np.int64)
    costs = np.empty(count)
    here = int(np.argmin(cost))
    turned = 0
    for interval in range(count - 1, -1, -1):
        position[interval] = here + turned
        difference = rate[interval] - template[here]
        move = int(moved[interval, here])
        costs[interval] = observed[interval] * min(difference * difference, most)
        if interval > 0 and move == 0:
            costs[interval] += stay_cost
        elif move == 2:
            costs[interval] += skip_cost
        here -= move
        if here < 0:
            here += cells
            turned -= cells
    position -= turned
    return position, costs


def _mean_by_cell(
    rate: NDArray[np.float64],
    observed: NDArray[np.float64],
    position: NDArray[np.int64],
    before: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The mean rate on each cell; that of ``before`` where the path never was.

    A cell over which the path skips has the rates around it, too: else those few that do not skip
    would make a notch of it.
    """
    cells = len(before)
    skips = np.flatnonzero(np.diff(position) == 2)
    around = (rate[skips] + rate[skips + 1]) / 2
    seen = observed[skips] * observed[skips + 1]
    cell = np.append(position, position[skips] + 1) % cells
    weights = np.append(observed, seen)
    weight = np.bincount(cell, weights, cells)
    sums = np.bincount(cell, weights * np.append(rate, around), cells)
    return np.where(weight > 0, sums / np.maximum(weight, 1e-12), before)


def _usual_length(position: NDArray[np.int64], cells: int) -> int:
    """Intervals that a turn usually takes."""
    turns = np.arange(position[0] // cells + 1, position[-1] // cells + 1) * cells
    lengths = np.diff(np.searchsorted(position, turns))
    return max(2, round(float(np.median(lengths)))) if len(lengths) else cells


def _resized(template: NDArray[np.float64], cells: int) -> NDArray[np.float64]:
    """``template`` on so many ``cells``, if they are more than a few others: it blurs edges."""
    if abs(cells / len(template) - 1) <= _NEAR_LENGTH:
        return template
    where = (np.arange(cells) + 0.5) * len(template) / cells - 0.5
    return np.interp(where, np.arange(len(template)), template, period=len(template))
