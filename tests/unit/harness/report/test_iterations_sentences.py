"""The sentences about a run of jobs that share links."""

from __future__ import annotations

from harness.report import words
from harness.report.iterations import sentences
from harness.report.iterations.documents import CpuScaleRead, Summary
from harness.report.words import SPACE
from tests.unit.harness.report.iterations_run import (
    ALONE_S,
    arm,
    invariant,
    outcome_of,
    summary,
)


def test_outcome_compares_arms_with_a_job_alone() -> None:
    text = outcome_of()
    assert "An iteration takes 200.0 ms alone." in text
    assert "Sharing the links fairly makes it 1.50 times as long (arm together)." in text
    assert "The simulator's mean is within 1 % of the measured one in every arm." in text
    assert "Every measured arm is valid." in text


def test_outcome_calls_equal_what_is_nearly_equal() -> None:
    shifted = arm("shifted", ALONE_S * 1.004, interleaver="cassini")
    text = outcome_of(arms=[arm("dedicated", ALONE_S, dedicated=True), shifted])
    assert "with time-shifts leaves it as long as alone, within 0.4 % (arm shifted)" in text


def test_outcome_without_an_ideal_names_the_fastest_arm() -> None:
    text = outcome_of(arms=[arm("slow", 0.4, sharing="fifo"), arm("quick", 0.2)])
    assert "An iteration takes 200.0 ms in arm quick, the fastest." in text
    assert (
        "Arm slow (first-come-first-served queues shared by all jobs) makes it 2.00 times" in text
    )


def test_outcome_names_the_arms_that_are_not_to_be_trusted() -> None:
    bad = {"status": "invalid", "invariants": []}
    text = outcome_of(arms=[arm("a", 0.2), arm("b", 0.2, verdict=bad)])
    assert "Arm b is invalid: the emulation broke a rule" in text


def test_outcome_of_a_prediction_says_that_nothing_was_measured() -> None:
    unmeasured = {"measured": None, "difference": None, "verdict": None, "scale": None}
    text = outcome_of(arms=[arm("a", 0.2, **unmeasured)])
    assert text.startswith("Nothing was measured")
    assert "An iteration takes 202.0 ms" in text


def test_outcome_never_compares_a_measurement_with_a_prediction() -> None:
    unmeasured = {"measured": None, "difference": None, "verdict": None, "scale": None}
    arms = [arm("dedicated", 0.2, dedicated=True, **unmeasured), arm("together", 0.3)]
    text = outcome_of(arms=arms, interrupted=True)
    assert "The run was interrupted: 1 of 2 arms have measured iterations." in text
    assert "times as long" not in text
    assert "in every arm that has both" in text


def test_verdict_in_words_gives_the_value_beside_the_limit() -> None:
    failed = invariant(name="link calibration", ok=False, value=0.0214)
    document = arm("a", 1, verdict={"status": "suspect", "invariants": [invariant(), failed]})
    verdict = Summary.model_validate(summary(arms=[document])).arms[0].verdict
    assert verdict is not None
    assert sentences.verdict_words(verdict) == (
        "1 of 2 invariants hold; link calibration does not "
        f"(2.14{SPACE}%, at most 2{SPACE}% allowed)."
    )


def test_scale_in_words() -> None:
    scale = Summary.model_validate(summary()).arms[0].scale
    assert scale is not None
    text = sentences.scale_words(scale).replace(words.SPACE, " ")
    assert text.startswith("Links are 380 times slower and transfers 380 times smaller")
    assert "37.5 % of what this machine forwards" in text
    assert "One CPU" not in text
    reason = "30 CPUs in 30% of 2 cores"
    divided = scale.model_copy(update={"cpu": CpuScaleRead(divisor=50.0, reason=reason)})
    text = sentences.scale_words(divided).replace(words.SPACE, " ")
    assert "One CPU is 2.00 % of a core of this machine, to have 30 CPUs in 30% of 2 cores." in text
