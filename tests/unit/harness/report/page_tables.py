"""The tables of a page, as a person reads them off."""

from __future__ import annotations

from html.parser import HTMLParser

import pandas as pd

_CELLS = ("caption", "th", "td")


def page_tables(text: str) -> dict[str, pd.DataFrame]:
    """By caption, the words of each table; its rows by their first cell."""
    reader = _Reader()
    reader.feed(text)
    return reader.tables


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, pd.DataFrame] = {}
        self._rows: list[list[str]] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._rows = []
        elif tag in ("caption", "tr"):
            self._rows.append([])
        self._inside = tag in _CELLS
        if tag in _CELLS:
            self._rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = False
        if tag == "table":
            (caption,), *rows = self._rows
            header = next(row for row in rows if len(row) == len(rows[-1]))
            body = rows[rows.index(header) + 1 :]
            table = pd.DataFrame([row[1:] for row in body], columns=header[1:])
            self.tables[caption] = table.set_axis(pd.Index([row[0] for row in body]))

    def handle_data(self, data: str) -> None:
        if self._inside:
            self._rows[-1][-1] += data
