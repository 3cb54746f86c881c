"""What came out of a profiling of a sensitivity, in sentences. Pure."""

from __future__ import annotations

from harness.report.words import counted, duration, number, percent, sentence, signed_percent
from profiler.measuring.sensitivity_result import SensitivityResult


def outcome(model: str, result: SensitivityResult) -> str:
    """The ideal demand, what memory gives, what it rests on, and what it saved."""
    said = (_demand(model, result), _memory(result), _cost(result))
    return " ".join(sentence(words) for words in said if words)


def _demand(model: str, result: SensitivityResult) -> str:
    curve = result.found.model.curve
    gain = float(curve.iteration_s[0] / curve.iteration_s[-1])
    if curve.knee == 0:
        return (
            f"{model} is not sensitive to CPUs: with {cpus(float(curve.cpus[0]))} it trains as "
            f"fast as with {number(float(curve.cpus[-1]))}"
        )
    surely = "" if curve.is_knee_measured else "about "
    at_end = ", the most there were," if curve.knee == len(curve.cpus) - 1 else ""
    return (
        f"{model} wants {surely}{cpus(curve.knee_cpus)}{at_end} and trains {number(gain)} times as "
        f"fast then as with {number(float(curve.cpus[0]))}"
    )


def _memory(result: SensitivityResult) -> str:
    if not result.found.grid.has_memory_axis:
        return ""
    kept = float(result.sensitivity.throughput[-1, 0])
    return f"with the smallest cache it keeps {percent(kept)} of its speed"


def _cost(result: SensitivityResult) -> str:
    cost, chosen = result.cost, len(result.chosen)
    about = "about " if cost.is_estimated else ""
    return (
        f"this rests on {counted(chosen, 'point', 'points')} and took "
        f"{duration(cost.optimistic_s)}, where the whole grid of "
        f"{len(result.found.grid.allocations())} takes {about}{duration(cost.grid_s)}"
    )


def check_sentence(result: SensitivityResult) -> str:
    """How far the model is off where it was checked; empty where it was not."""
    checked = result.checked
    if not checked.by_point:
        return ""
    return sentence(
        f"at {counted(len(checked.by_point), 'point', 'points')} that the model does not rest on, "
        f"its speed is off by {percent(checked.median)} (median), {percent(checked.worst)} at the "
        "most"
    )


def drift_sentence(result: SensitivityResult) -> str:
    """Whether the machine was the same at the end."""
    drift = result.drift
    if drift is None:
        return "Whether the machine drifted is not known: the first point was not repeated."
    change = (
        f"the first point, measured again at the end, took {signed_percent(drift.ratio - 1)} "
        f"({signed_percent(drift.interval[0] - 1)} to {signed_percent(drift.interval[1] - 1)}) "
        "longer"
    )
    verdicts = {
        "steady": "the machine was steady",
        "drifted": "the machine drifted: what was measured early and late is not comparable",
        "unclear": "the times scatter too much to tell whether the machine drifted",
    }
    return sentence(f"{verdicts[drift.verdict]}: {change}")


def cpus(count: float) -> str:
    """``1 CPU``, ``1.5 CPUs``."""
    return f"{number(count)} {'CPU' if count == 1 else 'CPUs'}"
