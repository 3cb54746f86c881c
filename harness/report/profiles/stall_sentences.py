"""Which stage limits a training, and what would change that, in sentences. Pure."""

from __future__ import annotations

from harness.report.profiles.sensitivity_sentences import cpus
from harness.report.profiles.stall_tables import STAGES
from harness.report.words import number, percent, sentence
from profiler.measuring.stalls import StallResult
from profiler.sensitivity.stalls import Enough, Rates, enough, stalls


def outcome(result: StallResult) -> str:
    """Of a training with an empty cache."""
    rates = result.found.rates
    stalled = stalls(rates)
    limited = (
        f"with {cpus(rates.cpus)} and nothing cached, {result.model} is limited by "
        f"{STAGES[rates.limit]}: {number(rates.speed)} samples/s"
    )
    waiting = (
        f"its device waits {percent(stalled.preparation)} of the time for CPUs and "
        f"{percent(stalled.fetch)} for storage"
    )
    return " ".join((sentence(limited), sentence(waiting), sentence(_remedy(rates, enough(rates)))))


def _remedy(rates: Rates, needed: Enough) -> str:
    if rates.limit == "ingestion":
        return "neither more CPUs nor more cache nor faster storage would make it faster"
    if rates.limit == "preparation":
        return f"{cpus(needed.cpus)} are enough that they do not limit it"
    words = []
    if needed.hit_share is not None:
        words.append(f"{percent(needed.hit_share)} of the dataset cached")
    if needed.storage is not None:
        words.append(f"{number(needed.storage / rates.storage)} times as fast a storage")
    return f"{' or '.join(words)} is enough that fetching does not limit it"
