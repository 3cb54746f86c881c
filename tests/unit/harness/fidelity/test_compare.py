"""A prediction against a reference, arm by arm."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.fidelity.compare import IterationTimes, compare, times_by_arm
from tests.unit.builders import iteration_row
from traces.results import IterationRow
from traces.run_directory import table


def iterations(**arms: list[float]) -> pd.DataFrame:
    rows = [
        iteration_row(arm, number, length)
        for arm, lengths in arms.items()
        for number, length in enumerate(lengths)
    ]
    return table(rows, IterationRow)


def test_the_statistics_are_mean_median_and_99th_percentile() -> None:
    times = IterationTimes.of([0.1] * 98 + [0.2, 0.3])
    assert times is not None
    assert times.mean == pytest.approx(0.103)
    assert times.p50 == 0.1
    assert times.p99 == pytest.approx(0.201)  # linear between the 99th and the 100th value
    assert IterationTimes.of([]) is None


def test_only_counted_iterations_count() -> None:
    rows = [iteration_row("a", 0, 9.0, counted=False), iteration_row("a", 1, 0.2)]
    rows.append(iteration_row("warm", 0, 9.0, counted=False))
    assert times_by_arm(table(rows, IterationRow)) == {"a": IterationTimes(0.2, 0.2, 0.2)}


def test_all_jobs_of_an_arm_count_together() -> None:
    rows = [iteration_row("a", 0, 0.1), iteration_row("a", 0, 0.3, job="two")]
    assert times_by_arm(table(rows, IterationRow))["a"].mean == pytest.approx(0.2)


def test_a_difference_is_the_prediction_relative_to_the_reference() -> None:
    (comparison,) = compare(iterations(a=[0.2, 0.2]), iterations(a=[0.25, 0.25])).comparisons
    assert comparison.difference == pytest.approx({"mean": 0.25, "p50": 0.25, "p99": 0.25})


def test_the_worst_is_the_largest_difference_of_a_mean_in_either_direction() -> None:
    fidelity = compare(iterations(a=[0.2], b=[0.2]), iterations(a=[0.21], b=[0.18]))
    assert fidelity.worst == pytest.approx(0.10)


def test_arms_that_only_one_side_has_are_named() -> None:
    fidelity = compare(iterations(a=[0.2], b=[0.2]), iterations(b=[0.2], c=[0.2]))
    assert [comparison.arm for comparison in fidelity.comparisons] == ["b"]
    assert (fidelity.only_reference, fidelity.only_prediction) == (("a",), ("c",))


def test_nothing_in_common_is_no_difference() -> None:
    fidelity = compare(iterations(), iterations(a=[0.1]))
    assert (fidelity.comparisons, fidelity.worst) == ((), 0.0)


@given(st.lists(st.floats(0.001, 10), min_size=1, max_size=30))
def test_a_run_agrees_with_itself(lengths: list[float]) -> None:
    assert compare(iterations(a=lengths), iterations(a=lengths)).worst == 0.0
