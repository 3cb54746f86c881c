"""What is compared with what, and what is on one side only."""

from __future__ import annotations

import pytest

from harness.fidelity.inputs.results import Results, together
from harness.fidelity.pairs import pair
from harness.fidelity.units import suspected_units
from tests.unit.harness.fidelity.sides import iterations_side, pairs_of, side
from traces.errors import BadInputError


def test_jobs_on_one_side_are_counted_and_named() -> None:
    nan = float("nan")
    (pairs,) = pair(side({"a": [1, 2, nan, 4, nan]}), side({"a": [1, nan, 3]})).arms
    reference, prediction = pairs.one_sided
    assert len(pairs.table) == 1
    assert (reference.names, reference.unended, reference.of) == (("1", "3"), 1, 3)
    assert (prediction.names, prediction.unended, prediction.of) == (("2",), 1, 2)


def test_arms_on_one_side_are_named() -> None:
    found = pair(side({"a": [1], "old": [1]}), side({"a": [1], "new": [1]}))
    assert [arm.arm for arm in found.arms] == ["a"]
    assert (found.only_reference, found.only_prediction) == (("old",), ("new",))


@pytest.mark.parametrize(("ours", "theirs", "name"), [("", "", "all jobs"), ("", "b", "b"),
                                                      ("a", "", "a")])  # fmt: skip
def test_a_side_without_arms_is_the_one_arm_of_the_other(ours: str, theirs: str, name: str) -> None:
    (pairs,) = pair(side({ours: [1, 2]}), side({theirs: [1, 2]})).arms
    assert pairs.arm == name


@pytest.mark.parametrize(
    ("reference", "prediction", "words"),
    [
        (side({"a": [1]}), side({"b": [1]}), "REFERENCE has a, PREDICTION has b"),
        (side({"a": [1], "b": [2]}), side({"": [1]}), "a column arm, with a, b"),
        (side({"a": [1]}), iterations_side("a", [1]), "REFERENCE has jct_s, PREDICTION has iter"),
        (side({"a": [1]}), side({"a": [float("nan")]}), "no job is on both sides"),
    ],
)
def test_nothing_in_common_is_refused(reference: Results, prediction: Results, words: str) -> None:
    with pytest.raises(BadInputError, match=words):
        pair(reference, prediction)


def test_other_names_of_jobs_are_shown() -> None:
    other = side({"a": [1]})
    assert other.jobs is not None
    other.jobs["job"] = "job-0"
    with pytest.raises(BadInputError, match="REFERENCE has 0, PREDICTION has job-0"):
        pair(side({"a": [1]}), other)


def test_seeds_are_paired_and_a_single_one_stands_for_all() -> None:
    reference = together("both", [side({"a": [1, 2]}, "1"), side({"a": [3, 4]}, "2")])
    both = together("both", [side({"a": [5, 6]}, "2"), side({"a": [7, 8]}, "3")])
    (pairs,) = pair(reference, both).arms
    assert (pairs.reference_s.tolist(), pairs.prediction_s.tolist()) == ([3, 4], [5, 6])
    assert pairs.one_sided[0].names == ("0 (seed 1)", "1 (seed 1)")
    (pairs,) = pair(reference, side({"a": [9, 10]})).arms
    assert sorted(pairs.prediction_s.tolist()) == [9, 9, 10, 10]
    assert pairs.units == 2  # a job's seeds are drawn together
    others = together("both", [side({"a": [5]}, "8"), side({"a": [7]}, "9")])
    with pytest.raises(BadInputError, match="no seed in common: 1, 2 and 8, 9"):
        pair(reference, others)


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (1000, "PREDICTION may be in milliseconds; if so, divide it by 1,000"),
        (1 / 1000, "REFERENCE may be in milliseconds; if so, divide it by 1,000"),
        (1 / 60, "PREDICTION may be in minutes; if so, multiply it by 60"),
        (3600, "REFERENCE may be in hours; if so, multiply it by 3,600"),
    ],
)
def test_other_units_are_suspected(factor: float, words: str) -> None:
    pairs = pairs_of([10, 20, 30, 1000], [11 * factor, 18 * factor, 35 * factor, 1000])
    (suspicion,) = suspected_units([pairs])
    assert words in suspicion.words


@pytest.mark.parametrize("factor", [1, 0.1, 10, 30, 200])
def test_large_errors_are_no_units(factor: float) -> None:
    assert not suspected_units([pairs_of([10, 20], [10 * factor, 20 * factor])])
