"""The stalls of a training as an article of the page. Pure."""

from __future__ import annotations

from harness.report.article import Article
from harness.report.figures.markup import figures_html
from harness.report.html import join
from harness.report.profiles import stall_tables as tables
from harness.report.profiles.amounts import size
from harness.report.profiles.figures.what_if import over_cache, over_cpus
from harness.report.profiles.provenance import provenance
from harness.report.profiles.sensitivity_article import warning, words_html
from harness.report.profiles.sensitivity_tables import evidence, speeds
from harness.report.profiles.stall_sentences import outcome
from profiler.measuring.stalls import StallResult


def stall_article(result: StallResult, identity: str) -> Article:
    """identity: the article's id on the page."""
    ready, points = result.ready, result.points
    measured = tuple(p for p in (points.synthetic, points.cached, points.cold) if p is not None)
    rates, fetched = result.found.rates, speeds(result.speeds)
    return Article(
        title=f"Stalls of {result.model}",
        description="",
        facts=[
            f"on {ready.device_name}",
            f"batches of {ready.batch_size}" if ready.batch_size else "batches of unknown size",
            f"loaded by {ready.loader}",
            f"dataset of {size(ready.dataset_bytes)}",
        ],
        outcome=outcome(result),
        overview=join(*(warning(f"{note}.") for note in result.notes)),
        sections=[
            ("Stages", join(words_html(tables.rates(result)), words_html(tables.runs(result)))),
            (
                "What if",
                join(
                    figures_html([over_cpus(rates), over_cache(rates)], identity, "h3"),
                    words_html(tables.changes(result)),
                ),
            ),
            *([("Storage and memory", words_html(fetched))] if fetched.rows else []),
            ("Evidence", words_html(evidence(measured))),
            (
                "Provenance",
                provenance(ready, "measured by roundelay profile stalls", result.gpu_uuid),
            ),
        ],
    )
