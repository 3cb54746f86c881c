"""The sentences about a run of rounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.report.rounds import jobs, sentences, setting
from harness.report.rounds.documents import Summary
from harness.report.rounds.sides import SIMULATED, Sides
from harness.report.words import SPACE
from tests.unit.harness.report.rounds_run import (
    COUNT,
    HOUR_S,
    MEAN_S,
    arm,
    interval,
    jobs_document,
    seed_document,
    summary,
)

SIMULATED_ALONE = Sides({SIMULATED: Path("run")})


def read(**changes: Any) -> Summary:
    return Summary.model_validate(summary(**changes))


def outcome_of(**changes: Any) -> str:
    return sentences.outcome(read(**changes), SIMULATED_ALONE).replace(SPACE, " ")


def test_outcome_compares_the_best_arm_with_the_first() -> None:
    assert outcome_of() == (
        "With tune, a job is complete 10 h after its submission on average, 2.00 times as fast as "
        "with proportional, which takes 20 h (95 % interval of the ratio 1.75 to 2.25, 2 seeds)."
    )


def test_outcome_names_every_other_arm_and_puts_an_upper_bound_last() -> None:
    arms = [
        arm("proportional", 20 * HOUR_S),
        arm("opt", 8 * HOUR_S, speedup=interval(2.5, 2.4, 2.6)),
        arm("greedy", 25 * HOUR_S, speedup=interval(0.8, 0.5, 0.9)),
        arm("tune", 10 * HOUR_S, speedup=interval(2.0, 1.75, 2.25)),
    ]
    text = outcome_of(arms=arms)
    assert text.startswith("With tune, a job is complete 10 h")
    assert "With greedy it is 1.25 times as slowly (25 h; 1.11 to 2.00)." in text
    assert text.endswith("With opt, an upper bound, it is 2.50 times as fast (8 h; 2.40 to 2.60).")


def test_outcome_does_not_promise_what_the_seeds_do_not_agree_on() -> None:
    arms = [arm("a", 20 * HOUR_S), arm("b", 19 * HOUR_S, speedup=interval(1.05, 0.9, 1.2))]
    assert "which is no clear difference" in outcome_of(arms=arms)


def test_outcome_of_one_seed_has_no_interval() -> None:
    only = {"value": 2.0, "low": None, "high": None, "seeds": 1}
    text = outcome_of(arms=[arm("a", 20 * HOUR_S), arm("b", 10 * HOUR_S, speedup=only)])
    assert text.endswith("2.00 times as fast as with a, which takes 20 h (1 seed).")


def test_arms_with_other_jobs_are_not_set_against_the_first() -> None:
    other = {"generate": {"jobs": COUNT, "load": 0.5}}
    arms = [
        arm("a", 20 * HOUR_S),
        arm("b", 10 * HOUR_S, speedup=interval(2.0)),
        arm("c", 5 * HOUR_S, speedup=interval(4.0), workload=other),
    ]
    text = outcome_of(arms=arms)
    assert text.startswith("With b, ")
    assert "In 1 arm with another cluster or other jobs it is 5 h." in text
    assert "arm c has another cluster or other jobs" in setting.not_like_for_like(read(arms=arms))
    assert setting.not_like_for_like(read()) == ""


def test_outcome_of_an_interrupted_run_says_what_there_is() -> None:
    unended = jobs_document(counted_and_finished=COUNT - 7)
    arms = [
        arm("a", 20 * HOUR_S, runs=[seed_document(1, MEAN_S, jobs=unended)], speedup=None),
        arm("b", 1, runs=[], jct_mean_s=None, speedup=None),
    ]
    text = outcome_of(arms=arms, interrupted=True)
    assert "The run was interrupted; simulated until then: a with 1 of 2 seeds." in text
    assert "7 jobs that count have not ended" in text
    assert "b" not in text.rpartition("With a")[2].split()


def test_outcome_without_any_completed_job() -> None:
    nothing = {"jct_mean_s": None, "speedup": None, "runs": []}
    text = outcome_of(arms=[arm("a", 1, **nothing)], interrupted=True)
    assert "nothing was simulated" in text
    assert "no completion time to compare" in text


def test_setting_says_what_the_arms_differ_in() -> None:
    text = setting.setting(read()).replace(SPACE, " ")
    assert "1 server with 8 V100 GPUs, 24 CPUs and 500 GB of memory" in text
    assert "every 5 min" in text
    assert text.endswith("The arms differ in the mechanism.")


def test_every_reason_for_leaving_jobs_out_is_told_with_where_it_applies() -> None:
    def refused(count: int) -> dict[str, Any]:
        refusal = {"reason": "asks for too much", "count": count, "where": "lines 3, 5"}
        return jobs_document(read=COUNT + count, refused=[refusal])

    first = [seed_document(seed, MEAN_S, jobs=refused(seed + 1)) for seed in (1, 2)]
    everywhere = jobs.left_out_words(read(arms=[arm("a", MEAN_S, runs=first)]))
    assert [text.replace(SPACE, " ") for text in everywhere] == [
        "2 to 3 jobs were left out: asks for too much (lines 3, 5)."
    ]
    in_one_arm = read(arms=[arm("a", MEAN_S), arm("b", MEAN_S, runs=first[:1])])
    assert jobs.left_out_words(in_one_arm) == [
        f"2{SPACE}jobs were left out in arm b: asks for too much (lines 3, 5)."
    ]
