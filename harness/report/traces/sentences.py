"""What traces are, in sentences. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from harness.report.traces.data import ShownTrace, long_time
from harness.report.traces.tables import counted_gpus, say_amount, say_share
from harness.report.words import counted, number, percent, sentence
from traces.distances import Distance


def outcome(traces: Sequence[ShownTrace]) -> str:
    """One sentence or two a trace."""
    return " ".join(_one(each, named=len(traces) > 1) for each in traces)


def _one(shown: ShownTrace, *, named: bool) -> str:
    known = shown.description
    begin = f"in {shown.label}, " if named else ""
    text = f"{begin}{counted(known.jobs, 'job', 'jobs')} within {long_time(known.span_s)}"
    if known.jobs_per_hour is not None:
        text += f", {number(known.jobs_per_hour)} an hour,"
    if known.offered_gpus is not None:
        text += f" offer a load of {counted_gpus(known.offered_gpus)}"
    else:
        text += " offer a load that is not known"
    single = next((size for size in known.sizes if size.name == "1"), None)
    jobs = "no job asks" if single is None else f"{say_share(single.jobs_share)} of jobs ask"
    text += f"; {jobs} for one GPU"
    if known.run_s is not None:
        text += f", and half of them run for at most {long_time(known.run_s.p50)}"
    return sentence(text)


def part(shown: ShownTrace) -> str:
    """What must be said where only a part was read; empty where all was."""
    share = shown.trace.share
    if share == 1:
        return ""
    return f"All figures of {shown.label} are those of the first {percent(share)} of its file."


def distance_sentence(what: str, unit: str, found: Distance, traces: Sequence[ShownTrace]) -> str:
    """One sentence of how far the two ``traces`` are apart in ``what``."""
    first, second = (each.label for each in traces)
    if found.ks == 0:
        return sentence(f"{what}: both traces have the same distribution")
    more, less = (first, second) if found.ks_first else (second, first)
    share = found.wasserstein_share
    of_mean = "" if share is None else f" ({percent(share)} of the larger mean)"
    return sentence(
        f"{what}: at most {say_amount(found.ks_at, unit)} is {number(found.ks * 100)} percentage "
        f"points more frequent in {more} than in {less}, where the two are farthest apart, and "
        f"those of the same rank differ by {say_amount(found.wasserstein, unit)} on average"
        f"{of_mean}"
    )
