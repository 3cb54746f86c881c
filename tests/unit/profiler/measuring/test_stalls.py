"""Which stage limits a training whose times are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from profiler.allocation import Allocation
from profiler.measuring import stalls
from profiler.measuring.stall_rates import StallPoints, StorageRates, stage_rates
from profiler.measuring.stalls import profile_stalls
from profiler.measuring.training import Patience, Script
from profiler.sensitivity.measured_point import MeasuredPoint
from tests.unit.profiler.measuring.stand_in import BATCH, NO_LIMITS, stand_in


def point(iteration_s: float, cpu_s: float | None = None) -> MeasuredPoint:
    evidence = {} if cpu_s is None else {"point": {"cpu": {"used_s": cpu_s * 100}}}
    return MeasuredPoint(
        Allocation(2.0, 0),
        iteration_s=iteration_s,
        interval_s=(iteration_s, iteration_s),
        iterations=90,
        warmup_iterations=10,
        evidence=evidence,
    )


def test_preparation_and_storage_are_measured_where_they_limit() -> None:
    found = stage_rates(8, 2.0, StallPoints(point(0.1), point(0.2), point(0.4)), None)
    rates = found.rates
    assert (rates.ingestion, rates.preparation, rates.storage) == (80, 40, 20)
    assert rates.limit == "fetch"
    assert found.hidden == {}


def test_hidden_preparation_is_estimated_by_its_cpu_time() -> None:
    points = StallPoints(point(0.1, cpu_s=0.05), point(0.1, cpu_s=0.15), None)
    found = stage_rates(8, 2.0, points, StorageRates(1000, 5000))
    # Of 2 CPUs computing takes half of one; the rest prepares a batch in 0.1 CPU seconds.
    assert found.rates.preparation == pytest.approx(1.5 * 8 / 0.1)
    assert found.hidden == {"preparation": "by the CPU time that it takes"}
    assert (found.rates.storage, found.rates.memory) == (1000, 5000)


def test_hidden_stages_are_said_to_be() -> None:
    found = stage_rates(8, 2.0, StallPoints(point(0.1), point(0.1), point(0.1)), None)
    assert set(found.hidden) == {"preparation", "fetch"}
    assert found.rates.preparation == 80


def test_a_training_without_a_cache_has_no_rate_of_fetching() -> None:
    found = stage_rates(8, 2.0, StallPoints(point(0.1), point(0.2), None), None)
    assert found.rates.limit == "preparation"
    assert "not known" in found.hidden["fetch"]


def test_three_runs_tell_what_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stalls, "limits_for_training", lambda: NO_LIMITS)
    script = Script((stand_in(tmp_path, storage_bytes_per_s=2.5e5),))
    shown = []
    result = profile_stalls(
        script,
        "mine",
        1.0,
        None,
        Patience(5, 10),
        tmp_path,
        lambda what, done, total, left_s: shown.append((what, done, total)),
        lambda: False,
    )
    rates = result.found.rates
    assert rates.ingestion == pytest.approx(BATCH / 0.010, rel=0.02)
    assert rates.preparation == pytest.approx(BATCH / 0.024, rel=0.02)
    assert rates.storage == pytest.approx(BATCH / 0.040, rel=0.02)
    assert rates.limit == "fetch"
    assert [done for _, done, _ in shown] == [0, 1, 2]
