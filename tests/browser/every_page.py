"""What holds of every page, whatever it is of."""

from __future__ import annotations

from pathlib import Path

from tests.browser.reader import DESKTOP, Reader


def check_opens_alone(reader: Reader, file: Path) -> None:
    """It opens without an error, and asks for nothing but itself."""
    reader.open(file, DESKTOP)
    assert reader.errors() == []
    outside = [url for url in reader.requests() if not url.startswith(("data:", "blob:"))]
    assert outside == [file.as_uri()]


def check_figures(reader: Reader, file: Path, count: int) -> None:
    """So many figures are drawn, inside their places and with descriptions."""
    reader.open(file, DESKTOP)
    figures = reader.drawn()
    assert len(figures) == count
    for figure in figures:
        assert figure["height"] > 150
        assert figure["shapes"] > 5
        assert figure["label"]
        assert figure["caption"].endswith(".")
    assert reader.overflows(DESKTOP) == []


def check_downloads_are_reached(reader: Reader, file: Path, figures: int) -> None:
    """By the keyboard: two of each figure, in their order."""
    reader.open(file, DESKTOP)
    wanted = "return [...document.querySelectorAll('.downloads > *')].map((e) => e.ariaLabel)"
    assert reader.reached(2 * figures) == reader.ask(wanted)
