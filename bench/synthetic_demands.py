"""Series of demands that are known, as counters would show them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiler.demand_fit.pattern import PatternFit
from traces.load_series import LoadSeries


@dataclass(frozen=True, eq=False)
class Synthetic:
    """A series and what is in it.

    starts_s, ends_s: shape (iterations, phases), of each Up phase.
    phase_bytes: shape (phases). stalls_s: when a stall began.
    """

    series: LoadSeries
    starts_s: NDArray[np.float64]
    ends_s: NDArray[np.float64]
    phase_bytes: NDArray[np.float64]
    stalls_s: NDArray[np.float64]

    def truth(self, first_phase: int) -> tuple[float, NDArray[np.float64]]:
        """The mean length of the iterations without a stall, and the mean start and end of each
        phase in them, shape (phases, 2), if they begin with the gap before ``first_phase``."""
        phases = len(self.phase_bytes)
        starts, ends = self.starts_s.ravel(), self.ends_s.ravel()
        begins = np.arange(first_phase, len(starts) - phases, phases)
        begins = begins[begins > 0]
        anchors = np.append(ends[begins - 1], ends[begins[-1] + phases - 1])
        stalled = np.histogram(self.stalls_s, bins=anchors)[0] > 0
        lengths = np.diff(anchors)[~stalled]
        index = begins[~stalled][:, None] + np.arange(phases)[None, :]
        edges = (
            np.stack([starts[index], ends[index]], axis=2) - anchors[:-1][~stalled][:, None, None]
        )
        return float(lengths.mean()), edges.mean(axis=0)

    def deviations(self, fitted: PatternFit) -> tuple[float, float, float]:
        """How far ``fitted`` is from the truth: period and bytes as shares, and of all edges that
        which is furthest off, in s. Infinite where the number of phases is another.

        An iteration may begin at any of its gaps, since two may be as long as each other.
        """
        found = np.array([(each.start_s.value, each.end_s.value) for each in fitted.phases])
        sent_bytes = sum(each.bytes.value for each in fitted.phases)
        bytes_off = sent_bytes / float(self.phase_bytes.sum()) - 1
        if len(found) != len(self.phase_bytes):
            return fitted.period_s.value / self.truth(0)[0] - 1, bytes_off, np.inf
        truths = [self.truth(first) for first in range(len(found))]
        edges_s = [float(np.abs(found - edges).max()) for _, edges in truths]
        nearest = int(np.argmin(edges_s))
        return fitted.period_s.value / truths[nearest][0] - 1, bytes_off, edges_s[nearest]


@dataclass(frozen=True)
class Recipe:
    """period_s: of an iteration without jitter. jitter: of each pause, as the most share.
    drift: of the pauses, over the whole series. missing: share of samples."""

    period_s: float
    phases: int = 1
    iterations: int = 60
    intervals_per_period: float = 200.3
    jitter: float = 0.0
    together: bool = False
    drift: float = 0.0
    stalls: float = 0.0
    missing: float = 0.0
    noise: float = 0.03
    background: float = 0.002
    line_rate_bytes_per_s: float = 1.25e9


def any_recipe(random: np.random.Generator) -> Recipe:
    """1 to 6 phases, 10 ms to 60 s, jitter to 10 %, 2 % of samples missing, drift to 3 %, and a
    stall in 20 iterations."""
    return Recipe(
        period_s=float(np.exp(random.uniform(np.log(0.01), np.log(60.0)))),
        phases=int(random.integers(1, 7)),
        iterations=int(random.integers(40, 100)),
        intervals_per_period=float(np.exp(random.uniform(np.log(100), np.log(600)))),
        jitter=float(random.uniform(0, 0.1)),
        together=bool(random.integers(2)),
        drift=float(random.uniform(-0.03, 0.03)),
        stalls=0.05,
        missing=0.02,
        noise=float(random.uniform(0, 0.05)),
        background=float(random.uniform(0, 0.005)),
    )


def synthesise(recipe: Recipe, random: np.random.Generator) -> Synthetic:
    """One series of ``recipe``. Every phase and every gap has at least four intervals."""
    count = 2 * recipe.phases
    least = 4 / recipe.intervals_per_period
    widths = least + random.dirichlet(np.full(count, 1.5)) * (1 - count * least)
    widths_s = widths * recipe.period_s
    gaps_s, ups_s = widths_s[0::2], widths_s[1::2]
    rates = recipe.line_rate_bytes_per_s * random.uniform(0.3, 1.0, recipe.phases)
    shape = (recipe.iterations, recipe.phases)
    jitter = random.uniform(-1, 1, (recipe.iterations, 1) if recipe.together else shape)
    slower = 1 + recipe.drift * np.linspace(-0.5, 0.5, recipe.iterations)[:, None]
    pauses_s = gaps_s * (1 + recipe.jitter * jitter) * slower
    stalled = np.flatnonzero(random.random(recipe.iterations) < recipe.stalls)
    gap = random.integers(recipe.phases, size=len(stalled))
    stall_s = np.zeros(shape)
    stall_s[stalled, gap] = random.uniform(0.5, 3.0, len(stalled)) * recipe.period_s
    steps = np.stack([pauses_s + stall_s, np.broadcast_to(ups_s, shape)], axis=2).ravel()
    ends = np.cumsum(steps)
    starts_s, ends_s = ends[0::2].reshape(shape), ends[1::2].reshape(shape)
    series = _sampled(recipe, random, starts_s, ends_s, rates)
    stalls_s = np.sort(starts_s[stalled, gap] - 1e-9 * recipe.period_s)
    return Synthetic(series, starts_s, ends_s, ups_s * rates, stalls_s)


def _sampled(
    recipe: Recipe,
    random: np.random.Generator,
    starts_s: NDArray[np.float64],
    ends_s: NDArray[np.float64],
    rates: NDArray[np.float64],
) -> LoadSeries:
    interval_s = recipe.period_s / recipe.intervals_per_period
    edges_s = np.arange(0.0, ends_s[-1, -1], interval_s)
    knots = np.stack([starts_s, ends_s], axis=2).ravel()
    sent = np.stack([np.zeros_like(starts_s), (ends_s - starts_s) * rates], axis=2).ravel()
    sent_bytes = np.diff(np.interp(edges_s, knots, np.cumsum(sent)))
    sent_bytes *= np.maximum(1 + recipe.noise * random.standard_normal(len(sent_bytes)), 0)
    sent_bytes += (
        recipe.background
        * recipe.line_rate_bytes_per_s
        * interval_s
        * random.random(len(sent_bytes))
    )
    sent_bytes[random.random(len(sent_bytes)) < recipe.missing] = np.nan
    return LoadSeries(edges_s, sent_bytes)
