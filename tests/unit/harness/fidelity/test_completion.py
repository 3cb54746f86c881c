"""Paired errors of completion times, by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.fidelity.completion import completion_errors


def jobs(jct_s: dict[str, float | None], counted: bool = True) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "seed": 1,
            "job": list(jct_s),
            "jct_s": pd.array(list(jct_s.values()), dtype="Float64"),
            "counted": counted,
        }
    )


def test_errors_are_those_of_each_job() -> None:
    simulated = jobs({"a": 110.0, "b": 80.0, "c": 300.0})
    emulated = jobs({"a": 100.0, "b": 100.0, "c": 300.0})
    errors = completion_errors(simulated, emulated)
    assert errors is not None
    assert errors.jobs == 3
    assert errors.mean_error == pytest.approx(490 / 500 - 1)
    assert errors.bias == pytest.approx((0.1 - 0.2) / 3)
    assert errors.median == pytest.approx(0.0)
    assert errors.mape == pytest.approx(0.1)
    assert errors.p95 == pytest.approx(0.19)
    assert errors.most == pytest.approx(0.2)


def test_jobs_that_ended_on_one_side_are_counted_and_not_compared() -> None:
    simulated = jobs({"a": 110.0, "b": 80.0, "c": None, "d": None})
    emulated = jobs({"a": 100.0, "b": None, "c": 300.0, "d": None})
    errors = completion_errors(simulated, emulated)
    assert errors is not None
    assert (errors.jobs, errors.only_simulated, errors.only_emulated) == (1, 1, 1)
    assert errors.mean_error == pytest.approx(0.1)


def test_jobs_of_other_seeds_are_other_jobs() -> None:
    other = jobs({"a": 50.0}).assign(seed=2)
    assert completion_errors(jobs({"a": 50.0}), other) is None


def test_jobs_that_do_not_count_are_left_out() -> None:
    assert completion_errors(jobs({"a": 1.0}, counted=False), jobs({"a": 2.0})) is None
