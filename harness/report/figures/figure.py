"""A figure as the page needs it, and the look that all figures share. Pure."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

# Okabe and Ito's palette for colour-blind readers, without its yellow, which white paper swallows.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")
PATTERNS = ("", "/", "\\", "x", "-", "|", "+", ".")
INK = "#1c2733"
MUTED = "#5b6875"
GRID = "#e6eaee"
SHARED = "#8a97a5"
CLEAR = "rgba(0,0,0,0)"
FONT = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Helvetica, Arial, sans-serif"
)
LEGEND = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "bgcolor": CLEAR}


@dataclass(frozen=True)
class Figure:
    """plot: plotly's data and layout. table: the same data, for the reader's own tools.

    name: no other figure of the run has it; joined by ``_``, which the names of arms cannot hold.
    caption: one sentence that says what to see. note: what was thinned, if anything.
    """

    name: str
    title: str
    caption: str
    plot: dict[str, Any]
    table: pd.DataFrame
    note: str = ""


def colour(index: int) -> str:
    """The colour of the job or arm with this number."""
    return PALETTE[index % len(PALETTE)]


def pattern(index: int) -> str:
    """The fill pattern that tells jobs of the same colour apart."""
    return PATTERNS[index // len(PALETTE) % len(PATTERNS)]


def text(words: str) -> str:
    """``words`` for plotly, which would read tags in them."""
    return html.escape(words, quote=False)


def numbers(values: ArrayLike) -> list[float]:
    """``values`` as short decimals."""
    return [float(f"{value:.7g}") for value in np.asarray(values, dtype=float)]


def layout(height: int, **more: Any) -> dict[str, Any]:
    """The layout that all figures start from."""
    return {
        "height": height,
        "autosize": True,
        "font": {"family": FONT, "size": 13, "color": INK},
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "margin": {"l": 58, "r": 14, "t": 12, "b": 46},
        "legend": LEGEND,
        "hoverlabel": {"font": {"family": FONT}},
        "modebar": {"color": "#9aa5b1", "activecolor": INK, "bgcolor": CLEAR},
        **more,
    }


def axis(title: str, **more: Any) -> dict[str, Any]:
    """One straight axis."""
    return {
        "title": {"text": title, "standoff": 8},
        "gridcolor": GRID,
        "linecolor": "#b9c2cb",
        "zeroline": False,
        "ticks": "outside",
        "tickcolor": "#b9c2cb",
        "automargin": True,
        **more,
    }


def grey_part(x: str, y: str, begin: float, end: float) -> dict[str, Any]:
    """A shape behind the whole height of axis ``y``, from ``begin`` to ``end`` of axis ``x``."""
    return {
        "type": "rect",
        "xref": x,
        "yref": f"{y} domain",
        "x0": begin,
        "x1": end,
        "y0": 0,
        "y1": 1,
        "fillcolor": GRID,
        "opacity": 0.9,
        "line": {"width": 0},
        "layer": "below",
    }
