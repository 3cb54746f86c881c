"""A published experiment as a recipe that makes figures to put beside the published ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

Say = Callable[[str], None]

Compare = Literal["near", "at most", "at least"]
"""What the published value is: one to come near to, or a bound."""

_ROUNDING = 1e-12


@dataclass(frozen=True)
class ReproducedFigure:
    """One figure of ours beside the published one.

    ours: None where it could not be made, which the note explains. interval: 95 %, where there are
    several seeds. expected: the published value; None where the source gives none, and the figure
    only stands for itself. tolerance: of ours from the expected one, as a share of it. ok: whether
    ours is that near, or keeps the bound (see compare); None where nothing is expected. note: how
    it was made, and why it differs where it does.
    """

    name: str
    unit: str
    ours: float | None
    interval: tuple[float, float] | None = None
    expected: float | None = None
    source: str = ""
    tolerance: float | None = None
    note: str = ""
    compare: Compare = "near"

    def __post_init__(self) -> None:
        if self.ours is not None and not math.isfinite(self.ours):
            raise ValueError(f"{self.name}: {self.ours} is no figure")

    @property
    def ok(self) -> bool | None:
        """Whether ours is within the tolerance of what is expected."""
        if self.expected is None or (self.tolerance is None and self.compare == "near"):
            return None
        if self.ours is None:
            return False
        allowed = (self.tolerance or 0.0) * abs(self.expected) + _ROUNDING
        above = self.ours - self.expected
        if self.compare == "at most":
            return above <= allowed
        if self.compare == "at least":
            return above >= -allowed
        return abs(above) <= allowed

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
    """One pair of axes. words: what to see in it, in a sentence.

    x_names: what x = 0, 1, 2, ... stand for where x is no quantity.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    words: str
    x_names: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Reproduction:
    """What a recipe made.

    inputs: the workloads it rests on, in words. interrupted: a person stopped it; the figures are
    those that could be made until then, over the seeds that were done.
    """

    figures: tuple[ReproducedFigure, ...]
    drawings: tuple[Drawing, ...] = ()
    inputs: tuple[str, ...] = ()
    interrupted: bool = False


Run = Callable[[Path, int | None, Say], Reproduction]
"""(data directory, number of seeds or None for the recipe's own, what to tell of progress)."""


@dataclass(frozen=True)
class QuickForm:
    """A shorter form of a recipe. seconds: on two cores. less: what it has less of, in words."""

    seconds: float
    run: Run
    less: str


@dataclass(frozen=True)
class Recipe:
    """A published experiment. seconds: how long it takes on two cores. needs_data: whether it reads
    published traces, from the directory of ``--data``. quick: its shorter form, where it has one.
    """

    id: str
    title: str
    source: str
    seconds: float
    needs_data: bool
    run: Run
    quick: QuickForm | None = None
