"""roundelay trace describe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from harness.cli.options import json_option, quiet_option
from harness.cli.show import console, print_json, print_warnings
from harness.cli.show_trace import trace_document
from harness.cli.show_words import plain, print_words, say
from harness.cli.trace_options import share_option, spinner
from harness.cli.trace_output import refuse_existing
from harness.report.page import page_of, write_page
from harness.report.traces import tables
from harness.report.traces.article import article_of
from harness.report.traces.data import ShownTrace
from harness.report.traces.sentences import distance_sentence, outcome, part
from traces.description import describe as description_of
from traces.distances import TraceDistances, trace_distances
from traces.errors import on_one_line
from traces.formats.traces import read_jobs
from traces.trace_format import ReadOptions


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("other", required=False, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Write a page with figures, too (HTML); the file must be new.",
)
@share_option
@quiet_option
@json_option
def describe(
    file: Path, other: Path | None, output: Path | None, share: float, as_json: bool
) -> None:
    """Say what a trace is: jobs, load, sizes, times, users; of two, how far they are apart.

    FILE and OTHER have any format whose content tells it (`roundelay trace formats`); any other
    file has to be converted first.

    \b
    Example:
      roundelay trace describe jobs.parquet -o jobs.html
    """
    if output is not None:
        refuse_existing(output)
    files = [file] if other is None else [file, other]
    with spinner(f"reading {', '.join(on_one_line(each.name) for each in files)}"):
        shown = [
            _shown(each, label, share) for each, label in zip(files, _labels(files), strict=True)
        ]
        distances = None if other is None else trace_distances(*(each.trace.jobs for each in shown))
    if output is not None:
        write_page(page_of({"trace": article_of(shown, distances, "trace")}), output)
    if as_json:
        print_json(_document(shown, distances))
    _print(shown, distances)
    if output is not None:
        console.print(f"page: {output.resolve()}", soft_wrap=True, markup=False)


def _labels(files: Sequence[Path]) -> list[str]:
    """The names of the files, or their paths where the names are the same."""
    names = [on_one_line(file.name) for file in files]
    paths = [on_one_line(str(file)) for file in files]
    if len(set(names)) == len(names):
        return names
    if len(set(paths)) == len(paths):
        return paths
    return [f"{path} ({place})" for place, path in zip(("first", "second"), paths, strict=True)]


def _shown(file: Path, label: str, share: float) -> ShownTrace:
    trace = read_jobs(file, options=ReadOptions(share=share))
    return ShownTrace(label, trace, description_of(trace))


def _document(shown: Sequence[ShownTrace], distances: TraceDistances | None) -> dict[str, object]:
    return {
        "traces": [
            {"label": each.label} | trace_document(each.trace) | asdict(each.description)
            for each in shown
        ],
        "distances": None if distances is None else asdict(distances),
    }


def _print(shown: Sequence[ShownTrace], distances: TraceDistances | None) -> None:
    found = [
        tables.overview(shown),
        tables.times(shown),
        tables.sizes(shown),
        tables.groups(shown),
        *([tables.distances(distances)] if distances else []),
    ]
    for words in found:
        if words.rows:
            print_words(words)
    for what, unit, apart in tables.distances_by_name(distances) if distances else []:
        say(distance_sentence(what, unit, apart, shown))
    say(outcome(shown))
    for each in shown:
        for note in each.trace.notes:
            say(f"note, {each.label}: {note}" if len(shown) > 1 else f"note: {note}")
    print_warnings(plain(said) for each in shown if (said := part(each)))
