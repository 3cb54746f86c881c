"""A sensitivity as an article of the page. Pure."""

from __future__ import annotations

from harness.report.article import Article
from harness.report.figures.markup import figure_html, figures_html
from harness.report.html import Html, join, table, tag
from harness.report.profiles import sensitivity_tables as tables
from harness.report.profiles.amounts import size
from harness.report.profiles.figures.cpu_curve import cpu_curve
from harness.report.profiles.figures.matrix import matrix
from harness.report.profiles.figures.stages import stages
from harness.report.profiles.provenance import provenance
from harness.report.profiles.sensitivity_sentences import check_sentence, drift_sentence, outcome
from harness.report.traces.tables import Words
from harness.report.words import counted
from profiler.measuring.sensitivity_result import SensitivityResult

_MODELLED = (
    "With less than all of the cache, an iteration takes the longer of what was measured with all "
    "of it and of fetching what is not cached, at the rate that storage was measured to have. "
    "Preparing takes longer by the CPU time that misses were measured to cost."
)


def sensitivity_article(model: str, result: SensitivityResult, identity: str) -> Article:
    """identity: the article's id on the page."""
    found = result.found
    ready = found.ready
    drift = drift_sentence(result)
    is_steady = result.drift is not None and result.drift.verdict == "steady"
    return Article(
        title=f"Sensitivity of {model}",
        description="",
        facts=[
            f"on {ready.device_name}",
            f"batches of {ready.batch_size}" if ready.batch_size else "batches of unknown size",
            f"loaded by {ready.loader}",
            f"dataset of {size(ready.dataset_bytes)}",
            counted(len(found.points), "point", "points"),
        ],
        outcome=outcome(model, result),
        overview=join(
            warning("It was stopped; this is of what came before.") if found.is_interrupted else "",
            *(warning(f"Not enforced: {clause}.") for clause in result.unenforced),
            *(warning(f"{note}.") for note in found.notes),
            tag("p", drift) if is_steady else warning(drift),
        ),
        sections=[
            ("CPUs", _over_cpus(result, identity)),
            *([("Memory", _over_memory(result, identity))] if found.grid.has_memory_axis else []),
            *([("Check", _check(result))] if result.checked.by_point else []),
            ("Cost", words_html(tables.cost(result))),
            ("Points", words_html(tables.points(result))),
            ("Evidence", words_html(tables.evidence(found.points))),
            ("Provenance", provenance(ready, result.sensitivity.source, found.subject.gpu_uuid)),
        ],
    )


def _over_cpus(result: SensitivityResult, identity: str) -> Html:
    at_full = sorted(
        (
            point
            for point in result.found.points
            if point.is_measured
            and point.purpose != "drift"
            and point.allocation.cache_bytes == result.found.grid.full_bytes
        ),
        key=lambda point: point.allocation.cpus,
    )
    figures = [figure for figure in (cpu_curve(result), stages(at_full)) if figure is not None]
    return join(figures_html(figures, identity, "h3"), words_html(tables.curve(result)))


def _over_memory(result: SensitivityResult, identity: str) -> Html:
    figure = matrix(result)
    drawn = Html() if figure is None else figure_html(figure, f"{identity}_{figure.name}", "h3")
    speeds = tables.speeds(result.found.speeds)
    return join(
        drawn,
        tag("p", _MODELLED, class_="remark"),
        words_html(tables.matrix(result)),
        words_html(speeds) if speeds.rows else "",
    )


def _check(result: SensitivityResult) -> Html:
    return join(tag("p", check_sentence(result)), words_html(tables.checks(result)))


def words_html(words: Words) -> Html:
    """A table of words as HTML."""
    return table(words.title, words.header, words.rows, words.kinds, words.groups)


def warning(text: str) -> Html:
    """What a reader must not overlook."""
    return tag("p", f"{text[:1].upper()}{text[1:]}", class_="warning")
