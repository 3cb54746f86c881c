"""Numbers, times and lists as a person reads them."""

from __future__ import annotations

import pytest

from harness.report import words
from harness.report.words import SPACE, duration, numbers_listed
from tests.unit.harness.report.rounds_run import HOUR_S


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.2305, "230.5 ms"), (1.5, "1.500 s"), (2e-5, "20.00 µs"), (0.0, "0 s"), (float("nan"), "–")],
)
def test_seconds_choose_their_unit(value: float, expected: str) -> None:
    assert words.seconds(value).replace(words.SPACE, " ") == expected


@pytest.mark.parametrize("share", [0.00819, -0.0299, 0.2, 1e-7, 0.011, 0.1])
def test_within_never_promises_more_than_is_true(share: float) -> None:
    bound = float(words.within(share).split()[1]) / 100
    assert abs(share) <= bound + 1e-12
    assert bound <= max(abs(share) * 1.11, 1e-4)


def test_lists_read_as_english_and_count_what_they_leave_out() -> None:
    assert words.listed([]) == ""
    assert words.listed(["a"]) == "a"
    assert words.listed(["a", "b", "c"]) == "a, b and c"
    assert words.listed(list("abcdef"), at_most=4) == "a, b, c and 3 more"


@pytest.mark.parametrize(
    ("value_s", "expected"),
    [(30, "30 s"), (300, "5 min"), (5400, "90 min"), (15.3 * HOUR_S, "15.3 h"), (None, "–")],
)
def test_durations_choose_their_unit(value_s: float | None, expected: str) -> None:
    assert duration(value_s).replace(SPACE, " ") == expected


def test_seeds_are_listed_shortly() -> None:
    assert numbers_listed([3]) == "3"
    assert numbers_listed([1, 2]) == "1 and 2"
    assert numbers_listed([1, 2, 3, 4]) == "1 to 4"
    assert numbers_listed([1, 2, 4]) == "1, 2 and 4"
