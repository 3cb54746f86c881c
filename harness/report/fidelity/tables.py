"""A prediction against a reference as tables of words, for the terminal and for the page. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from harness.fidelity.analysis import ArmFidelity, Fidelity
from harness.fidelity.conclusion import MEASURES, THINGS
from harness.fidelity.decision import Decision, Speedup
from harness.fidelity.estimates import Estimate
from harness.fidelity.pairs import Measure, OneSided
from harness.report.traces.tables import Words
from harness.report.words import (
    NOTHING,
    duration,
    listed,
    number,
    percent,
    seconds,
    signed_percent,
    significant,
)

MOST_NAMED = 20


def time_words(measure: Measure) -> Callable[[float | None], str]:
    """How times of a measure are written."""
    return duration if measure == "jct_s" else seconds


def means(arms: Sequence[ArmFidelity], margin: float) -> Words:
    """One row an arm. arms: of one measure."""
    measure = arms[0].measure
    say = time_words(measure)
    rows = [
        [
            arm.arm,
            number(arm.errors.pairs),
            say(arm.estimates.reference.mean),
            say(arm.estimates.prediction.mean),
            *_off(arm.estimates.mean),
            *_off(arm.estimates.tail),
            arm.statement,
        ]
        for arm in arms
    ]
    many = THINGS[measure][1]
    header = ["arm", many, "reference", "predicted", "diff.", "95 %", "p99 diff.", "95 %"]
    verdict = f"within {number(100 * margin)} %?"
    return Words(f"Mean {MEASURES[measure]}", [*header, verdict], rows, "-nnnnnnn-")


def _off(estimate: Estimate) -> list[str]:
    return [signed_percent(estimate.value - 1), interval_words(estimate.interval)]


def interval_words(interval: tuple[float, float] | None) -> str:
    """The ends of an interval of a ratio, as differences."""
    if interval is None:
        return NOTHING
    return _ends(interval[0] - 1, interval[1] - 1)


def _ends(low: float, high: float) -> str:
    return f"{signed_percent(low).removesuffix('%').rstrip()} to {signed_percent(high)}"


def makespans(arms: Sequence[ArmFidelity]) -> Words:
    """One row an arm whose makespan is known."""
    rows = [
        [
            arm.arm,
            duration(known.reference_s),
            duration(known.prediction_s),
            *_off(known.ratio),
            number(known.seeds),
        ]
        for arm in arms
        if (known := arm.makespan) is not None
    ]
    header = ["arm", "reference", "predicted", "diff.", "95 % over seeds", "seeds"]
    return Words("Makespan", header, rows, "-nnnnn")


def errors(arms: Sequence[ArmFidelity]) -> Words:
    """One row an arm: how far single pairs are off."""
    rows = []
    for arm in arms:
        found = arm.errors
        bias = NOTHING
        if found.bias_interval is not None:
            bias = _ends(*found.bias_interval)
        rows.append(
            [
                arm.arm,
                signed_percent(found.bias),
                bias,
                signed_percent(found.median),
                percent(found.mape),
                percent(found.p95),
                percent(found.most),
                _limits(found.agreement),
            ]
        )
    header = ["arm", "mean error", "95 %", "median", "mean size", "95 of 100", "largest"]
    title = f"Errors of single {THINGS[arms[0].measure][1]}"
    return Words(title, [*header, "limits of agreement"], rows, "-nnnnnnn")


def _limits(agreement: tuple[float, float, float] | None) -> str:
    if agreement is None:
        return NOTHING
    low, _, high = agreement
    return f"x {number(low)} to x {number(high)}"


def distributions(arms: Sequence[ArmFidelity]) -> Words:
    """One row an arm."""
    say = time_words(arms[0].measure)
    rows = [
        [
            arm.arm,
            number(arm.distances.ks),
            say(arm.distances.wasserstein_s),
            percent(arm.distances.wasserstein_share),
            *_ranks(arm),
        ]
        for arm in arms
    ]
    header = ["arm", "Kolmogorov-Smirnov", "Wasserstein", "of the mean", "Kendall", "Spearman"]
    return Words("Distances of the distributions", [*header, "order of"], rows, "-nnnnn-")


def _ranks(arm: ArmFidelity) -> list[str]:
    if arm.ranks is None:
        return [NOTHING] * 3
    order = "ends" if arm.ranks.by == "finish_s" else "completion times"
    return [significant(arm.ranks.kendall, 3), significant(arm.ranks.spearman, 3), order]


def decisions(decision: Decision) -> Words:
    """One row for every two arms."""
    rows = [
        [
            f"{each.faster} over {each.slower}",
            _speedup(each.reference),
            _speedup(each.prediction),
            signed_percent(each.error.value - 1),
            interval_words(each.error.interval),
            percent(each.certainty),
            verdict(each),
        ]
        for each in decision.speedups
    ]
    header = ["speed-up of", "reference", "predicted", "diff.", "95 %", "certain", "order"]
    return Words(f"Speed-ups by mean {MEASURES[decision.measure]}", header, rows, "-nnnnn-")


def _speedup(estimate: Estimate) -> str:
    return f"{number(estimate.value)} x"


def verdict(speedup: Speedup) -> str:
    """Whether the order of two arms is kept."""
    if not speedup.is_certain:
        return "reference is unclear"
    return "same" if speedup.is_kept else "reversed"


def noise(arms: Sequence[ArmFidelity]) -> Words:
    """One row an arm whose reference has repeats."""
    rows = [
        [
            arm.arm,
            number(known.repeats),
            percent(known.typical),
            percent(known.largest),
            signed_percent(arm.estimates.mean.value - 1),
            percent(known.mape),
            percent(arm.errors.mape),
        ]
        for arm in arms
        if (known := arm.noise) is not None
    ]
    one = THINGS[arms[0].measure][0]
    header = ["arm", "repeats", "typical", "largest", "predicted", "repeats", "predicted"]
    groups = [("", 2), ("mean off by", 3), (f"a single {one} off by", 2)]
    return Words("The reference against itself", header, rows, "-nnnnnn", groups)


def parts(arms: Sequence[ArmFidelity]) -> Words:
    """One row an arm and part of the mean."""
    say = time_words(arms[0].measure)
    rows = []
    for arm in arms:
        whole_s = arm.estimates.reference.mean
        for part in arm.sources.parts:
            rows.append(
                [
                    f"{arm.arm}: {part.name}",
                    say(part.reference_s),
                    say(part.prediction_s),
                    signed_percent(part.error_s / whole_s),
                ]
            )
    header = ["part of the mean", "reference", "predicted", "adds to its error"]
    return Words("Where the error of the mean comes from", header, rows, "-nnn")


def source_sentences(arms: Sequence[ArmFidelity]) -> list[str]:
    """What the tables say beyond the parts, and what they do not."""
    return list(dict.fromkeys(_source_sentences(arms)))


def _source_sentences(arms: Sequence[ArmFidelity]) -> Iterator[str]:
    for arm in arms:
        of = "" if len(arms) == 1 else f"{arm.arm}: "
        found = arm.sources
        if found.starts is not None:
            ours, theirs = (number(value) for value in found.starts)
            yield f"{of}a job is started {ours} times in the reference, {theirs} times predicted"
        for side, stall_s in zip(("reference", "prediction"), found.stall_s, strict=True):
            if stall_s is not None:
                yield f"{of}GPUs wait for data for {duration(stall_s)} a job in the {side}"
        for grain in found.grains:
            yield (
                f"{of}all times of the {grain.side} are multiples of {duration(grain.grain_s)}: "
                f"rounding alone may be {percent(grain.share)} of the median"
            )
    for words in dict.fromkeys(words for arm in arms for words in arm.sources.untold):
        yield f"not to be told: {words}"


def no_intervals(arms: Sequence[ArmFidelity]) -> list[str]:
    """Why makespans have none."""
    known = [arm.makespan for arm in arms if arm.makespan is not None]
    return list(dict.fromkeys(each.no_interval for each in known if each.no_interval is not None))


def one_sided(fidelity: Fidelity) -> list[str]:
    """A sentence for each arm and side with jobs that the other side lacks."""
    return [
        _one_sided(arm, side) for arm in fidelity.arms for side in arm.pairs.one_sided if side.names
    ]


def _one_sided(arm: ArmFidelity, side: OneSided) -> str:
    jobs = "job" if len(side.names) == 1 else "jobs"
    many = "iterations of " if arm.measure == "iteration_s" else ""
    ended = f", of which {number(side.unended)} did not end on the other" if side.unended else ""
    return (
        f"{arm.arm}: {many}{number(len(side.names))} {jobs} of {number(side.of)} on the side of "
        f"the {side.side} only{ended}: {listed(side.names, MOST_NAMED)}"
    )
