"""A whole profiling, of a training whose times are known."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

from profiler.measuring import sensitivity
from profiler.measuring.sensitivity import (
    SensitivityPlan,
    profile_sensitivity,
    write_sensitivity,
)
from profiler.measuring.sensitivity_result import SensitivityResult
from profiler.measuring.training import Patience, Script
from profiler.measuring.training_process import StoppedError
from tests.unit.profiler.measuring.stand_in import NO_LIMITS, stand_in, true_iteration_s
from traces.errors import BadInputError
from traces.sensitivity import read_sensitivities

CPUS = (0.5, 1.0, 1.5, 2.0)
SHARES = (0.0, 0.5, 1.0)

Profile = Callable[..., SensitivityResult]


@pytest.fixture
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., SensitivityResult]:
    """Profiles a stand-in with ``settings``, in the same directory each time."""
    monkeypatch.setattr(sensitivity, "limits_for_training", lambda: NO_LIMITS)
    directory = tmp_path / "profile"
    directory.mkdir()

    def run(
        *,
        shares: tuple[float, ...] | None = SHARES,
        is_full: bool = False,
        checks: int = 0,
        stop_after: int = 10**6,
        **settings: Any,
    ) -> SensitivityResult:
        begun = 0

        def show(what: str, done: int, total: int, left_s: float) -> None:
            nonlocal begun
            begun += 1
            assert done < total

        command = Script((stand_in(tmp_path, **settings),))
        plan = SensitivityPlan(command, "mine", CPUS, Patience(5, 10), shares, is_full, checks)
        result, state = profile_sensitivity(plan, None, directory, show, lambda: begun > stop_after)
        write_sensitivity(directory, result, state)
        return result

    return run


def documents(result: SensitivityResult) -> list[Any]:
    """Its points as they are read back: what was a tuple is a list."""
    return [json.loads(json.dumps(point.to_document())) for point in result.found.points]


def test_few_points_give_the_matrix(profile: Profile, tmp_path: Path) -> None:
    result = profile(checks=2)
    true = [[true_iteration_s(cpus, cache) for cache in (0, 500_000, 10**6)] for cpus in CPUS]
    assert np.abs(result.iteration_s / true - 1).max() < 0.03
    purposes = [point.purpose for point in result.found.points]
    assert purposes.count("check") == 2
    assert purposes[-1] == "drift"
    assert len(result.chosen) < len(CPUS) + 2
    assert result.checked.worst < 0.03
    assert result.drift is not None
    assert result.drift.verdict == "steady"
    assert 0 < result.cost.share < 1
    assert "0.5 CPUs were rounded up to 1" in " ".join(result.unenforced)
    (written,) = read_sensitivities(tmp_path / "profile" / "profile.json").entries
    assert (written.model, written.kind, written.gpu_type) == ("mine", "image", "cpu")
    assert written.at(2.0, 10**6) == pytest.approx(1)
    assert written.dataset_bytes == 10**6
    points = pyarrow.parquet.read_table(tmp_path / "profile" / "points.parquet").to_pylist()
    assert [point["purpose"] for point in points] == purposes
    iterations = pyarrow.parquet.read_table(tmp_path / "profile" / "iterations.parquet")
    assert len(iterations) > sum(point.iterations for point in result.found.points) * 0.99


def test_the_full_grid_is_measured_and_says_how_far_the_model_is_off(profile: Profile) -> None:
    result = profile(is_full=True)
    assert result.is_full
    assert len(result.found.points) == len(CPUS) * len(SHARES) + 1
    assert len(result.checked.by_point) == len(CPUS) * len(SHARES) - len(result.chosen)
    assert result.checked.worst < 0.03
    assert not result.cost.is_estimated


def test_an_interrupted_profiling_keeps_its_points_and_goes_on(profile: Profile) -> None:
    with pytest.raises(StoppedError):
        profile(stop_after=0)
    partial = profile(stop_after=2)
    assert partial.found.is_interrupted
    assert len(partial.found.points) == 2
    assert partial.drift is None
    whole = profile()
    assert not whole.found.is_interrupted
    assert documents(whole)[:2] == documents(partial)
    assert whole.drift is not None
    # Once more: all is known, and nothing is measured.
    again = profile()
    assert documents(again) == documents(whole)
    # And it can be checked later, with another repetition at its end.
    assert len(profile(checks=1).found.points) == len(whole.found.points) + 2


def test_a_profiling_goes_on_with_its_caches_where_other_memory_is_free(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sensitivity, "usable_memory_bytes", lambda: 1_000_001)
    partial = profile(shares=None, stop_after=2)
    assert partial.found.grid.cache_bytes == (0, 150_000, 300_000, 450_000, 600_000)
    monkeypatch.setattr(sensitivity, "usable_memory_bytes", lambda: 900_007)
    whole = profile(shares=None)
    assert whole.found.grid == partial.found.grid
    assert documents(whole)[:2] == documents(partial)


def test_another_training_does_not_go_on_in_the_directory(profile: Profile) -> None:
    profile()
    with pytest.raises(BadInputError, match=r"dataset_items.* was begun with 1000, and not 999"):
        profile(items=999)


def test_a_failed_point_is_marked_and_the_others_give_the_matrix(profile: Profile) -> None:
    result = profile(at={"1.5": "die", "0.5": "out-of-memory"})
    states = {point.allocation.cpus: point.state for point in result.found.points}
    assert states[0.5] == "out-of-memory"
    assert states[1.0] == states[2.0] == "measured"
    assert any("0.5 CPUs" in note and "out-of-memory" in note for note in result.found.notes)
    assert np.isfinite(result.iteration_s).all()


def test_a_training_of_which_nothing_can_be_measured_is_an_error(profile: Profile) -> None:
    with pytest.raises(BadInputError, match="ended with status 1: ValueError: too few CPUs"):
        profile(at={f"{cpus:g}": "die" for cpus in CPUS})


def test_a_training_without_a_cache_has_no_memory_axis(profile: Profile) -> None:
    result = profile(items=None, bytes=None, not_followed={"memory": "no files"})
    assert result.sensitivity.throughput.shape == (len(CPUS), 1)
    assert result.sensitivity.dataset_bytes is None
    assert any("does not follow the memory" in note for note in result.found.notes)


def test_what_was_left_out_and_what_was_not_finite_is_said(profile: Profile) -> None:
    result = profile(skipped={"broken": 2, "empty": 1}, at={"2": "not-finite"})
    notes = " ".join(result.found.notes)
    assert "left out of the dataset: 2 broken, 1 empty" in notes
    assert "the loss was not finite from iteration 3 on" in notes
