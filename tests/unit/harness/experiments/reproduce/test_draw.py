"""Drawings are written, always the same, with the published values marked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.experiments.reproduce.draw import write_drawing
from harness.experiments.reproduce.recipe import Curve, Drawing

LOADS = Drawing(
    name="loads",
    title="Mean over loads",
    x_label="jobs per hour",
    y_label="mean in h",
    curves=(
        Curve("tune", (7.0, 8.0, 9.0), (10.0, 12.0, 20.0), (9.0, 11.0, 15.0), (11.0, 13.0, 25.0)),
        Curve("proportional", (7.0, 8.0, 9.0), (11.0, 20.0, 80.0)),
        Curve("published: tune", (9.0,), (22.0,), published=True),
    ),
    words="It grows.",
)
SPLITS = Drawing(
    name="splits",
    title="By split",
    x_label="split",
    y_label="speed-up",
    curves=(Curve("tune", (0.0, 1.0), (2.0, 1.0)), Curve("pub", (1.0,), (1.0,), published=True)),
    words="None at (50,0,50).",
    x_names=("(20,70,10)", "(50,0,50)"),
)
LINES = Drawing(
    name="lines",
    title="Completion times",
    x_label="h",
    y_label="%",
    curves=tuple(
        Curve(f"run {n}", tuple(range(101)), tuple(range(n, n + 101)), published=n > 8)
        for n in range(16)
    ),
    words="Many, of which some are published.",
)
NOTHING = Drawing("nothing", "Interrupted at once", "x", "y", (), "Nothing was made.")


@pytest.mark.parametrize("drawing", [LOADS, SPLITS, LINES, NOTHING], ids=lambda each: each.name)
def test_both_files_are_written(drawing: Drawing, tmp_path: Path) -> None:
    svg, png = write_drawing(drawing, tmp_path)
    assert {each.name for each in tmp_path.iterdir()} == {svg.name, png.name}
    assert png.read_bytes().startswith(b"\x89PNG")
    text = svg.read_text()
    assert "<svg" in text
    for words in (drawing.title, drawing.x_label, drawing.words):
        assert words in text
    for curve in drawing.curves:
        assert curve.name in text
    for name in drawing.x_names:
        assert name in text


def test_it_is_always_the_same_with_what_was_published_in_ink(tmp_path: Path) -> None:
    first = [file.read_bytes() for file in write_drawing(LOADS, tmp_path)]
    again = [file.read_bytes() for file in write_drawing(LOADS, tmp_path)]
    assert first == again
    text = first[0].decode().lower()
    lines = set(re.findall(r"stroke: (#[0-9a-f]{6})", text))
    assert {"#0072b2", "#e69f00"} <= lines  # of the palette for colour-blind readers
    assert "fill: #1c2733" in text  # the star
