"""What can and what cannot be concluded, in plain words. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.fidelity.analysis import ArmFidelity, Fidelity
from harness.fidelity.decision import Decision
from harness.fidelity.estimates import LEAST_UNITS, Statement
from harness.fidelity.pairs import Measure
from harness.report.words import counted, listed, number, percent, sentence, signed_percent

MEASURES: dict[Measure, str] = {
    "jct_s": "job completion time",
    "iteration_s": "iteration time",
}
THINGS: dict[Measure, tuple[str, str]] = {
    "jct_s": ("job", "jobs"),
    "iteration_s": ("iteration", "iterations"),
}


def conclusion(fidelity: Fidelity) -> str:
    """One paragraph."""
    return " ".join(sentence(words) for words in _sentences(fidelity))


def _sentences(fidelity: Fidelity) -> Iterator[str]:
    if fidelity.doubts:
        yield f"nothing should be concluded before it is run again: {listed(fidelity.doubts)}"
    for suspicion in fidelity.suspicions:
        yield f"nothing should be concluded before the units are right: {suspicion.words}"
    for measure in fidelity.measures:
        arms = fidelity.of(measure)
        yield from _means(arms, measure, fidelity.margin)
        yield _single(arms, measure, fidelity.margin)
    for decision in fidelity.decisions:
        yield from _decision(decision)
    if not fidelity.decisions:
        yield "whether schedulers come in the same order cannot be told, which takes two or more"
    yield from _noise(fidelity)
    yield from _one_sided(fidelity)
    yield (
        "all of this holds for jobs like these, on this cluster, under these schedulers; where the "
        "prediction was fitted to the same runs, it says nothing of others"
    )


def _means(arms: list[ArmFidelity], measure: Measure, margin: float) -> Iterator[str]:
    within = f"within {number(100 * margin)} % of the reference"
    for statement, words in _STATEMENTS.items():
        own = [arm for arm in arms if arm.statement == statement]
        if own:
            named = "" if len(arms) == 1 else f" with {listed([_mean(arm) for arm in own])}"
            off = f" ({_off(own[0])})" if len(arms) == 1 else ""
            yield f"the mean {MEASURES[measure]}{named} {words.format(within=within)}{off}"
            if statement == "undecided":
                yield _why_undecided(own)


_STATEMENTS: dict[Statement, str] = {
    "equivalent": "can be taken to be {within}",
    "different": "is not {within}",
    "undecided": "may or may not be {within}: these data do not decide it",
}


def _mean(arm: ArmFidelity) -> str:
    return f"{arm.arm} ({_off(arm)})"


def _off(arm: ArmFidelity) -> str:
    return signed_percent(arm.estimates.mean.value - 1)


def _why_undecided(arms: list[ArmFidelity]) -> str:
    few = [arm for arm in arms if arm.estimates.units < LEAST_UNITS]
    what = THINGS[arms[0].measure][1]
    if len(few) == len(arms):
        most = max(arm.estimates.units for arm in few)
        return (
            f"at most {number(most)} independent {what} are too few; it takes {LEAST_UNITS} or more"
        )
    return f"more {what}, or such that differ less in their errors, would decide it"


def _single(arms: list[ArmFidelity], measure: Measure, margin: float) -> str:
    one, _ = THINGS[measure]
    mape = [arm.errors.mape for arm in arms]
    worst = max(arms, key=lambda arm: arm.errors.mape)
    of = "" if len(arms) == 1 else f" with {worst.arm}, the worst,"
    figures = (
        f"a single {one} is off by {percent(max(mape))} on average{of} and by up to "
        f"{percent(worst.errors.p95)} for 95 in 100"
    )
    if max(mape) <= margin:
        return f"also of one {one} at a time the prediction can be believed: {figures}"
    return f"of one {one} at a time nothing should be concluded from it: {figures}"


def _decision(decision: Decision) -> Iterator[str]:
    measure = MEASURES[decision.measure]
    certain, wrong = decision.certain, decision.reversed
    pairs = len(decision.speedups)
    if not certain:
        yield (
            f"by mean {measure} the reference itself does not tell any two of the arms apart with "
            "95 % certainty, so that no order can be confirmed"
        )
        return
    all_or_some = "" if len(certain) == pairs else f"of {pairs} pairs of arms, "
    if not wrong:
        yield (
            f"it can be used to choose by mean {measure}: {all_or_some}"
            f"{counted(len(certain), 'pair', 'pairs')} that the reference tells apart with 95 % "
            f"certainty {'comes' if len(certain) == 1 else 'come'} in the same order"
        )
    else:
        named = listed([f"{each.slower} before {each.faster}" for each in wrong])
        yield (
            f"it should not be used to choose by mean {measure}: {all_or_some}"
            f"{counted(len(wrong), 'pair', 'pairs')} of {number(len(certain))} that the reference "
            f"tells apart with 95 % certainty {'comes' if len(wrong) == 1 else 'come'} in the "
            f"other order ({named})"
        )
    worst = max(certain, key=lambda each: abs(each.error.value - 1))
    yield (
        f"the speed-up that is farthest off is that of {worst.faster} over {worst.slower}: "
        f"{number(worst.prediction.value)} predicted, {number(worst.reference.value)} in the "
        "reference"
    )
    if decision.units < LEAST_UNITS:
        yield f"both rest on no more than {number(decision.units)} that all arms have in common"


def _noise(fidelity: Fidelity) -> Iterator[str]:
    known = [arm for arm in fidelity.arms if arm.noise is not None]
    if not known:
        yield (
            "how far the reference would be off itself in a second run is not known, as none was "
            "given, so that part of the error may be chance"
        )
        return
    below = [arm for arm in known if _within_noise(arm)]
    worst = max(arm.noise.largest for arm in known if arm.noise is not None)
    yield f"from one repeat to another the reference's own mean moves by up to {percent(worst)}"
    if below:
        names = listed(list(dict.fromkeys(arm.arm for arm in below)))
        yield f"the error of the mean with {names} is no larger than that: it may be chance"


def _within_noise(arm: ArmFidelity) -> bool:
    return arm.noise is not None and abs(arm.estimates.mean.value - 1) <= arm.noise.largest


def _one_sided(fidelity: Fidelity) -> Iterator[str]:
    for measure in fidelity.measures:
        _, many = THINGS["jct_s"]
        missing = sum(arm.one_sided for arm in fidelity.of(measure))
        if missing:
            yield (
                f"{counted(missing, 'job is', f'{many} are')} on one side only, and nothing is "
                f"known of the error of {'it' if missing == 1 else 'them'}"
            )
    alone = [*fidelity.only_reference, *fidelity.only_prediction]
    if alone:
        yield f"{listed(alone)} could not be compared, as only one side has {_it(alone)}"
    without = fidelity.unpaired
    if without:
        yield (
            f"{listed(without)} could not be compared, as no job of {_it(without)} is on both sides"
        )


def _it(alone: Sequence[str]) -> str:
    return "it" if len(alone) == 1 else "them"
