"""The recipe synergy-profiling: what the paper says of optimistic profiling, on its ten models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.experiments.reproduce.recipe import Reproduction
from harness.experiments.reproduce.recipes.synergy_profiling import (
    RECIPE,
    binary_search,
    iteration_s,
    profiled,
)
from traces.sensitivity import builtin_sensitivities

MODELS = [entry.model for entry in builtin_sensitivities("synergy").entries]


@pytest.fixture(scope="module")
def made() -> Reproduction:
    return RECIPE.run(Path("absent"), 3, lambda _: None)


@pytest.mark.parametrize("model", MODELS)
def test_eight_points_find_the_ideal_demand_and_the_curve(model: str) -> None:
    found = profiled(builtin_sensitivities("synergy").of(model, "v100"))
    assert len(found.points) <= 8
    assert found.curve.knee_cpus == found.ideal
    assert found.curve.is_knee_measured
    assert found.errors.max() < 0.03


def test_language_models_take_two_points() -> None:
    for model in ("gnmt", "transformer", "lstm"):
        assert len(profiled(builtin_sensitivities("synergy").of(model, "v100")).points) == 2


def test_what_is_measured_is_the_published_table() -> None:
    alexnet = builtin_sensitivities("synergy").of("alexnet", "v100")
    times = iteration_s(alexnet)
    assert times.shape == (24, 4)
    assert alexnet.iteration_s / times[11] == pytest.approx([2, 2.94, 2.94, 2.94])


def test_the_binary_search_alone_halves_by_the_threshold() -> None:
    cpus, error = binary_search(lambda cpus: max(1.0, 6.0 / cpus))
    assert (cpus, error) == (6, pytest.approx(0))
    cpus, _ = binary_search(lambda cpus: 1.05 if cpus < 20 else 1.0)
    assert cpus == 1


def test_all_that_the_paper_says_comes_out(made: Reproduction) -> None:
    wrong = [figure.name for figure in made.figures if figure.ok is False]
    assert not wrong
    figures = {figure.name: figure for figure in made.figures}
    assert len(figures) == len(made.figures)
    assert figures["cost: full grid over search, least"].ours == 30
    plain = figures["binary search alone: ideal demands found"]
    assert plain.ours == 8
    assert "res18 8 for 9, mobilenet 5 for 6" in plain.note


def test_drawings_have_every_model(made: Reproduction) -> None:
    curves, points, errors = made.drawings
    assert len(curves.curves) == 8
    assert list(points.x_names) == list(errors.x_names) == MODELS
    drawn = sum(len(curve.x) for curve in points.curves if not curve.published)
    assert drawn == 6 * 8 + 6 + 3 * 2
    assert np.all(np.array(errors.curves[1].low) <= np.array(errors.curves[1].high))
