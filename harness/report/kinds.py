"""The kinds of runs that a page can show, and how a run directory's own is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from harness.report.article import Article
from harness.report.iterations.article import read_iterations
from harness.report.rounds.article import read_rounds
from traces.errors import BadInputError
from traces.run_directory import read_json

_ITERATIONS = "iterations"
"""The kind of a summary that names none."""

_READERS: dict[str, Callable[[Path, str], Article]] = {
    _ITERATIONS: read_iterations,
    "rounds": read_rounds,
}


def read_article(directory: Path, identity: str) -> Article:
    """The article of the run in ``directory``. identity: its id on the page.

    Raises BadInputError where ``directory`` is not that of a run, or something in it is damaged.
    """
    file = directory / "summary.json"
    if not file.is_file():
        raise BadInputError(
            "there is no summary.json",
            allowed="a directory that 'roundelay run', 'simulate' or 'emulate' wrote",
            file=directory,
        )
    summary = read_json(file)
    kind = summary.get("kind", _ITERATIONS) if isinstance(summary, dict) else _ITERATIONS
    reader = _READERS.get(str(kind))
    if reader is None:
        raise BadInputError(
            f"{kind!r} is not a kind of run", allowed=", ".join(_READERS), file=file, key="kind"
        )
    return reader(directory, identity)
