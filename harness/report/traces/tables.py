"""What is known of traces as tables of words, for the terminal and for the page. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.report.traces.data import ShownTrace, long_time, maybe_number
from harness.report.traces.sizes import size_classes
from harness.report.words import (
    NOTHING,
    SPACE,
    counted,
    listed,
    number,
    percent,
)
from traces.description import Quantiles
from traces.distances import Distance, TraceDistances
from traces.groups import Groups

_S_PER_H = 3600.0
_LARGEST = 3
_LEAST_SHARE = 1e-4

GROUPS = {
    "user": "users",
    "virtual_cluster": "virtual clusters",
    "gpu_type": "types of GPU",
    "model": "models",
    "state": "ends",
}
"""What jobs are grouped by, and what such groups are called."""


@dataclass(frozen=True)
class Words:
    """A table. kinds: a letter a column, as :func:`harness.report.html.table` has them; groups:
    titles over columns, as it has them too."""

    title: str
    header: list[str]
    rows: list[list[str]]
    kinds: str
    groups: list[tuple[str, int]] = field(default_factory=list)


def overview(traces: Sequence[ShownTrace]) -> Words:
    """One column a trace."""
    rows = {
        "jobs": [number(each.description.jobs) for each in traces],
        "span": [long_time(each.description.span_s) for each in traces],
        "began": [_began(each) for each in traces],
        "jobs an hour": [maybe_number(each.description.jobs_per_hour) for each in traces],
        "offered load": [_gpus(each.description.offered_gpus) for each in traces],
        "in use if none waited": [_in_use(each) for each in traces],
        "GPU time": [_gpu_time(each.description.gpu_time_s) for each in traces],
        "run time unknown": [counted(each.description.untimed, "job", "jobs") for each in traces],
    }
    return Words(
        "What it is",
        ["", *(each.label for each in traces)],
        [[what, *cells] for what, cells in rows.items()],
        "-" + "-" * len(traces),
    )


def _began(shown: ShownTrace) -> str:
    return shown.trace.began.replace("T", " ") if shown.trace.began else NOTHING


def _gpus(value: float | None) -> str:
    return NOTHING if value is None else f"{number(value)}{SPACE}GPUs"


def _in_use(shown: ShownTrace) -> str:
    description = shown.description
    if description.peak_gpus is None:
        return NOTHING
    return f"mean {maybe_number(description.mean_gpus)}, peak {number(description.peak_gpus)} GPUs"


def _gpu_time(value_s: float | None) -> str:
    return NOTHING if value_s is None else f"{number(value_s / _S_PER_H)}{SPACE}GPU h"


def times(traces: Sequence[ShownTrace]) -> Words:
    """One row a kind of amount and trace, where it is known."""
    rows = []
    for what, attribute, say in (
        ("run time", "run_s", long_time),
        ("iterations", "iterations", number),
        ("gap between submissions", "gap_s", long_time),
        ("time in the queue", "queue_s", long_time),
    ):
        for each in traces:
            found: Quantiles | None = getattr(each.description, attribute)
            label = f"{what}, {each.label}" if len(traces) > 1 else what
            if found is not None:
                amounts = (found.mean, found.p10, found.p50, found.p90, found.p99, found.max)
                rows.append([label, *map(say, amounts)])
    return Words(
        "Times and iterations", ["", "mean", "p10", "p50", "p90", "p99", "max"], rows, "-nnnnnn"
    )


def sizes(traces: Sequence[ShownTrace]) -> Words:
    """One row a class of sizes, three columns a trace."""
    rows = []
    for found in size_classes(traces):
        row = [found.name]
        for jobs, share, time_share in zip(
            found.jobs, found.jobs_share, found.gpu_time_share, strict=True
        ):
            row += [number(jobs), say_share(share), say_share(time_share)]
        rows.append(row)
    return Words(
        "GPUs of a job",
        ["GPUs", *["jobs", "of jobs", "of GPU time"] * len(traces)],
        rows,
        "-" + "nnn" * len(traces),
        [("", 1), *((each.label, 3) for each in traces)] if len(traces) > 1 else [],
    )


def groups(traces: Sequence[ShownTrace]) -> Words:
    """One row a way to group and trace, where it is known."""
    rows = []
    for attribute, what in GROUPS.items():
        for each in traces:
            found: Groups | None = getattr(each.description, attribute)
            if found is not None:
                label = f"{what}, {each.label}" if len(traces) > 1 else what
                known = say_share(found.known / each.description.jobs)
                rows.append([label, known, number(found.count), *_largest(found)])
    header = ["", "known of", "groups", "Gini", "the largest"]
    return Words("Groups of jobs", header, rows, "-nnnw")


def _largest(found: Groups) -> list[str]:
    largest = [
        f"{group.name} ({say_share(group.jobs_share)} of jobs"
        + (f", {say_share(share)} of GPU time" if (share := group.gpu_time_share) else "")
        + ")"
        for group in found.largest[:_LARGEST]
    ]
    return [number(found.gini), "; ".join(largest)]


def distances(found: TraceDistances) -> Words:
    """One row an amount that both traces know."""
    rows = [
        [what, number(each.ks), say_amount(each.ks_at, unit), *_wasserstein(each, unit)]
        for what, unit, each in distances_by_name(found)
    ]
    header = ["", "Kolmogorov-Smirnov", "at", "Wasserstein", "of the larger mean"]
    return Words("Distances", header, rows, "-nnnn")


def distances_by_name(found: TraceDistances) -> list[tuple[str, str, Distance]]:
    """(what, unit, distance) of those that are known."""
    every = [
        ("run time", "s", found.run_s),
        ("gap between submissions", "s", found.gap_s),
        ("GPUs of a job", "GPUs", found.num_gpus),
    ]
    return [(what, unit, each) for what, unit, each in every if each is not None]


def _wasserstein(found: Distance, unit: str) -> list[str]:
    share = found.wasserstein_share
    return [say_amount(found.wasserstein, unit), NOTHING if share is None else percent(share)]


def say_share(share: float | None) -> str:
    """A share: ``57.4 %``; one that is next to nothing as ``< 0.01 %``."""
    if share is None:
        return NOTHING
    return f"< 0.01{SPACE}%" if 0 < share < _LEAST_SHARE else percent(share)


def say_amount(value: float, unit: str) -> str:
    """An amount of a distance: ``19.1 min``, ``8 GPUs``."""
    return long_time(value) if unit == "s" else counted_gpus(value)


def counted_gpus(value: float) -> str:
    """``1 GPU``, ``2.5 GPUs``."""
    return f"{number(value)}{SPACE}{'GPU' if value == 1 else 'GPUs'}"


def provenance(traces: Sequence[ShownTrace]) -> Words:
    """Where each comes from, and what was done with it."""
    rows = {
        "source": [each.trace.source for each in traces],
        "format": [each.trace.format for each in traces],
        "read": [number(each.trace.read) for each in traces],
        "left out": [rule_counts(each.trace.left_out) for each in traces],
        "changed": [rule_counts(each.trace.changed) for each in traces],
        "rules not as by default": [
            listed([f"{name}={'on' if on else 'off'}" for name, on in each.trace.rules.items()])
            or NOTHING
            for each in traces
        ],
        "reordered": [number(each.trace.reordered) for each in traces],
        "share of the file": [percent(each.trace.share) for each in traces],
        "notes": ["; ".join(each.trace.notes) or NOTHING for each in traces],
    }
    return Words(
        "Provenance",
        ["", *(each.label for each in traces)],
        [[what, *cells] for what, cells in rows.items()],
        "-" + "w" * len(traces),
    )


def rule_counts(counts: Mapping[str, int]) -> str:
    """What rules did, each with its count; a dash where nothing."""
    return listed([f"{number(count)} by {rule}" for rule, count in counts.items()]) or NOTHING
