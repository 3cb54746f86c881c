"""The directory of a reproduced experiment, and whether it was finished there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.experiments.reproduce.recipe import (
    Curve,
    Drawing,
    Recipe,
    ReproducedFigure,
    Reproduction,
)
from harness.experiments.reproduce.store import figures_document, finished, write_reproduction
from traces.errors import BadInputError
from traces.run_directory import read_json

MADE = Reproduction(
    (ReproducedFigure("mean", "h", 2.0, expected=1.0, tolerance=0.1, note="because"),),
    (Drawing("means", "Means", "x", "y", (Curve("ours", (0.0, 1.0), (1.0, 2.0)),), "See."),),
    ("jobs.csv, SHA-256 0123",),
)
RECIPE = Recipe("tiny", "A tiny one", "a paper", 1.0, False, lambda *_: MADE)


def write(directory: Path, reproduction: Reproduction = MADE) -> None:
    write_reproduction(directory, RECIPE, reproduction, data=Path("data"), seeds=3, wall_s=1.23)


def test_the_directory_has_figures_provenance_and_drawings(tmp_path: Path) -> None:
    write(tmp_path)
    assert {each.name for each in tmp_path.iterdir()} == {
        "figures.json", "provenance.json", "means.png", "means.svg",
    }  # fmt: skip
    figures = read_json(tmp_path / "figures.json")
    printed = json.loads(json.dumps(figures_document(RECIPE, MADE)))
    assert {key: figures[key] for key in printed} == printed
    assert figures["drawings"][0]["curves"][0]["y"] == [1.0, 2.0]
    provenance = read_json(tmp_path / "provenance.json")
    assert provenance["inputs"] == ["jobs.csv, SHA-256 0123"]
    assert (provenance["recipe"], provenance["seeds"], provenance["wall_s"]) == ("tiny", 3, 1.2)
    assert {"numpy", "matplotlib", "python", "roundelay"} <= set(provenance["versions"])


def test_a_recipe_is_finished_once_its_figures_are_there(tmp_path: Path) -> None:
    assert finished(tmp_path) is None
    write(tmp_path)
    assert finished(tmp_path) == json.loads(json.dumps(figures_document(RECIPE, MADE)))


def test_an_interrupted_one_is_not_finished(tmp_path: Path) -> None:
    write(tmp_path, Reproduction(MADE.figures, interrupted=True))
    assert read_json(tmp_path / "figures.json")["figures"]
    assert finished(tmp_path) is None


@pytest.mark.parametrize("text", ["{", "[]", "{}"])
def test_figures_that_are_none_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "figures.json").write_text(text)
    with pytest.raises(BadInputError, match=r"is not JSON|lacks figures"):
        finished(tmp_path)
