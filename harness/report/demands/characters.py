"""Demands as characters: bars, columns and circles that a terminal shows without colour. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from harness.report.demands.iteration import Spans
from harness.report.thinning import Floats
from traces.demand import Phase

SHADES = " ░▒▓█"
ABOVE = "×"
NOTHING = "·"

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_INNER_ROWS = 2.5
_WIDTH_OF_A_ROW = 2.0  # a character is about twice as high as it is wide


def mean_rates(phases: Iterable[Phase], period_s: float, cells: int) -> Floats:
    """The mean rate of ``phases``, in order and apart, in each of equal parts of the period."""
    spans = [(phase.start_s, phase.end_s, phase.rate_bps) for phase in phases]
    return _means(spans, period_s, cells)


def coverage(spans: Spans, period_s: float, cells: int) -> Floats:
    """The share of each of equal parts of the period in which one of ``spans`` goes on."""
    apart: list[tuple[float, float, float]] = []
    for start_s, end_s in sorted(spans):
        behind_s = apart[-1][1] if apart else 0.0
        if end_s > behind_s:
            apart.append((max(start_s, behind_s), end_s, 1.0))
    return _means(apart, period_s, cells)


def means_of_slices(values: Floats, cells: int) -> Floats:
    """The mean of ``values``, shape (slices,), in each of equal parts of the turn."""
    until = np.append(0.0, np.cumsum(values))
    edges = np.linspace(0, len(values), cells + 1)
    sums = np.diff(np.interp(edges, np.arange(len(until)), until))
    return np.asarray(sums * cells / len(values))


def shades(shares: Floats) -> str:
    """A character for each of ``shares`` from 0 to 1; only 0 is blank."""
    return "".join(SHADES[min(math.ceil(share * 4 - 1e-6), 4)] for share in shares.tolist())


def columns(shares: Floats, rows: int) -> list[str]:
    """Columns as high as ``shares`` from 0 to 1, in so many lines, the highest first. What is not 0
    is seen."""
    eighths = [min(math.ceil(share * rows * 8 - 1e-6), rows * 8) for share in shares.tolist()]
    return [
        "".join(_EIGHTHS[min(max(height - 8 * row, 0), 8)] for height in eighths)
        for row in reversed(range(rows))
    ]


def rings(bands: Sequence[str], rows_a_band: float) -> list[str]:
    """Circles in each other, of the characters of ``bands``: the first is the innermost.

    Each begins at the top and goes around clockwise. All lines have the same length.
    """
    radius = _INNER_ROWS + len(bands) * rows_a_band
    half_rows, half_columns = math.floor(radius), math.floor(radius * _WIDTH_OF_A_ROW)
    return [
        "".join(
            _at(column / _WIDTH_OF_A_ROW, row, bands, rows_a_band)
            for column in range(-half_columns, half_columns + 1)
        )
        for row in range(-half_rows, half_rows + 1)
    ]


def _at(right: float, down: float, bands: Sequence[str], rows_a_band: float) -> str:
    band = math.floor((math.hypot(right, down) - _INNER_ROWS) / rows_a_band)
    if not 0 <= band < len(bands):
        return " "
    turn = math.atan2(right, -down) / (2 * math.pi) % 1.0
    return bands[band][min(int(turn * len(bands[band])), len(bands[band]) - 1)]


def _means(spans: Sequence[tuple[float, float, float]], period_s: float, cells: int) -> Floats:
    """spans: (start_s, end_s, value), in order and apart."""
    knots_s = [edge_s for start_s, end_s, _ in spans for edge_s in (start_s, end_s)]
    gains = [gain for start, end, value in spans for gain in (0.0, (end - start) * value)]
    edges_s = np.linspace(0, period_s, cells + 1)
    if not knots_s:
        return np.zeros(cells)
    return np.asarray(np.diff(np.interp(edges_s, knots_s, np.cumsum(gains))) * cells / period_s)
