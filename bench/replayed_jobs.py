"""Fidelity of replays: a fitted demand against the real training job that it was fitted to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.figures import Figure
from harness.experiments.reproduce.recipes.replay_real import RECIPE

_REPLAYS = ": replay against the real job"
_CHECKS = "all: checks of the emulations that failed"


def measure() -> Iterator[Figure]:
    """The worst place's error of the mean iteration time, by the shorter form of the recipe."""
    if RECIPE.quick is None:
        raise SystemExit(f"{RECIPE.id} has no shorter form")
    made = RECIPE.quick.run(Path(), None, lambda words: print(f"  {words}", flush=True))
    figures = {figure.name: figure for figure in made.figures}
    errors = {
        name.partition(_REPLAYS)[0]: figure.ours
        for name, figure in figures.items()
        if _REPLAYS in name and figure.ours is not None
    }
    if made.interrupted or not errors:
        raise SystemExit("no replay was compared to its end")
    places = "; ".join(f"{place} {error:.1%}" for place, error in errors.items())
    yield Figure(
        "fidelity.replay_error_pct",
        100 * max(errors.values()),
        "%",
        3.0,
        "at most",
        None,
        f"mean iteration time, worst of: {places}; {figures[_CHECKS].note}",
    )
