"""Tables of words on a terminal."""

from __future__ import annotations

from rich.text import Text

from harness.cli.show import console, plain_table
from harness.report.traces.tables import Words
from harness.report.words import SPACE
from traces.errors import on_one_line


def print_words(words: Words) -> None:
    """The table, without what would steer a terminal."""
    table = plain_table(words.title)
    table.padding = (0, 1, 0, 0)
    above = [line for title, span in words.groups for line in (f"{title}\n", *["\n"] * (span - 1))]
    for group, heading, kind in zip(
        above or [""] * len(words.header), words.header, words.kinds, strict=True
    ):
        table.add_column(Text(group + heading), justify="right" if kind == "n" else "left")
    for row in words.rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    console.print(table)


def say(words: str) -> None:
    """A line as wide as it is."""
    console.print(plain(words), soft_wrap=True, markup=False)


def plain(words: str) -> str:
    """``words`` for a terminal, which names in a file must not steer."""
    return on_one_line(words.replace(SPACE, " "))
