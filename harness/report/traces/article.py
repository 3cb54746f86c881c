"""One trace, or two side by side, as an article of the page. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from harness.report.article import Article
from harness.report.figures.markup import figure_html, figures_html
from harness.report.html import Html, join, table, tag
from harness.report.traces import tables
from harness.report.traces.data import ShownTrace
from harness.report.traces.figures.load import load
from harness.report.traces.figures.patterns import by_hour, by_weekday
from harness.report.traces.figures.sizes import gpu_time_by_gpus, jobs_by_gpus
from harness.report.traces.figures.times import gaps, queue_times, run_times
from harness.report.traces.sentences import distance_sentence, outcome, part
from harness.report.words import counted, listed
from traces.distances import TraceDistances

_OFFERED = (
    "The offered load is the GPU time of all jobs over the time from the first submission to the "
    "last: no cluster of fewer GPUs keeps up with it. What is in use if no job waits is the same, "
    "but for what is left to run after the last submission."
)


def article_of(
    traces: Sequence[ShownTrace], distances: TraceDistances | None, identity: str
) -> Article:
    """identity: the article's id on the page. distances: where there are two traces."""
    labels = [each.label for each in traces]
    known = _groups(traces)
    return Article(
        title=listed(labels),
        description="",
        facts=[
            *(counted(each.description.jobs, "job", "jobs") for each in traces),
            *dict.fromkeys(each.trace.format for each in traces),
        ],
        outcome=outcome(traces),
        overview=join(
            *(tag("p", words, class_="warning") for each in traces if (words := part(each)))
        ),
        sections=[
            ("What it is", _overview(traces)),
            *([("Distances", _distances(traces, distances))] if distances else []),
            ("Load", _load(traces, identity)),
            ("GPUs of a job", _sizes(traces, identity)),
            ("Times", _times(traces, identity)),
            ("Hours and days", _patterns(traces, identity)),
            *([("Groups of jobs", known)] if known else []),
            ("Provenance", _table(tables.provenance(traces))),
        ],
    )


def _table(words: tables.Words) -> Html:
    return table(words.title, words.header, words.rows, words.kinds, words.groups)


def _overview(traces: Sequence[ShownTrace]) -> Html:
    return join(_table(tables.overview(traces)), tag("p", _OFFERED, class_="remark"))


def _distances(traces: Sequence[ShownTrace], distances: TraceDistances) -> Html:
    return join(
        _table(tables.distances(distances)),
        *(
            tag("p", distance_sentence(what, unit, found, traces))
            for what, unit, found in tables.distances_by_name(distances)
        ),
    )


def _load(traces: Sequence[ShownTrace], identity: str) -> Html:
    figure = load(traces)
    if figure is None:
        return tag("p", "It is not known how long jobs run, or all came at once.")
    return figure_html(figure, f"{identity}_{figure.name}", "h3")


def _sizes(traces: Sequence[ShownTrace], identity: str) -> Html:
    figures = [figure for make in (jobs_by_gpus, gpu_time_by_gpus) if (figure := make(traces))]
    return join(_table(tables.sizes(traces)), figures_html(figures, identity, "h3"))


def _times(traces: Sequence[ShownTrace], identity: str) -> Html:
    figures = [figure for make in (run_times, gaps, queue_times) if (figure := make(traces))]
    return join(_table(tables.times(traces)), figures_html(figures, identity, "h3"))


def _patterns(traces: Sequence[ShownTrace], identity: str) -> Html:
    figures = [figure for make in (by_hour, by_weekday) if (figure := make(traces))]
    if not figures:
        return tag("p", "No instants are known, only times since the begin of the trace.")
    return figures_html(figures, identity, "h3")


def _groups(traces: Sequence[ShownTrace]) -> Html:
    words = tables.groups(traces)
    return _table(words) if words.rows else Html()
