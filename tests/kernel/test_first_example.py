"""The first example on the real kernel: what sharing and time-shifts do, and what was predicted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.kernel.command import arm, mean_s, short_example, trusted_run
from tests.kernel.validated import check_validation
from tests.unit.harness.fidelity.scipy_figures import emulated_iterations


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One run for all tests of this file; its record goes where the command puts it."""
    directory = tmp_path_factory.mktemp("example")
    found = trusted_run(short_example(directory, iterations=20), directory)
    found["directory"] = max(directory.glob("run-*"))
    return found


def test_time_shifts_bring_the_dedicated_time_back(summary: dict[str, Any]) -> None:
    assert mean_s(arm(summary, "shifted")) == pytest.approx(
        mean_s(arm(summary, "dedicated")), rel=0.02
    )


def test_fair_sharing_stretches_every_iteration(summary: dict[str, Any]) -> None:
    assert mean_s(arm(summary, "together")) >= 1.3 * mean_s(arm(summary, "shifted"))


def test_the_simulator_predicts_every_arm(summary: dict[str, Any]) -> None:
    for each in summary["arms"]:
        assert abs(each["difference"]["mean"]) <= 0.05, each["name"]
        assert abs(each["difference"]["p99"]) <= 0.10, each["name"]


def test_the_dedicated_time_is_compute_plus_transfer(summary: dict[str, Any]) -> None:
    exact_s = mean_s(arm(summary, "dedicated"), "predicted")
    assert mean_s(arm(summary, "dedicated")) == pytest.approx(exact_s, rel=0.01)


def test_scores_and_shifts_are_reported(summary: dict[str, Any]) -> None:
    shifted, together = arm(summary, "shifted"), arm(summary, "together")
    assert shifted["score"] == pytest.approx(1.0)
    assert together["score"] < 0.7
    shifts = sorted(shifted["time_shifts_s"].values())
    assert shifts[0] == 0.0
    assert 0.092 < shifts[1] < 0.138
    assert set(together["time_shifts_s"].values()) == {0.0}


def test_the_directory_holds_what_was_printed(summary: dict[str, Any]) -> None:
    directory: Path = summary["directory"]
    kept = json.loads((directory / "summary.json").read_text())
    assert kept == {key: value for key, value in summary.items() if key != "directory"}
    for side in ("emulated", "simulated"):
        for name in ("iterations.parquet", "jobs.parquet", "links.parquet", "timeline.json"):
            assert (directory / side / name).stat().st_size > 0
    assert (directory / "report.html").stat().st_size > 1_000_000


def test_the_emulation_validates_the_simulator(summary: dict[str, Any], tmp_path: Path) -> None:
    directory: Path = summary["directory"]
    arms = emulated_iterations(directory)
    page = tmp_path / "validation.html"
    validated = check_validation(directory, page, arms, "iteration")
    assert validated["warnings"] == []
    for each in validated["arms"]:
        measured = arm(summary, each["name"])["difference"]["mean"]
        assert each["mean_ratio"]["value"] - 1 == pytest.approx(measured)
