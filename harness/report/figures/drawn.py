"""The look of figures that matplotlib draws, and their files."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from harness.report.figures.figure import INK, MUTED

FORMATS = (".png", ".svg")
"""The ends of names of files that say how to draw into them."""

_DOTS_PER_INCH = 150
_WORDS_WIDTH = 110  # characters

# Typed this way as the stubs of new versions list every key.
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    # The same drawing gives the same file.
    "svg.hashsalt": "roundelay",
    "font.size": 9,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def set_words(figure: Figure, words: str) -> None:
    """Below ``figure``, the sentence that says what to see."""
    figure.supxlabel(textwrap.fill(words, _WORDS_WIDTH), fontsize=8, color=MUTED)


def write_figure(figure: Figure, file: Path) -> None:
    """Write ``figure`` as SVG or PNG, by the name of ``file``. Raises OSError."""
    when = {"Date": None} if file.suffix == ".svg" else {}
    with rc_context(STYLE):
        figure.savefig(file, dpi=_DOTS_PER_INCH, metadata=when)
