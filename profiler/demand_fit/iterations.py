"""The iterations of a series: where each changes its level, at the resolution of the series."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiler.demand_fit.alignment import Alignment
from profiler.demand_fit.levels import Levels
from traces.compiled import compiled
from traces.load_series import EvenLoad

_WHOLE = 0.999  # an interval that was sampled, but for rounding
_REACH_CELLS = 8.0  # how far a path may be off
_PASSES = 2  # the template blurs short levels; the second has their rates


@dataclass(frozen=True, eq=False)
class Iterations:
    """The whole iterations of a series, one after the other.

    edges: shape (iterations, levels + 1), in intervals of ``load`` from its start: where each level
    begins, and last, where the next iteration does.
    rates: shape (levels), in bytes/s.
    model: shape (intervals), the rate in bytes/s if each iteration had these rates exactly.
    sent_bytes: shape (iterations, levels); what was not sampled counts as in the model.
    unexplained: shape (iterations), bytes off the model, as a share of all.
    """

    load: EvenLoad
    edges: NDArray[np.float64]
    rates: NDArray[np.float64]
    model: NDArray[np.float64]
    sent_bytes: NDArray[np.float64]
    unexplained: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.edges)

    @property
    def lengths_s(self) -> NDArray[np.float64]:
        return (self.edges[:, -1] - self.edges[:, 0]) * self.load.interval_s

    @property
    def starts_s(self) -> NDArray[np.float64]:
        """On the clock of the series."""
        return self.load.start_s + self.edges[:, 0] * self.load.interval_s

    @property
    def offsets_s(self) -> NDArray[np.float64]:
        """``edges`` from the start of each iteration on, in s."""
        return (self.edges - self.edges[:, :1]) * self.load.interval_s


def find_iterations(
    load: EvenLoad, alignment: Alignment, levels: Levels, factor: int
) -> Iterations:
    """The iterations of ``load``, which begin where the circle of ``levels`` does.

    alignment: of the load that is coarser by ``factor``; levels: of its template, on a circle
    whose cell 0 is the alignment's.
    """
    near = _near_edges(alignment, levels, factor)
    rates = levels.values
    for _ in range(_PASSES):
        edges = _edges(load, near, rates, _REACH_CELLS * factor)
        rates = _rates(load, edges, rates)
    model = _model(edges, rates, len(load))
    sent = _sent_bytes(load, edges, rates, model)
    return Iterations(load, edges, rates, model, sent, _unexplained(load, edges, model))


def _near_edges(alignment: Alignment, levels: Levels, factor: int) -> NDArray[np.float64]:
    """Where the path crosses the start of each level, of turns that are whole; and of the next."""
    position, cells = alignment.position, alignment.cells
    first = int(levels.starts[0])
    turns = np.arange(position[0] // cells - 1, position[-1] // cells + 2)
    cell = np.append(levels.starts, first + cells)
    wanted = turns[:, None] * cells + cell[None, :]
    is_whole = (wanted[:, 0] > position[0]) & (wanted[:, -1] <= position[-1])
    near: NDArray[np.float64] = np.searchsorted(position, wanted[is_whole]) * float(factor)
    return near


def _edges(
    load: EvenLoad, near: NDArray[np.float64], rates: NDArray[np.float64], reach: float
) -> NDArray[np.float64]:
    """The edges between levels of these ``rates``, in order, of least squares.

    Each lies between the middles of its neighbours, or at most ``reach`` intervals from ``near``.
    """
    count = len(rates)
    if not len(near):
        return near
    edges = np.append(near[:, :-1].ravel(), near[-1, -1])
    middles = (edges[1:] + edges[:-1]) / 2
    before = edges[0] - (near[0, -1] - near[0, -2]) / 2
    behind = edges[-1] + (near[-1, 1] - near[-1, 0]) / 2
    first = np.minimum(np.append(before, middles), edges - reach)
    last = np.maximum(np.append(middles, behind), edges + reach)
    right = np.tile(rates, len(near) + 1)[: len(edges)]
    left = np.tile(np.roll(rates, 1), len(near) + 1)[: len(edges)]
    whole = _least_squares_edges(
        load.rate_bytes_per_s,
        load.observed,
        np.clip(np.ceil(first), 0, len(load)).astype(np.int64),
        np.clip(np.floor(last), 0, len(load)).astype(np.int64),
        left,
        right,
    )
    found = np.array(
        [
            _inside_interval(load, *edge)
            for edge in zip(whole.tolist(), left.tolist(), right.tolist(), strict=True)
        ]
    )
    of_iteration = np.arange(len(near))[:, None] * count + np.arange(count + 1)[None, :]
    result: NDArray[np.float64] = np.maximum.accumulate(found)[of_iteration]
    return result


@compiled
def _least_squares_edges(
    rate: NDArray[np.float64],
    observed: NDArray[np.float64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    left: NDArray[np.float64],
    right: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Edges from ``first`` to ``last``, none before the one before it, so that the squares off the
    rates ``left`` and ``right`` of them are least: by dynamic programming, edge by edge."""
    begin = np.zeros(len(first) + 1, dtype=np.int64)
    begin[1:] = np.cumsum(last - first + 1)
    # best[i]: the squares with this edge at its i-th place; came_from[i]: the place before it.
    best = np.empty(begin[-1])
    came_from = np.empty(begin[-1], dtype=np.int64)
    for edge in range(len(first)):
        squares = 0.0
        least, place = (0.0, 0) if edge == 0 else (np.inf, -1)
        before = 0 if edge == 0 else first[edge - 1]
        for interval in range(first[edge], last[edge] + 1):
            if interval > first[edge]:
                value = rate[interval - 1]
                squares += observed[interval - 1] * (
                    (value - left[edge]) ** 2 - (value - right[edge]) ** 2
                )
            while edge > 0 and before <= min(interval, last[edge - 1]):
                other = best[begin[edge - 1] + before - first[edge - 1]]
                if other < least:
                    least, place = other, before
                before += 1
            best[begin[edge] + interval - first[edge]] = least + squares
            came_from[begin[edge] + interval - first[edge]] = place
    edges = np.empty(len(first), dtype=np.int64)
    at = begin[-2] + np.argmin(best[begin[-2] :])
    for edge in range(len(first) - 1, -1, -1):
        edges[edge] = first[edge] + at - begin[edge]
        if edge > 0:
            at = begin[edge - 1] + came_from[at] - first[edge - 1]
    return edges


def _inside_interval(load: EvenLoad, edge: int, left: float, right: float) -> float:
    """The edge within the two intervals around ``edge``, from the bytes that were sent in them."""
    around = slice(edge - 1, edge + 1)
    if edge < 1 or edge >= len(load) or load.observed[around].min() < _WHOLE or left == right:
        return float(edge)
    share = (float(load.rate_bytes_per_s[around].sum()) - 2 * right) / (left - right)
    return edge - 1 + min(max(share, 0.0), 2.0)


def _rates(
    load: EvenLoad, edges: NDArray[np.float64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The median, over the iterations, of the rate inside each level; ``values`` where no level has
    an interval of its own."""
    sent_until = np.append(0.0, np.cumsum(load.rate_bytes_per_s * load.observed))
    observed_until = np.append(0.0, np.cumsum(load.observed))
    # An edge that is off by little would bring in an interval that is partly of another level.
    margin = np.minimum(1.0, np.diff(edges, axis=1) / 4)
    first = np.ceil(edges[:, :-1] + margin).astype(np.int64)
    last = np.maximum(np.floor(edges[:, 1:] - margin).astype(np.int64), first)
    observed = observed_until[last] - observed_until[first]
    rates = np.full(observed.shape, np.nan)
    np.divide(sent_until[last] - sent_until[first], observed, out=rates, where=observed > 0)
    result = values.astype(np.float64)
    for level in range(len(values)):
        known = rates[:, level][~np.isnan(rates[:, level])]
        if len(known):
            result[level] = np.median(known)
    return result


def _model(
    edges: NDArray[np.float64], rates: NDArray[np.float64], intervals: int
) -> NDArray[np.float64]:
    """The rate of each interval, in the iterations and in the levels right before and behind."""
    if not len(edges):
        return np.zeros(intervals)
    before = edges[0, 0] - (edges[0, -1] - edges[0, -2])
    behind = edges[-1, -1] + (edges[-1, 1] - edges[-1, 0])
    knots = np.concatenate([[before], edges[:, :-1].ravel(), [edges[-1, -1], behind]])
    level_rates = np.concatenate([rates[-1:], np.tile(rates, len(edges)), rates[:1]])
    sent_until = np.append(0.0, np.cumsum(np.diff(knots) * level_rates))
    return np.diff(np.interp(np.arange(intervals + 1), knots, sent_until))


def _sent_bytes(
    load: EvenLoad,
    edges: NDArray[np.float64],
    rates: NDArray[np.float64],
    model: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The bytes of each level: the model's, and what was sent beside it.

    What was sent beside the model around an edge is the higher level's.
    """
    beside_until = np.append(0.0, np.cumsum((load.rate_bytes_per_s - model) * load.observed))
    around = np.append(edges[:, -2:-1] - edges[:, -1:] + edges[:, :1], edges, axis=1)
    widths = np.diff(around, axis=1)
    following = np.append(widths[:, 1:], widths[:, 1:2], axis=1)
    into_the_lower = np.where(rates > np.roll(rates, 1), -1.0, 1.0)
    into_the_lower = np.append(into_the_lower, into_the_lower[0])
    bounds = edges + np.clip(into_the_lower, -widths / 2, following / 2)
    beside_at = np.interp(bounds, np.arange(len(load) + 1), beside_until)
    sent: NDArray[np.float64] = np.diff(edges, axis=1) * rates + np.diff(beside_at, axis=1)
    return np.maximum(sent * load.interval_s, 0.0)


def _unexplained(
    load: EvenLoad, edges: NDArray[np.float64], model: NDArray[np.float64]
) -> NDArray[np.float64]:
    off_until = np.append(0.0, np.cumsum(np.abs(load.rate_bytes_per_s - model) * load.observed))
    sent_until = np.append(0.0, np.cumsum(load.rate_bytes_per_s * load.observed))
    bounds = np.round(edges[:, [0, -1]]).astype(np.int64)
    off = np.diff(off_until[bounds], axis=1)[:, 0]
    sent = np.diff(sent_until[bounds], axis=1)[:, 0]
    return np.divide(off, sent, out=np.ones(len(off)), where=sent > 0)
