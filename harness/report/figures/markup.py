"""A figure as HTML: the plot, the sentence that says what to see, and its downloads. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from harness.report.figures.figure import Figure
from harness.report.html import Html, data_block, join, tag


def figure_html(figure: Figure, identity: str, level: str) -> Html:
    """The figure element. identity: its id on the page; level: the heading's, such as ``h3``.

    The heading names the figure and the caption describes it for those who cannot see it.
    """
    title, caption = f"{identity}_title", f"{identity}_caption"
    return tag(
        "figure",
        tag(level, figure.title, id=title),
        tag(
            "div",
            class_="plot",
            role="img",
            aria_labelledby=title,
            aria_describedby=caption,
            data_file=identity,
            style=f"height:{figure.plot['layout']['height']}px",
        ),
        data_block(figure.plot),
        tag("figcaption", tag("p", _caption(figure), id=caption), _downloads(figure, identity)),
        id=identity,
        aria_labelledby=title,
    )


def figures_html(figures: Sequence[Figure], identity: str, level: str) -> Html:
    """Figures beside each other where the page is wide enough. identity: the run's."""
    parts = [figure_html(figure, f"{identity}_{figure.name}", level) for figure in figures]
    return tag("div", *parts, class_="pair")


def _caption(figure: Figure) -> Html:
    return join(figure.caption, tag("small", " ", figure.note) if figure.note.strip() else "")


def _downloads(figure: Figure, identity: str) -> Html:
    text = figure.table.to_csv(index=False, lineterminator="\n", float_format="%.7g")
    return tag(
        "p",
        tag(
            "button", "SVG", type="button", aria_label=f"Download the figure {figure.title} as SVG"
        ),
        tag(
            "a",
            "CSV",
            href=f"data:text/csv;charset=utf-8,{quote(text, safe=',.-:+/')}",
            download=f"{identity}.csv",
            aria_label=f"Download the data of {figure.title} as CSV",
        ),
        class_="downloads",
    )
