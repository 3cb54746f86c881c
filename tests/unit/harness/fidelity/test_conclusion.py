"""The paragraph: what it says in each case, and what it does not."""

from __future__ import annotations

import numpy as np
import pytest

from harness.fidelity.analysis import analyse
from harness.fidelity.conclusion import conclusion
from harness.fidelity.inputs.results import together
from harness.report.words import SPACE
from tests.unit.harness.fidelity.sides import compared, iterations_side, side, synthetic


def plain(words: str) -> str:
    return words.replace(SPACE, " ")


@pytest.mark.parametrize(
    ("case", "said", "unsaid"),
    [
        ((200, 0.005, 0.02), ["can be taken to be within 5 %", "can be believed"], ["is not w"]),
        ((200, 0.15, 0.02), ["is not within 5 %", "nothing should be concluded"], ["can be taken"]),
        ((60, 0.05, 0.2), ["may or may not be", "more jobs, or such that"], ["too few"]),
        ((9, 0.0, 0.01), ["may or may not be", "9 independent jobs are too few"], ["more jobs"]),
    ],
)
def test_of_one_arm(case: tuple[int, float, float], said: list[str], unsaid: list[str]) -> None:
    jobs, bias, noise = case
    words = plain(conclusion(compared(*synthetic(3, jobs, bias, noise)))).lower()
    for each in (
        *said,
        "takes two or more",
        "not known, as none was given",
        "jobs like these",
    ):
        assert each in words
    for each in unsaid:
        assert each not in words


def test_of_several_arms_an_order_is_kept_or_not() -> None:
    base_s, _ = synthetic(1, 80, 0.0, 0.0)
    reference = side({"a": base_s, "b": 2 * base_s, "c": 3 * base_s})
    same = plain(conclusion(analyse(reference, reference)))
    assert "It can be used to choose by mean job completion time: 3 pairs" in same
    wrong = plain(
        conclusion(analyse(reference, side({"a": base_s, "b": 5 * base_s, "c": 2 * base_s})))
    )
    assert "It should not be used to choose" in wrong
    assert "(c before b)" in wrong
    other_s = base_s * np.random.default_rng(2).lognormal(0, 1, 80)
    alike = side({"a": base_s, "b": other_s * base_s.mean() / other_s.mean()})
    assert "does not tell any two of the arms apart" in plain(conclusion(analyse(alike, alike)))


def test_units_come_first_and_what_is_missing_is_counted() -> None:
    reference_s, prediction_s = synthetic(1, 50, 0.0, 0.1)
    words = plain(conclusion(compared(reference_s, 1000 * prediction_s[:49])))
    assert words.startswith("Nothing should be concluded before the units are right")
    assert "1 job is on one side only, and nothing is known of the error of it" in words


def test_a_noise_floor_is_said_and_what_lies_below_it() -> None:
    reference_s, _ = synthetic(1, 50, 0.0, 0.1)
    repeats = [side({"a": reference_s * factor}, str(factor)) for factor in (1.0, 1.2)]
    near = plain(conclusion(analyse(together("all", repeats), side({"a": 1.1 * reference_s}))))
    assert "the reference's own mean moves by up to 20.0 %" in near
    assert "it may be chance" in near
    far = plain(conclusion(analyse(together("all", repeats), side({"a": 2 * reference_s}))))
    assert "it may be chance" not in far


def test_iterations_are_called_so() -> None:
    rng = np.random.default_rng(1)
    lengths_s = rng.lognormal(-1, 0.01, 900)
    reference = iterations_side("a", lengths_s)
    words = plain(conclusion(analyse(reference, iterations_side("a", 1.01 * lengths_s))))
    assert "The mean iteration time can be taken to be within 5 %" in words
    assert "one iteration at a time the prediction can be believed" in words
