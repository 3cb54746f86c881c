"""Panels one below the other over the same time, each with its name above it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.report.figures.figure import INK, axis


def axis_name(letter: str, panel: int) -> str:
    """What plotly calls the ``letter`` axis of a panel; the first panel is 1."""
    return letter if panel == 1 else f"{letter}{panel}"


@dataclass(frozen=True)
class Panels:
    """As many as ``count``; panel_px, gap_px: the height of one, and of the gap between two.

    end_s: where time ends in all of them. unit: how many of a unit a second is, and its name.
    """

    count: int
    panel_px: int
    gap_px: int
    end_s: float
    unit: tuple[float, str]

    @property
    def height_px(self) -> int:
        """Of all panels and the gaps between them."""
        return self.count * self.panel_px + (self.count - 1) * self.gap_px

    def axes(self, panel: int, *, x: dict[str, Any], y: dict[str, Any]) -> dict[str, Any]:
        """Both axes of a panel, with ``x`` and ``y`` added; only the last panel tells the time."""
        factor, unit_name = self.unit
        top = 1 - (panel - 1) * (self.panel_px + self.gap_px) / self.height_px
        bottom = max(top - self.panel_px / self.height_px, 0.0)
        is_last = panel == self.count
        return {
            axis_name("xaxis", panel): axis(
                "time since the trace began" if is_last else "",
                range=[0, self.end_s * factor],
                anchor=axis_name("y", panel),
                matches=None if panel == 1 else "x",
                showticklabels=is_last,
                ticksuffix=f" {unit_name}",
                **x,
            ),
            axis_name("yaxis", panel): axis(
                "", domain=[bottom, top], anchor=axis_name("x", panel), **y
            ),
        }


def panel_name(words: str, panel: int) -> dict[str, Any]:
    """An annotation above a panel; words: for plotly already."""
    return {
        "text": words,
        "xref": "paper",
        "x": 0,
        "yref": f"{axis_name('y', panel)} domain",
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 12.5, "color": INK},
    }
