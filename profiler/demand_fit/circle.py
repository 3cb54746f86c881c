"""The circle of one iteration: which of the periods that may be it is, and the template of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiler.demand_fit.alignment import Alignment, first_alignment, typical_rate
from profiler.demand_fit.period import LEAST_ITERATIONS, candidate_periods
from traces.load_series import EvenLoad

_CELLS = 96  # at least, and less than twice as many, where the series has them
_TRIED_ITERATIONS = 48
_MOST_TRIED = 24

# Costs of alignments, in shares of what a constant rate costs.
_FITS = 0.03
_FITS_SOMEWHAT = 0.05
_COST_OF_NOISE = 0.001
_MORE_THAN_THE_BEST = 1.12  # what a shorter period may cost, in costs of the best
_MORE_THAN_SEVERAL = 2.5

_SAME_LENGTH, _OTHER_LENGTH = 0.05, 0.1

_MOST_PARTS_OF_AN_ITERATION = 8
_EQUAL_PARTS = 0.03  # as little, lengths and bytes of parts of an iteration differ by chance
_EQUAL_CURVES = 0.02
_BEYOND_CHANCE = 1.6

_UP_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class Circle:
    """template: shape (cells), the rate in bytes/s around one iteration. factor: intervals of the
    series to a cell."""

    template: NDArray[np.float64]
    factor: int


def find_circle(load: EvenLoad) -> Circle | None:
    """The circle of the shortest candidate that costs about as little as any; None without one.

    The first iterations are what is tried. Where parts of an iteration are so much alike that one
    of them fits as well, lengths, bytes or curves that come back after some of them tell.
    """
    load = load.part(_first_sent(load), len(load))
    tried: dict[int, Alignment] = {}
    parts: set[int] = set()
    waiting, others = candidate_periods(load)
    while (waiting or others) and len(tried) < _MOST_TRIED:
        if not waiting:
            if tried and min(each.cost for each in tried.values()) < _FITS:
                break
            waiting, others = others, []
        period = waiting.pop(0)
        if period in tried or 2 * period > len(load):
            continue
        head = _head(load, period, _factor(period))
        tried[period] = first_alignment(head, period // _factor(period))
        length = tried[period].cells * _factor(period)
        repeats = _repeats(head, tried[period])
        if repeats is not None and repeats * length * LEAST_ITERATIONS <= len(load):
            parts.add(period)
            waiting.append(repeats * length)
        elif abs(length / period - 1) > _OTHER_LENGTH:
            waiting.append(length)  # begun with a stretch as long, its circle is a better one
    whole = {period: tried[period] for period in tried.keys() - parts} or tried
    if not whole:
        return None
    period = _shortest(whole)
    return Circle(whole[period].template, _factor(period))


def known_circle(load: EvenLoad, period: int) -> Circle | None:
    """The circle of iterations that are known to take ``period`` intervals; None where there are
    less than two of them once something is sent."""
    load = load.part(_first_sent(load), len(load))
    if 2 * period > len(load):
        return None
    factor = _factor(period)
    return Circle(first_alignment(_head(load, period, factor), period // factor).template, factor)


def _shortest(tried: Mapping[int, Alignment]) -> int:
    """The shortest of the ``tried`` periods that costs about as little as the best. Of those of
    the same length, which began elsewhere, the one that costs least."""
    lengths = {period: tried[period].cells * _factor(period) for period in tried}

    def is_several(period: int, other: int) -> bool:
        """Whether it is several of the other: were these unlike each other, the other would be a
        part. With longer cells, and so less noise, it may cost much less nevertheless."""
        times = lengths[period] / lengths[other]
        near = round(times) >= 2 and abs(times / round(times) - 1) <= _SAME_LENGTH
        is_coarser = _factor(period) > _factor(other)
        fits = tried[other].cost <= _MORE_THAN_SEVERAL * tried[period].cost
        return near and (fits or (is_coarser and tried[other].cost <= _FITS_SOMEWHAT))

    single = [each for each in tried if not any(is_several(each, other) for other in tried)]
    allowed = _MORE_THAN_THE_BEST * min(tried[each].cost for each in single) + _COST_OF_NOISE
    fitting = [each for each in single if tried[each].cost <= allowed]
    longest = (1 + _SAME_LENGTH) * min(lengths[each] for each in fitting)
    same = [each for each in fitting if lengths[each] <= longest]
    return min(same, key=lambda period: tried[period].cost)


def _head(load: EvenLoad, period: int, factor: int) -> EvenLoad:
    return load.part(0, _TRIED_ITERATIONS * period).coarser(factor)


def _factor(period: int) -> int:
    return max(1, period // _CELLS)


def _first_sent(load: EvenLoad) -> int:
    """The first interval in which more is sent than in a Down phase."""
    return int(np.argmax(load.rate_bytes_per_s > _UP_SHARE * typical_rate(load)))


def _repeats(load: EvenLoad, alignment: Alignment) -> int | None:
    """After how many turns their lengths, bytes or curves come back, where those of neighbours
    differ more: what was taken for an iteration is a part of one then. None where it is not."""
    bounds = alignment.first_intervals(0)
    if len(bounds) < 2 * LEAST_ITERATIONS:
        return None
    # A turn with gaps would seem to send less.
    unseen = (1 - load.observed) * alignment.template[alignment.position % alignment.cells]
    sent_until = np.append(0.0, np.cumsum(load.rate_bytes_per_s * load.observed + unseen))
    found = (
        _comes_back(np.diff(bounds).astype(np.float64)),
        _comes_back(np.diff(sent_until[bounds])),
        _curve_comes_back(load, alignment),
    )
    return max((turns for turns in found if turns is not None), default=None)


def _curve_comes_back(load: EvenLoad, alignment: Alignment) -> int | None:
    """After how many turns their mean curve comes back: the means of each so-many-th turn differ
    more than by chance, as those do that are taken after another number of turns."""
    cells, turn = alignment.cells, alignment.position // alignment.cells
    cell = alignment.position % cells
    places = np.arange(2, min(_MOST_PARTS_OF_AN_ITERATION, int(turn[-1] - turn[0]) // 3) + 1)
    apart = np.zeros(len(places))
    for index, each in enumerate(places.tolist()):
        place = turn % each * cells + cell
        weight = np.bincount(place, load.observed, each * cells).reshape(each, cells)
        sent = np.bincount(place, load.observed * load.rate_bytes_per_s, each * cells)
        means = np.where(weight > 0, sent.reshape(each, cells) / np.maximum(weight, 1e-12), np.nan)
        off = np.abs(means - alignment.template)
        apart[index] = np.nansum(off) / max(each * float(alignment.template.sum()), 1e-12)
    # The mean of fewer turns differs more by chance.
    by_chance = apart / np.sqrt(places)
    for index, each in enumerate(places.tolist()):
        others = by_chance[places % each != 0]
        beyond = _BEYOND_CHANCE * np.median(others) if len(others) else np.inf
        if apart[index] > _EQUAL_CURVES and by_chance[index] > beyond:
            return int(each)
    return None


def _comes_back(values: NDArray[np.float64]) -> int | None:
    """After how many places ``values`` come back: they and those after as many again are apart by
    less than a third of what the others are."""
    # Of half of the places there is another as far again, so that chance rarely makes both.
    places = np.arange(1, min(_MOST_PARTS_OF_AN_ITERATION, len(values) // 3) + 1)
    apart = np.array([np.median(np.abs(values[each:] - values[:-each])) for each in places])
    if apart[0] <= _EQUAL_PARTS * np.median(values):
        return None
    for each in places[1 : len(places) // 2].tolist():
        again = places % each == 0
        if apart[again].max() <= np.median(apart[~again]) / 3:
            return int(each)
    return None
