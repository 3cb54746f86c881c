"""The stages of a training and what limits it, as tables for terminal and page. Pure."""

from __future__ import annotations

import math

from harness.report.profiles.amounts import hit_share, iteration
from harness.report.traces.tables import Words
from harness.report.words import NOTHING, duration, number, percent
from profiler.measuring.stalls import StallResult
from profiler.sensitivity.stalls import stalls, what_if

STAGES = {
    "ingestion": "ingestion by the device (G)",
    "preparation": "preparation by the CPUs (P)",
    "fetch": "fetching from storage (F)",
}


def rates(result: StallResult) -> Words:
    """One row a stage."""
    found = result.found
    values = {
        "ingestion": found.rates.ingestion,
        "preparation": found.rates.preparation,
        "fetch": found.rates.fetch,
    }
    rows = [
        [
            STAGES[stage],
            number(value) if math.isfinite(value) else NOTHING,
            "limits" if stage == found.rates.limit else "",
            found.hidden.get(stage, "measured"),
        ]
        for stage, value in values.items()
    ]
    return Words("Stages", ["stage", "samples/s", "", ""], rows, "-n-w")


def runs(result: StallResult) -> Words:
    """One row a run of the training."""
    batch = result.ready.batch_size or 1
    points = {
        "one batch over and over": result.points.synthetic,
        "the dataset cached": result.points.cached,
        "nothing cached": result.points.cold,
    }
    rows = [
        [what, iteration(point), number(batch / point.iteration_s), hit_share(point),
         percent(point.wait_s / (point.wait_s + point.copy_s + point.compute_s)),
         duration(point.cost_s)]
        for what, point in points.items()
        if point is not None
    ]  # fmt: skip
    header = ["run", "iteration", "samples/s", "hits", "waiting", "cost"]
    return Words("Runs", header, rows, "-nnnnn")


def changes(result: StallResult) -> Words:
    """What more of each would give."""
    base = result.found.rates
    rows = [
        [
            each.change,
            number(each.rates.speed),
            f"{number(each.rates.speed / base.speed)}",
            STAGES[each.rates.limit],
            percent(stalls(each.rates).preparation),
            percent(stalls(each.rates).fetch),
        ]
        for each in what_if(base)
    ]
    header = ["with", "samples/s", "times as fast", "limit", "stalled by CPUs", "by fetching"]
    return Words("What if", header, rows, "-nn-nn")
