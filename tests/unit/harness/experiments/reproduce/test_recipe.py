"""When a figure is reached, and what is never said of one."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from harness.experiments.reproduce.recipe import Compare, ReproducedFigure


def figure(ours: float | None, **changes: Any) -> ReproducedFigure:
    values: dict[str, Any] = {"expected": 10.0, "tolerance": 0.1}
    return ReproducedFigure("mean", "h", ours, **(values | changes))


@pytest.mark.parametrize(
    ("ours", "ok"), [(9.0, True), (11.0, True), (10.0, True), (8.99, False), (11.01, False)]
)
def test_near_is_within_the_tolerance_on_either_side(ours: float, ok: bool) -> None:
    assert figure(ours).ok is ok


@pytest.mark.parametrize(
    ("compare", "ours", "tolerance", "ok"),
    [
        ("at most", 3.0, None, True),
        ("at most", 10.0, None, True),
        ("at most", 10.1, None, False),
        ("at most", 10.9, 0.1, True),
        ("at least", 30.0, None, True),
        ("at least", 9.9, None, False),
        ("at least", 9.1, 0.1, True),
    ],
)
def test_a_bound_is_kept_from_one_side(
    compare: Compare, ours: float, tolerance: float | None, ok: bool
) -> None:
    assert figure(ours, compare=compare, tolerance=tolerance).ok is ok


def test_where_nothing_is_expected_nothing_is_judged() -> None:
    assert figure(1.0, expected=None).ok is None
    assert figure(1.0, tolerance=None).ok is None


def test_no_tolerance_at_all_wants_the_very_value() -> None:
    assert figure(0.0, expected=0.0, tolerance=0.0).ok is True
    assert figure(0.001, expected=0.0, tolerance=0.0).ok is False


def test_the_tolerance_of_a_negative_value_is_a_share_of_its_size() -> None:
    assert figure(-10.5, expected=-10.0).ok is True
    assert figure(-8.0, expected=-10.0).ok is False


def test_a_figure_that_could_not_be_made_is_not_reached() -> None:
    assert figure(None).ok is False
    assert figure(None, expected=None).ok is None


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_figure_is_a_number(value: float) -> None:
    with pytest.raises(ValueError, match="mean"):
        figure(value)


def test_the_document_is_plain_and_has_the_judgement() -> None:
    document = json.loads(json.dumps(figure(9.5, interval=(9.0, 10.0), note="so").document()))
    assert document == {
        "name": "mean", "unit": "h", "ours": 9.5, "interval": [9.0, 10.0], "expected": 10.0,
        "source": "", "tolerance": 0.1, "note": "so", "compare": "near", "ok": True,
    }  # fmt: skip
