"""A page as the tests of the report read it."""

from __future__ import annotations

import io
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pandas as pd

from harness.report import words
from harness.report.page import build_report

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
"""Text that would run if a page did not escape it."""


class Page(HTMLParser):
    """What a test wants to know of a page: its elements, figures and text outside scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.figures: list[dict[str, Any]] = []
        self.text = ""
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = dict(attrs).get("type") or tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "application/json":
            self.figures.append(json.loads(data))
        elif self._inside not in ("script", "style"):
            self.text += data.replace(words.SPACE, " ")

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)

    def data(self) -> dict[str, pd.DataFrame]:
        """What the page offers as CSV, by the name of the file."""
        start = "data:text/csv;charset=utf-8,"
        return {
            str(a["download"]): pd.read_csv(io.StringIO(unquote(str(a["href"])[len(start) :])))
            for _, a in self.elements
            if a.get("download")
        }


def page_of(*directories: Path) -> Page:
    return Page(build_report(directories))
