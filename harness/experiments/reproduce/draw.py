"""Drawings as SVG and PNG, through matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.experiments.reproduce.recipe import Curve, Drawing
from harness.report.figures.drawn import STYLE, set_words, write_figure
from harness.report.figures.figure import GRID, INK, colour

_INCHES = (8.0, 5.2)
_MARKERS = "os^Dvp"
_PUBLISHED_MARKERS = "*PX"
_PUBLISHED_DASHES = ("--", ":", "-.", (0, (1, 3)))
_MOST_MARKED = 20  # points of a line, beyond which markers hide it
_DODGE = 0.12  # between the points of neighbouring curves at one name


def write_drawing(drawing: Drawing, directory: Path) -> tuple[Path, Path]:
    """Write NAME.svg and NAME.png into ``directory``."""
    with rc_context(STYLE):
        figure = _figure(drawing)
    files = directory / f"{drawing.name}.svg", directory / f"{drawing.name}.png"
    for file in files:
        write_figure(figure, file)
    return files


def _figure(drawing: Drawing) -> Figure:
    figure = Figure(figsize=_INCHES, layout="constrained")
    axes = figure.add_subplot()
    ours = [curve for curve in drawing.curves if not curve.published]
    published = [curve for curve in drawing.curves if curve.published]
    for number, curve in enumerate(ours):
        shift = _DODGE * (number - (len(ours) - 1) / 2) if drawing.x_names else 0.0
        _draw_ours(axes, curve, number, shift, joined=not drawing.x_names)
    for number, curve in enumerate(published):
        _draw_published(axes, curve, number)
    axes.set_xlabel(drawing.x_label)
    axes.set_ylabel(drawing.y_label)
    axes.set_title(drawing.title, loc="left", fontsize=10)
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    axes.grid(color=GRID)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if drawing.x_names:
        axes.set_xticks(range(len(drawing.x_names)), drawing.x_names)
    if drawing.curves:
        axes.legend(frameon=False, fontsize=8)
    set_words(figure, drawing.words)
    return figure


def _draw_ours(axes: Axes, curve: Curve, number: int, shift: float, *, joined: bool) -> None:
    x = [each + shift for each in curve.x]
    style: dict[str, Any] = {"color": colour(number), "label": curve.name}
    if len(x) <= _MOST_MARKED:
        style["marker"] = _MARKERS[number % len(_MARKERS)]
        style["markersize"] = 5
    style["linestyle"] = "-" if joined else "none"
    if curve.low is None or curve.high is None:
        axes.plot(x, curve.y, **style)
        return
    below = [y - low for y, low in zip(curve.y, curve.low, strict=True)]
    above = [high - y for y, high in zip(curve.y, curve.high, strict=True)]
    axes.errorbar(x, curve.y, yerr=[below, above], capsize=3, elinewidth=1, **style)


def _draw_published(axes: Axes, curve: Curve, number: int) -> None:
    """In ink and over ours: single values as stars and the like, lines broken."""
    values = len(curve.x) <= _MOST_MARKED
    axes.plot(
        curve.x,
        curve.y,
        color=INK,
        label=curve.name,
        linestyle="none" if values else _PUBLISHED_DASHES[number % len(_PUBLISHED_DASHES)],
        linewidth=1.2,
        marker=_PUBLISHED_MARKERS[number % len(_PUBLISHED_MARKERS)] if values else "",
        markersize=9,
        markeredgecolor="white",
        zorder=3,
    )
