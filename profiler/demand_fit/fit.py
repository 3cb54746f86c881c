"""From bytes over time to the Demand of one iteration.

The autocorrelation tells about how long an iteration is; dynamic time warping puts the series on a
circle; least squares finds the levels of the circle; in each iteration the edges between levels are
found again, at the resolution of the series. What is told of an iteration is a mean over those that
are no outliers, with the interval that holds the mean with a probability of 95 %.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from profiler.demand_fit.alignment import Alignment, align
from profiler.demand_fit.circle import Circle, find_circle, known_circle
from profiler.demand_fit.iterations import Iterations, find_iterations
from profiler.demand_fit.levels import Levels, constant_levels
from profiler.demand_fit.outliers import Unlike, change_of_pattern, unlike
from profiler.demand_fit.pattern import Estimate, FittedPhase, Outlier, PatternFit, SeriesFit
from profiler.demand_fit.period import LEAST_INTERVALS, LEAST_ITERATIONS
from traces.errors import BadInputError
from traces.load_series import EvenLoad, LoadSeries, even_load

_NO_REPETITION = 0.5  # of what a constant rate costs
_UP_SHARE = 0.1  # of the highest rate: a level below is a Down phase
_NO_STEP = 0.05  # of the highest rate
_MOST_PARTS = 4


def fit_series(series: LoadSeries, period_s: float | None = None) -> SeriesFit:
    """What repeats in the sent bytes of ``series``.

    period_s: about how long an iteration takes, where that is known; else it is found.
    Raises BadInputError where nothing does, or there is too little of it.
    """
    patterns: list[PatternFit] = []
    unfitted: list[tuple[float, float]] = []
    waiting = [series]
    refusal: BadInputError | None = None
    while waiting:
        part = waiting.pop()
        try:
            found, change_s = _fit_pattern(part, period_s)
        except BadInputError as error:
            refusal = refusal or error
            unfitted.append((float(part.edges_s[0]), float(part.edges_s[-1])))
            continue
        if change_s is None or len(patterns) + len(waiting) + 2 > _MOST_PARTS:
            patterns.append(found)
            continue
        waiting.append(part.between(change_s, float(part.edges_s[-1])))
        waiting.append(part.between(float(part.edges_s[0]), change_s))
    if not patterns and refusal is not None:
        raise refusal
    return SeriesFit(tuple(patterns), tuple(unfitted))


def _fit_pattern(series: LoadSeries, period_s: float | None) -> tuple[PatternFit, float | None]:
    """The pattern of ``series``, as if it were one, and when another one begins, if one does."""
    load = _checked_load(series)
    circle = _circle(load, period_s)
    alignment = align(load.coarser(circle.factor), circle.template)
    if alignment.cost > _NO_REPETITION:
        raise _refused("nothing repeats")
    iterations = _iterations(load, alignment, circle.factor)
    per_iteration = (
        iterations.lengths_s,
        iterations.sent_bytes.sum(axis=1),
        iterations.unexplained,
    )
    change = change_of_pattern(*per_iteration)
    change_s = None if change is None else float(iterations.starts_s[change])
    reasons = unlike(*per_iteration)
    if reasons.count(None) < LEAST_ITERATIONS:
        raise _refused(f"only {reasons.count(None)} iterations resemble each other")
    return _pattern(iterations, reasons), change_s


def _circle(load: EvenLoad, period_s: float | None) -> Circle:
    if period_s is None:
        circle = find_circle(load)
    else:
        period = round(period_s / load.interval_s)
        if not LEAST_INTERVALS <= period <= len(load) // LEAST_ITERATIONS:
            raise _refused(f"an iteration takes {period} intervals of {len(load):,}")
        circle = known_circle(load, period)
    if circle is None:
        raise _refused("nothing repeats")
    return circle


def _iterations(load: EvenLoad, alignment: Alignment, factor: int) -> Iterations:
    """The iterations of ``load``, of which every level lasts and differs from the next one."""
    levels = constant_levels(alignment.template)
    while len(levels.values) > 1:
        levels = _iteration_first(levels)
        iterations = find_iterations(load, alignment, levels, factor)
        if len(iterations) < LEAST_ITERATIONS:
            raise _refused(f"only {len(iterations)} iterations are whole")
        level = _made_by_the_path(iterations)
        if level is None:
            return iterations
        levels = levels.without(level)
    raise _refused("the rate has one level")


def _made_by_the_path(iterations: Iterations) -> int | None:
    """A level that usually is shorter than an interval, or than two where it leads from one level
    to another, or that has the rate of the one before. None if there is none."""
    rates = iterations.rates
    before, behind = np.roll(rates, 1), np.roll(rates, -1)
    widths = np.median(np.diff(iterations.edges, axis=1), axis=0)
    leads = (rates - before) * (behind - rates) > 0
    width = widths / np.where(leads, 2, 1)
    if width.min() < 1:
        return int(np.argmin(width))
    step = np.abs(rates - before)
    return int(np.argmin(step)) if step.min() <= _NO_STEP * rates.max() else None


def _refused(problem: str) -> BadInputError:
    return BadInputError(
        problem,
        allowed=f"bytes of {LEAST_ITERATIONS} iterations or more that resemble each other, "
        "in at least a dozen intervals each",
    )


def _checked_load(series: LoadSeries) -> EvenLoad:
    try:
        load = even_load(series)
    except ValueError as error:
        raise BadInputError(str(error), allowed="a shorter series, or longer intervals") from None
    if not (load.rate_bytes_per_s > 0).any():
        raise _refused("nothing was sent")
    return load


def _iteration_first(levels: Levels) -> Levels:
    """``levels`` from the start of an iteration on: with the longest Down phase, in which nothing
    is left to send, or else the lowest level."""
    down = np.flatnonzero(~_is_up(levels.values))
    first = down[np.argmax(levels.lengths[down])] if len(down) else np.argmin(levels.values)
    return levels.from_level(int(first))


def _is_up(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    up: NDArray[np.bool_] = values > _UP_SHARE * values.max()
    return up


def _pattern(iterations: Iterations, reasons: list[Unlike | None]) -> PatternFit:
    usual = np.array([reason is None for reason in reasons])
    sent = iterations.sent_bytes
    lengths_s = iterations.lengths_s
    up = _is_up(iterations.rates)
    widths_s = np.diff(iterations.offsets_s, axis=1)
    idle_s = widths_s[usual][:, ~up].sum(axis=0)
    background = float(np.average(iterations.rates[~up], weights=idle_s)) if len(idle_s) else 0.0
    own_bytes = np.maximum(sent - background * widths_s, 0.0)
    model_bytes = sent[usual].sum(axis=1)
    bounds_s = iterations.load.start_s + iterations.edges[[0, -1], [0, -1]] * (
        iterations.load.interval_s
    )
    return PatternFit(
        start_s=float(bounds_s[0]),
        end_s=float(bounds_s[1]),
        iterations=len(iterations),
        period_s=Estimate.of_mean(lengths_s[usual]),
        phases=tuple(
            FittedPhase(
                start_s=Estimate.of_mean(iterations.offsets_s[usual, level]),
                end_s=Estimate.of_mean(iterations.offsets_s[usual, level + 1]),
                bytes=Estimate.of_mean(own_bytes[usual, level]),
                rate_bps=_rate(own_bytes[usual, level], widths_s[usual, level]),
            )
            for level in np.flatnonzero(up).tolist()
        ),
        background_bps=background * 8,
        unexplained=float(np.average(iterations.unexplained[usual], weights=model_bytes)),
        outliers=tuple(
            Outlier(
                index,
                float(iterations.starts_s[index]),
                float(lengths_s[index]),
                float(sent[index].sum()),
                reason,
            )
            for index, reason in enumerate(reasons)
            if reason is not None
        ),
    )


def _rate(sent_bytes: NDArray[np.float64], widths_s: NDArray[np.float64]) -> Estimate:
    """Of all bytes over all time, with the error of a ratio of means."""
    rate = float(sent_bytes.sum() / widths_s.sum())
    off = Estimate.of_mean(sent_bytes - rate * widths_s)
    error = (off.high - off.value) / float(widths_s.mean())
    return Estimate(rate * 8, (rate - error) * 8, (rate + error) * 8)
