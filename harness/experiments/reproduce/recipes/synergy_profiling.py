"""Synergy's optimistic profiling: few points along CPUs, and the rest from models.

(OSDI'22.) What is measured is the published curve of each of its ten models, with 24 CPUs and all
the memory. The search along CPUs is the profiler's own, as is the model of memory; beside it stands
the paper's binary search alone. All of it once exactly, and over seeds with noise as large as the
profiler allows of a point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.experiments.reproduce.comparisons import Published
from harness.experiments.reproduce.recipe import (
    Curve,
    Drawing,
    Recipe,
    ReproducedFigure,
    Reproduction,
    Say,
)
from harness.experiments.reproduce.synergy import PAPER, seeds_of
from profiler.sensitivity.cpu_curve import CpuCurve
from profiler.sensitivity.cpu_search import MOST_POINTS, THRESHOLD, CpuSearch
from profiler.sensitivity.memory_model import Fetching, optimistic_matrix
from traces.sensitivity import Sensitivity, builtin_sensitivities
from traces.stage_reconstruction import stage_costs_of, storage_rate_of

Floats = NDArray[np.float64]

CPUS = np.arange(1.0, 25.0)
MEMORY_POINTS = 10
"""Of the paper's grid: 24 by 10."""

NOISE = 0.005
"""Standard deviation of a measured time, as a share of it: its 95 % interval is 2 % wide."""

_DIGITS = 9
_SEEDS = 100
_RATIO = 3.0
_MINUTES = 1.0  # a point takes (the paper)

_POINTS = Published(MOST_POINTS, 0.0, f"{PAPER}: 8 CPU points instead of 24", "at most")
_ERROR = Published(3.0, 0.0, f"{PAPER}: within 3 % of what is measured", "at most")
_IDEAL_SOURCE = "msr-fiddle/synergy, simulator/models: ideal CPUs per GPU"
_GRID = Published(240.0, 0.0, f"{PAPER}: 24 by 10 points of a minute")
_AXIS = Published(24.0, 0.0, f"{PAPER}: 240 to 24 minutes")
_SEARCH = Published(8.0, 0.0, f"{PAPER}: under 8 minutes", "at most")
_RATIOS = Published(30.0, 0.0, f"{PAPER}: up to 30 times less", "at least")

_CURVE_NOTE = (
    "over all 24 CPUs; between the 9 numbers of CPUs that are published, speed is linear in them"
)
_MATRIX_NOTE = (
    "24 CPUs by the published memory points but the placeholder; the storage's rate follows from "
    "the point with most CPUs and least memory"
)
_NOISE_NOTE = f"each time with normal noise of {NOISE:.1%}"
_PLAIN_NOTE = (
    "the paper's text alone: halving by the 10 % threshold, the ideal demand where it ends, and "
    "speed linear in CPUs between the points"
)
_ORDER = ("the first two points", "the next two", "fifth and sixth", "the last two")
_DRAWN = ("alexnet", "res18", "mobilenet", "m5")

Measure = Callable[[float], float]
"""CPUs -> seconds of an iteration."""


@dataclass(frozen=True, eq=False)
class Profiled:
    """One model. points: CPUs in the order in which they were measured. ideal: the published one.

    errors: of throughput, (CPUS), as a share. matrix_errors: (CPUS, memory).
    """

    model: str
    points: tuple[float, ...]
    curve: CpuCurve
    ideal: float
    errors: Floats
    matrix_errors: Floats


def profiled(sensitivity: Sensitivity, noise: float = 0.0, seed: int = 0) -> Profiled:
    """Profile the published curve of a model. noise: see NOISE."""
    true_s = iteration_s(sensitivity)
    random = np.random.default_rng(seed)

    def measure(cpus: float) -> float:
        exact = float(true_s[int(cpus) - 1, -1])
        return exact * float(np.exp(noise * random.standard_normal()))

    points, curve = _searched(measure)
    costs = stage_costs_of(sensitivity, float(CPUS[-1]))
    fetching = Fetching(costs.dataset_bytes, costs.read_bytes, storage_rate_of(sensitivity))
    matrix_s = optimistic_matrix(curve, measured_memory(sensitivity), fetching)
    return Profiled(
        sensitivity.model,
        points,
        curve,
        sensitivity.two_point_at(_RATIO).cpus,
        _error(true_s[:, -1], curve.iteration_s),
        _error(true_s, matrix_s),
    )


def _error(true_s: Floats, found_s: Floats) -> Floats:
    """Of throughput, as a share, without what is only rounding."""
    errors: Floats = np.abs(true_s / found_s - 1).round(_DIGITS)
    return errors


def measured_memory(sensitivity: Sensitivity) -> Floats:
    """Its points of memory, in bytes, whose values are no placeholders."""
    is_placeholder = np.isin(sensitivity.memory_bytes, sensitivity.placeholder_memory_bytes)
    return sensitivity.memory_bytes[~is_placeholder]


def iteration_s(sensitivity: Sensitivity) -> Floats:
    """What measuring all of the grid would give: (CPUS, measured_memory)."""
    throughput = sensitivity.at(CPUS[:, None], measured_memory(sensitivity)[None, :])
    return sensitivity.iteration_s / throughput


def _searched(measure: Measure) -> tuple[tuple[float, ...], CpuCurve]:
    search = CpuSearch(CPUS.tolist())
    points = []
    while (cpus := search.next_point()) is not None:
        points.append(cpus)
        search.add(cpus, measure(cpus))
    return tuple(points), search.curve()


def binary_search(measure: Measure) -> tuple[float, float]:
    """The paper's search alone: the CPUs at which it ends, and its worst error as a share."""
    too_few, enough = 0, int(CPUS[-1])
    measured = {enough: measure(enough)}
    best_s = measured[enough]
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        measured[middle] = measure(middle)
        if measured[middle] / best_s - 1 < THRESHOLD:
            enough = middle
        else:
            too_few = middle
    known = sorted(measured)
    # Below the first point, in proportion to CPUs.
    speeds = np.interp(CPUS, [0, *known], [0, *(1 / measured[cpus] for cpus in known)])
    true_s = np.array([measure(cpus) for cpus in CPUS])
    return enough, float(np.abs(speeds * true_s - 1).max())


def _figures(
    exact: list[Profiled], noisy: list[list[Profiled]], entries: tuple[Sensitivity, ...]
) -> Iterator[ReproducedFigure]:
    for each in exact:
        yield _beside(f"{each.model}: points measured", "points", len(each.points), _POINTS)
        ideal = Published(each.ideal, 0.0, _IDEAL_SOURCE)
        note = "" if each.curve.is_knee_measured else "it and the point below it were not measured"
        yield _beside(f"{each.model}: ideal demand", "CPUs", each.curve.knee_cpus, ideal, note)
        worst = int(each.errors.argmax())
        place = f"at {CPUS[worst]:g} CPUs; " if each.errors[worst] else ""
        note = f"{place}median {np.median(each.errors):.2%}; {_CURVE_NOTE}"
        yield _beside(f"{each.model}: worst error", "%", 100 * each.errors[worst], _ERROR, note)
    yield from _all_models(exact)
    yield from _costs(exact)
    yield from _with_noise(noisy)
    yield from _plain(entries)


def _all_models(exact: list[Profiled]) -> Iterator[ReproducedFigure]:
    worst = max(exact, key=lambda each: float(each.errors.max()))
    note = f"{worst.model}; {_CURVE_NOTE}"
    yield _beside("worst model: worst error", "%", 100 * float(worst.errors.max()), _ERROR, note)
    errors = np.concatenate([each.matrix_errors.ravel() for each in exact])
    yield _beside("matrix: median error", "%", 100 * float(np.median(errors)), _ERROR, _MATRIX_NOTE)
    worst = max(exact, key=lambda each: float(each.matrix_errors.max()))
    note = f"{worst.model}; {_MATRIX_NOTE}"
    share = float(worst.matrix_errors.max())
    yield _beside("matrix: worst error", "%", 100 * share, _ERROR, note)


def _costs(exact: list[Profiled]) -> Iterator[ReproducedFigure]:
    grid = len(CPUS) * MEMORY_POINTS * _MINUTES
    most = max(exact, key=lambda each: len(each.points))
    mean = float(np.mean([len(each.points) for each in exact])) * _MINUTES
    note = f"{_MINUTES:g} minute a point"
    yield _beside("cost: full grid", "min", grid, _GRID, note)
    yield _beside("cost: all CPUs at full memory", "min", len(CPUS) * _MINUTES, _AXIS, note)
    search = len(most.points) * _MINUTES
    yield _beside("cost: search, most of a model", "min", search, _SEARCH, f"{most.model}; {note}")
    yield ReproducedFigure("cost: search, mean of the models", "min", mean, note=note)
    yield _beside("cost: full grid over search, least", "x", grid / search, _RATIOS, most.model)


def _with_noise(noisy: list[list[Profiled]]) -> Iterator[ReproducedFigure]:
    runs = [each for of_seed in noisy for each in of_seed]
    note = f"{len(noisy)} seeds; {_NOISE_NOTE}"
    found = np.mean(
        [[each.curve.knee_cpus == each.ideal for each in of_seed] for of_seed in noisy], 0
    )
    least = int(found.argmin())
    seldom = f"least often, {found[least]:.0%}, of {noisy[0][least].model}; {note}"
    yield ReproducedFigure("noise: ideal demand found", "%", 100 * float(found.mean()), note=seldom)
    most = max(len(each.points) for each in runs)
    yield _beside("noise: points measured, most", "points", most, _POINTS, note)
    worst = [max(float(each.errors.max()) for each in of_seed) for of_seed in noisy]
    share = float(np.median(worst))
    what = f"of the worst model, the median over {note}"
    yield _beside("noise: worst error", "%", 100 * share, _ERROR, what)
    median = float(np.median([np.median(each.errors) for each in runs]))
    yield _beside("noise: median error", "%", 100 * median, _ERROR, note)


def _plain(entries: tuple[Sensitivity, ...]) -> Iterator[ReproducedFigure]:
    missed, errors = [], {}
    for each in entries:
        true_s = iteration_s(each)[:, -1].tolist()
        cpus, error = binary_search(dict(zip(CPUS.tolist(), true_s, strict=True)).__getitem__)
        errors[each.model] = error
        ideal = each.two_point_at(_RATIO).cpus
        if cpus != ideal:
            missed.append(f"{each.model} {cpus:g} for {ideal:g}")
    worst = max(errors, key=errors.__getitem__)
    found = len(entries) - len(missed)
    note = f"of {len(entries)}; not: {', '.join(missed) or 'none'}; {_PLAIN_NOTE}"
    yield ReproducedFigure("binary search alone: ideal demands found", "models", found, note=note)
    yield ReproducedFigure(
        "binary search alone: worst error",
        "%",
        100 * errors[worst],
        note=f"{worst}; {_PLAIN_NOTE}",
    )


def _beside(
    name: str, unit: str, ours: float, published: Published, note: str = ""
) -> ReproducedFigure:
    return ReproducedFigure(
        name,
        unit,
        float(ours),
        expected=published.value,
        source=published.source,
        tolerance=published.tolerance,
        note=note,
        compare=published.compare,
    )


def _drawings(
    exact: list[Profiled], noisy: list[list[Profiled]], entries: tuple[Sensitivity, ...]
) -> tuple[Drawing, ...]:
    return _curves(exact, entries), _chosen(exact), _errors(exact, noisy)


def _curves(exact: list[Profiled], entries: tuple[Sensitivity, ...]) -> Drawing:
    curves = []
    for each, sensitivity in zip(exact, entries, strict=True):
        if each.model not in _DRAWN:
            continue
        x = tuple(CPUS.tolist())
        ours = sensitivity.iteration_s / each.curve.iteration_s
        published = sensitivity.iteration_s / iteration_s(sensitivity)[:, -1]
        curves.append(Curve(each.model, x, tuple(ours.tolist())))
        curves.append(
            Curve(f"{each.model}, published", x, tuple(published.tolist()), published=True)
        )
    return Drawing(
        "synergy-profiling-curves",
        "Throughput over CPUs, from at most 8 measured points",
        "CPUs per GPU",
        "throughput, of that at 3 CPUs",
        tuple(curves),
        "What the search reconstructs lies on the published curves.",
    )


def _chosen(exact: list[Profiled]) -> Drawing:
    curves = []
    for first, name in enumerate(_ORDER):
        of_pair = slice(2 * first, 2 * first + 2)
        measured = [
            (float(place), cpus)
            for place, each in enumerate(exact)
            for cpus in each.points[of_pair]
        ]
        x, y = zip(*measured, strict=True)
        curves.append(Curve(name, x, y))
    ideal = Curve(
        "published ideal demand",
        tuple(float(place) for place in range(len(exact))),
        tuple(each.ideal for each in exact),
        published=True,
    )
    return Drawing(
        "synergy-profiling-points",
        "Where the search measures, and the ideal demand",
        "model",
        "CPUs per GPU",
        (*curves, ideal),
        "Points gather around the ideal demand and where the curve rises; language models take 2.",
        tuple(each.model for each in exact),
    )


def _errors(exact: list[Profiled], noisy: list[list[Profiled]]) -> Drawing:
    places = tuple(float(place) for place in range(len(exact)))
    worst = 100 * np.array([[each.errors.max() for each in of_seed] for of_seed in noisy])
    low, middle, high = np.percentile(worst, (2.5, 50, 97.5), axis=0)
    return Drawing(
        "synergy-profiling-errors",
        "Worst error of the reconstructed curve",
        "model",
        "error of throughput, %",
        (
            Curve("exact", places, tuple(100 * float(each.errors.max()) for each in exact)),
            Curve(
                f"with noise of {NOISE:.1%}",
                places,
                tuple(middle.tolist()),
                tuple(low.tolist()),
                tuple(high.tolist()),
            ),
            Curve("paper: within 3 %", places, (3.0,) * len(places), published=True),
        ),
        f"Over 24 CPUs; with noise the median of {len(noisy)} seeds, and where 95 % of them are.",
        tuple(each.model for each in exact),
    )


def _run(data: Path, seeds: int | None, say: Say) -> Reproduction:
    entries = builtin_sensitivities("synergy").entries
    exact = [profiled(each) for each in entries]
    noisy: list[list[Profiled]] = []
    for seed in seeds_of(seeds, _SEEDS):
        # Of each model another stream, so that they do not all have the same noise.
        noisy.append([profiled(each, NOISE, 1000 * seed + i) for i, each in enumerate(entries)])
        if seed % 20 == 0:
            say(f"{seed} seeds with noise")
    return Reproduction(
        tuple(_figures(exact, noisy, entries)),
        _drawings(exact, noisy, entries),
        ("the built-in set synergy: ten published models on 24 CPUs",),
    )


RECIPE = Recipe(
    id="synergy-profiling",
    title="Synergy's optimistic profiling of ten models on 24 CPUs",
    source=f"{PAPER}, optimistic profiling",
    seconds=10,
    needs_data=False,
    run=_run,
)
