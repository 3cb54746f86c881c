"""Demands as PNG and SVG, through matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.projections.polar import PolarAxes

from harness.report.demands.iteration import IterationDrawing, Spans
from harness.report.demands.shared_link import SharedLinkDrawing, TurnedCircle, steps
from harness.report.figures.drawn import STYLE, set_words, write_figure
from harness.report.figures.figure import GRID, INK, MUTED, colour, pattern
from harness.report.thinning import Floats, mean_of_runs
from harness.report.words import bit_rate, number, time_unit

_COMPUTING, _SENDING, _OTHERS = colour(0), colour(1), colour(5)
_TURN = 2 * math.pi
_HOLE = 0.4  # of the capacity, inside a circle
_QUARTERS = 4
_PATTERN_TIMES = 3  # patterns are finer where their signs are repeated
# Names of jobs are no formulas.
_STYLE: dict[Any, Any] = {**STYLE, "text.parse_math": False}


def draw_iteration(drawing: IterationDrawing, file: Path) -> None:
    """The timeline of one iteration, the rate over it, and its circle. Raises OSError."""
    with rc_context(_STYLE):
        figure = Figure(figsize=(10.0, 4.4), layout="constrained")
        grid = figure.add_gridspec(2, 2, width_ratios=(5, 3), height_ratios=(2, 3))
        timeline = figure.add_subplot(grid[0, 0])
        _draw_timeline(timeline, drawing)
        _draw_rate(figure.add_subplot(grid[1, 0], sharex=timeline), drawing)
        circle = _polar(figure, grid[:, 1], drawing.iteration.period_s)
        _draw_circle(circle, drawing)
        set_words(figure, drawing.words)
        write_figure(figure, file)


def draw_shared_link(drawing: SharedLinkDrawing, file: Path) -> None:
    """The circles of a link's jobs and the load, before and after rotation. Raises OSError."""
    with rc_context(_STYLE):
        figure = Figure(figsize=(9.0, 7.2), layout="constrained")
        grid = figure.add_gridspec(2, 2, height_ratios=(5, 2))
        sides = (("At once", drawing.before), ("With the time-shifts", drawing.after))
        for place, (title, turned) in enumerate(sides):
            circle = _polar(figure, grid[0, place], drawing.perimeter_s)
            _draw_jobs(circle, drawing, turned, _TURN / drawing.perimeter_s)
            _draw_capacity(circle)
            circle.set_ylim(-_HOLE, drawing.largest_bps / drawing.capacity_bps * 1.05)
            circle.set_title(f"{title}: score {turned.score:.2f}", fontsize=10)
            load = figure.add_subplot(grid[1, place])
            _draw_load(load, drawing, turned)
            if place == 0:
                load.set_ylabel("load, Gbit/s")
                figure.legend(*circle.get_legend_handles_labels(), loc="outside upper center",
                              ncols=4, frameon=False, fontsize=8)  # fmt: skip
        set_words(figure, drawing.words)
        write_figure(figure, file)


def _draw_timeline(axes: Axes, drawing: IterationDrawing) -> None:
    factor, _ = time_unit(drawing.iteration.period_s)
    rows: list[tuple[str, Spans, str]] = [
        ("computes", drawing.iteration.computing, _COMPUTING),
        ("sends", drawing.sending, _SENDING),
    ]
    if drawing.others_sending:
        rows.append(("others send", drawing.others_sending, _OTHERS))
    for row, (_, spans, shade) in enumerate(rows):
        bars = [(start_s * factor, (end_s - start_s) * factor) for start_s, end_s in spans]
        axes.broken_barh(bars, (row - 0.36, 0.72), color=shade, linewidth=0)
    own = [each for each in drawing.iteration.transfers if each.is_own]
    ready = [each.ready_s * factor for each in own]
    axes.plot(ready, [1.0] * len(own), "|", color=INK, markersize=14, label="data ready")
    axes.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_title(f"{drawing.model}: one iteration alone", loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelbottom=False)
    if own:
        axes.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1.0, 1.0))


def _draw_rate(axes: Axes, drawing: IterationDrawing) -> None:
    period_s = drawing.iteration.period_s
    factor, unit = time_unit(period_s)
    edges_s, rates = [0.0], []
    for phase in drawing.curve.phases:
        edges_s += [phase.start_s, phase.end_s]
        rates += [0.0, phase.rate_bps / 1e9]
    axes.stairs([*rates, 0.0], [edge_s * factor for edge_s in [*edges_s, period_s]],
                fill=True, color=_SENDING)  # fmt: skip
    link = drawing.link_bps / 1e9
    axes.axhline(link, color=INK, linestyle="--", linewidth=1.2)
    axes.annotate(f"link {bit_rate(drawing.link_bps)}", (period_s * factor, link), fontsize=8,
                  ha="right", va="bottom")  # fmt: skip
    axes.set_xlim(0, period_s * factor)
    axes.set_ylim(0, link * 1.2)
    axes.set_xlabel(f"time, {unit}")
    axes.set_ylabel("rate, Gbit/s")
    _plain(axes)


def _draw_circle(circle: PolarAxes, drawing: IterationDrawing) -> None:
    """The rate around one iteration, and inside of it, as a thin ring, computing."""
    turn = _TURN / drawing.iteration.period_s
    rings = [(span, -0.14, 0.1, _COMPUTING) for span in drawing.iteration.computing]
    rings += [
        ((phase.start_s, phase.end_s), 0.0, phase.rate_bps / drawing.link_bps, _SENDING)
        for phase in drawing.curve.phases
    ]
    for (start_s, end_s), below, height, shade in rings:
        width = (end_s - start_s) * turn
        circle.bar(start_s * turn, height, width, below, align="edge", color=shade, linewidth=0)
    _draw_capacity(circle)
    circle.set_title("One turn is one iteration", fontsize=9)


def _draw_jobs(
    circle: PolarAxes, drawing: SharedLinkDrawing, turned: TurnedCircle, turn: float
) -> None:
    """The jobs' demands in units of the capacity, one above the other."""
    edges_s, demand = _thinned(drawing, turned)
    runs = steps(demand)
    starts = [edges_s[first] * turn for first, _ in runs]
    widths = [(edges_s[behind] - edges_s[first]) * turn for first, behind in runs]
    below = [0.0] * len(runs)
    for number_of_job, (job, row) in enumerate(zip(drawing.jobs, demand, strict=True)):
        heights = [float(row[first]) / drawing.capacity_bps for first, _ in runs]
        shown = [place for place, height in enumerate(heights) if height > 0]
        shade = colour(number_of_job)
        circle.bar(
            [starts[place] for place in shown],
            [heights[place] for place in shown],
            [widths[place] for place in shown],
            [below[place] for place in shown],
            align="edge",
            color=shade,
            edgecolor=shade if not pattern(number_of_job) else INK,
            linewidth=0.2,
            hatch=pattern(number_of_job) * _PATTERN_TIMES or None,
            label=job,
        )
        below = [low + height for low, height in zip(below, heights, strict=True)]


def _draw_load(axes: Axes, drawing: SharedLinkDrawing, turned: TurnedCircle) -> None:
    factor, unit = time_unit(drawing.perimeter_s)
    edges_s, demand = _thinned(drawing, turned)
    edges = [edge_s * factor for edge_s in edges_s]
    total = demand.sum(axis=0) / 1e9
    capacity = drawing.capacity_bps / 1e9
    axes.stairs(total, edges, fill=True, color=MUTED)
    axes.stairs(total.clip(min=capacity), edges, baseline=capacity, fill=True, color=colour(3))
    axes.axhline(capacity, color=INK, linestyle="--", linewidth=1.2)
    axes.set_xlim(0, edges[-1])
    axes.set_ylim(0, drawing.largest_bps / 1e9 * 1.1)
    axes.set_xlabel(
        f"time, {unit}" + (" (above the dashed line: too much)" if turned.is_over.any() else "")
    )
    _plain(axes)


def _thinned(drawing: SharedLinkDrawing, turned: TurnedCircle) -> tuple[Sequence[float], Floats]:
    """Edges, s, one more than slices, and the demands: means of slices where there are many."""
    count = turned.demand_bps.shape[1]
    ends_s = np.arange(1, count + 1) * (drawing.perimeter_s / count)
    ends_s, demand, _ = mean_of_runs(ends_s, turned.demand_bps)
    return [0.0, *ends_s.tolist()], demand


def _draw_capacity(circle: PolarAxes) -> None:
    """And the circle on which rates stand."""
    angles = [_TURN * part / 360 for part in range(361)]
    circle.plot(angles, [0.0] * len(angles), color=GRID, linewidth=1.0)
    circle.plot(angles, [1.0] * len(angles), color=INK, linestyle="--", linewidth=1.2,
                label="capacity of the link")  # fmt: skip


def _polar(figure: Figure, place: SubplotSpec, perimeter_s: float) -> PolarAxes:
    """A circle that begins at the top and goes around clockwise, with a hole."""
    circle = PolarAxes(figure, place)
    figure.add_subplot(circle)
    circle.set_theta_zero_location("N")
    circle.set_theta_direction(-1)
    factor, unit = time_unit(perimeter_s)
    quarters = range(_QUARTERS)
    circle.set_xticks(
        [_TURN * quarter / _QUARTERS for quarter in quarters],
        [f"{number(perimeter_s * factor * quarter / _QUARTERS)} {unit}" for quarter in quarters],
    )
    circle.set_ylim(-_HOLE, 1.1)
    circle.set_yticks([])
    circle.spines["polar"].set_visible(False)
    circle.grid(color=GRID)
    return circle


def _plain(axes: Axes) -> None:
    axes.grid(color=GRID)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
