"""A published experiment as a recipe that makes figures to put beside the published ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

Say = Callable[[str], None]


@dataclass(frozen=True)
class ReproducedFigure:
    """One figure of ours beside the published one.

    interval: 95 %, where there are several seeds. expected: the published value; None where the
    source gives none, and the figure only stands for itself. tolerance: of ours from the expected
    one, as a share of it. ok: whether ours is that near; None where nothing is expected. note: how
    it was made, and why it differs where it does.
    """

    name: str
    unit: str
    ours: float
    interval: tuple[float, float] | None = None
    expected: float | None = None
    source: str = ""
    tolerance: float | None = None
    note: str = ""

    @property
    def ok(self) -> bool | None:
        """Whether ours is within the tolerance of what is expected."""
        if self.expected is None or self.tolerance is None:
            return None
        return abs(self.ours - self.expected) <= self.tolerance * abs(self.expected) + 1e-12

    def document(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "ok": self.ok}


@dataclass(frozen=True)
class Curve:
    """A line of a drawing. low, high: the ends of intervals, as long as x where there are any."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    published: bool = False


@dataclass(frozen=True)
class Drawing:
    """One pair of axes. words: what to see in it, in a sentence."""

    name: str
    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    words: str


@dataclass(frozen=True)
class Reproduction:
    """What a recipe made."""

    figures: tuple[ReproducedFigure, ...]
    drawings: tuple[Drawing, ...] = ()


@dataclass(frozen=True)
class Recipe:
    """A published experiment. seconds: how long it takes on two cores. needs_data: whether it reads
    published traces, from the directory of ``--data``.

    run: (data directory, number of seeds or None for the recipe's own, what to tell of progress).
    """

    id: str
    title: str
    source: str
    seconds: float
    needs_data: bool
    run: Callable[[Path, int | None, Say], Reproduction]
