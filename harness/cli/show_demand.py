"""Demands on a terminal: bars, columns and circles, which need no colour to be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from rich.text import Text

from harness.cli.show import console
from harness.cli.show_words import plain, say
from harness.report.demands.characters import (
    ABOVE,
    NOTHING,
    SHADES,
    columns,
    coverage,
    mean_rates,
    means_of_slices,
    rings,
    shades,
)
from harness.report.demands.iteration import IterationDrawing
from harness.report.demands.shared_link import SharedLinkDrawing, TurnedCircle
from harness.report.figures.figure import colour
from harness.report.words import bit_rate, seconds

_MOST_COLUMNS = 100
_LABEL_COLUMNS = 14
_RATE_ROWS, _LOAD_ROWS = 4, 3
_ANGLES = 360
_MOST_RINGS = 4  # jobs of which each has a circle of its own
_RING_ROWS = 1.5
_GAP = " " * 6
_SIGNS = "123456789"


def print_iteration(drawing: IterationDrawing) -> None:
    """The timeline of one iteration, the rate over it, and its circle."""
    iteration, cells = drawing.iteration, _cells()
    period_s = iteration.period_s
    _print(f"{drawing.model}: one iteration alone, {seconds(period_s)}", style="bold")
    rows = [("computes", iteration.computing, 0), ("sends", drawing.sending, 1)]
    if drawing.others_sending:
        rows.append(("others send", drawing.others_sending, 5))
    for label, spans, shade in rows:
        _row(label, shades(coverage(spans, period_s, cells)), colour(shade))
    share = mean_rates(drawing.curve.phases, period_s, cells) / drawing.link_bps
    labels = [bit_rate(drawing.link_bps), *[""] * (_RATE_ROWS - 1)]
    for label, line in zip(labels, columns(share, _RATE_ROWS), strict=True):
        _row(label, line, colour(1))
    _axis(period_s, cells)
    around = mean_rates(drawing.curve.phases, period_s, _ANGLES) / drawing.link_bps
    _circle(shades(around).replace(SHADES[0], NOTHING), period_s)


def _circle(band: str, period_s: float) -> None:
    """The circle of one iteration, with the times of its quarters."""
    lines = rings([band], 2 * _RING_ROWS)
    width = len(lines[0])
    left, right = seconds(period_s * 3 / 4), seconds(period_s / 4)
    margin = " " * (len(left) + 1)
    _print(f"{margin}{'0':^{width}}")
    for number, line in enumerate(lines):
        is_middle = number == len(lines) // 2
        before, behind = (f"{left} ", f" {right}") if is_middle else (margin, "")
        _print(f"{before}{line}{behind}", {sign: colour(1) for sign in SHADES[1:]})
    _print(f"{margin}{seconds(period_s / 2):^{width}}")


def print_shared_link(drawing: SharedLinkDrawing) -> None:
    """The circles of the jobs before and after rotation, and the load against the capacity."""
    sides = (("at once", drawing.before), ("with the time-shifts", drawing.after))
    if len(drawing.jobs) <= _MOST_RINGS:
        _circles(drawing, [turned for _, turned in sides], [title for title, _ in sides])
    cells = _cells()
    for title, turned in sides:
        _print(f"{title}: score {turned.score:.2f}", style="bold")
        for number, (job, demand) in enumerate(zip(drawing.jobs, turned.demand_bps, strict=True)):
            share = means_of_slices(demand, cells) / drawing.capacity_bps
            _row(job, shades(share), colour(number))
        total = means_of_slices(turned.total_bps, cells) / drawing.capacity_bps
        over = means_of_slices(turned.is_over.astype(np.float64), cells)
        _row("too much", "".join(ABOVE if share > 0 else " " for share in over), colour(3))
        labels = [bit_rate(drawing.capacity_bps), *[""] * (_LOAD_ROWS - 1)]
        for label, line in zip(labels, columns(total.clip(max=1.0), _LOAD_ROWS), strict=True):
            _row(label, line, None)
        _axis(drawing.perimeter_s, cells)


def _circles(
    drawing: SharedLinkDrawing, turned: Sequence[TurnedCircle], titles: Sequence[str]
) -> None:
    """Beside each other, a ring a job from the inside, and around them where it is too much; not
    where they do not fit."""
    drawn = [rings(_bands(each), _RING_ROWS) for each in turned]
    width = len(drawn[0][0])
    if len(drawn) * width + len(_GAP) > console.width:
        return
    _print(_GAP.join(f"{title:^{width}}" for title in titles).rstrip())
    styles = {sign: colour(place) for place, sign in enumerate(_SIGNS)} | {ABOVE: colour(3)}
    for lines in zip(*drawn, strict=True):
        _print(_GAP.join(lines).rstrip(), styles)
    jobs = ", ".join(f"{sign} {job}" for sign, job in zip(_SIGNS, drawing.jobs, strict=False))
    say(
        f"one turn clockwise from the top is {seconds(drawing.perimeter_s)}; {jobs}; "
        f"{ABOVE} more than the link carries"
    )


def _bands(turned: TurnedCircle) -> list[str]:
    bands = [
        "".join(sign if rate else NOTHING for rate in means_of_slices(demand, _ANGLES).tolist())
        for sign, demand in zip(_SIGNS, turned.demand_bps, strict=False)
    ]
    shares = means_of_slices(turned.is_over.astype(np.float64), _ANGLES)
    return [*bands, "".join(ABOVE if share else NOTHING for share in shares.tolist())]


def _cells() -> int:
    return max(min(console.width, _MOST_COLUMNS) - _LABEL_COLUMNS - 1, 20)


def _row(label: str, characters: str, shade: str | None) -> None:
    line = Text(f"{plain(label)[:_LABEL_COLUMNS]:>{_LABEL_COLUMNS}} ")
    line.append(characters, style=shade or "")
    console.print(line, no_wrap=True, crop=True)


def _axis(length_s: float, cells: int) -> None:
    end = seconds(length_s)
    _row("0", f"└{'─' * (cells - 2)}┘", None)
    _row("", f"{end:>{cells}}", None)


def _print(line: str, styles: Mapping[str, str] | None = None, style: str = "") -> None:
    """One line; its characters in the styles that they have."""
    text = Text(plain(line), style=style)
    for place, sign in enumerate(text.plain):
        if styles and sign in styles:
            text.stylize(styles[sign], place, place + 1)
    console.print(text, no_wrap=True, crop=True)
