"""The directory of a reproduced experiment: figures.json, provenance.json and the drawings."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any

from harness.experiments.reproduce.recipe import Recipe, Reproduction
from traces.errors import BadInputError
from traces.provenance import provenance
from traces.run_directory import read_json, write_json

_FIGURES = "figures.json"
_PRINTED = ("id", "figures")
_FROM_PROVENANCE = ("finished_utc", "versions", "machine")


def figures_document(recipe: Recipe, reproduction: Reproduction) -> dict[str, Any]:
    """What ``--json`` prints."""
    return {
        "id": recipe.id,
        "figures": [figure.document() for figure in reproduction.figures],
    }


def write_reproduction(
    directory: Path,
    recipe: Recipe,
    reproduction: Reproduction,
    *,
    data: Path,
    seeds: int | None,
    wall_s: float,
) -> None:
    """Write all of it. figures.json is the last, so that where it is there, the rest is too."""
    # It takes a third of a second to import, which other verbs do not need.
    from harness.experiments.reproduce.draw import write_drawing

    for drawing in reproduction.drawings:
        write_drawing(drawing, directory)
    document = provenance("", 0)
    versions = document["versions"]
    assert isinstance(versions, dict)  # noqa: S101 - provenance() makes it so
    versions["matplotlib"] = importlib.metadata.version("matplotlib")
    write_json(
        directory / "provenance.json",
        {
            "recipe": recipe.id,
            "title": recipe.title,
            "source": recipe.source,
            "seeds": seeds,
            "data": str(data),
            "inputs": list(reproduction.inputs),
            "wall_s": round(wall_s, 1),
            "interrupted": reproduction.interrupted,
            **{key: document[key] for key in _FROM_PROVENANCE},
        },
    )
    write_json(
        directory / _FIGURES,
        {
            **figures_document(recipe, reproduction),
            "interrupted": reproduction.interrupted,
            "drawings": [drawing.document() for drawing in reproduction.drawings],
        },
    )


def finished(directory: Path) -> dict[str, Any] | None:
    """What ``--json`` printed for a recipe that was finished there before; None if it was not."""
    file = directory / _FIGURES
    if not file.is_file():
        return None
    document = read_json(file)
    if not (isinstance(document, dict) and {*_PRINTED, "interrupted"} <= set(document)):
        raise BadInputError(
            "lacks figures", allowed="a file that 'roundelay reproduce' wrote", file=file
        )
    return None if document["interrupted"] else {key: document[key] for key in _PRINTED}
