"""Points of a real process, whatever becomes of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from netshaper.run_state import new_run_id
from profiler.allocation import Allocation
from profiler.limits.point_limits import PointLimits
from profiler.measuring.point_meter import PointMeter, TrainingFailedError
from profiler.measuring.training import Patience
from profiler.measuring.training_process import StoppedError
from tests.unit.profiler.measuring.stand_in import DATASET_BYTES, NO_LIMITS, stand_in

FULL = Allocation(2.0, DATASET_BYTES)


@contextmanager
def meter(
    directory: Path, silence_s: float = 20, stop: Any = lambda: False, **settings: Any
) -> Iterator[PointMeter]:
    command = [stand_in(directory, **settings)]
    with (
        PointLimits(new_run_id(), NO_LIMITS) as limits,
        PointMeter(
            command, limits, Patience(5, silence_s), directory / "log.txt", stop
        ) as measuring,
    ):
        yield measuring


def test_points_are_measured_in_one_process(tmp_path: Path) -> None:
    with meter(tmp_path) as measuring:
        ready = measuring.begin()
        assert (ready.model, ready.dataset_bytes) == ("stand-in", DATASET_BYTES)
        point, records = measuring.measure(FULL, "cpus")
        assert point.iteration_s == pytest.approx(0.012, rel=0.01)
        assert point.steady
        assert point.precise
        assert len(records) >= point.iterations
        assert point.hits > 0
        slow, _ = measuring.measure(Allocation(1.0, DATASET_BYTES), "cpus")
        assert slow.iteration_s == pytest.approx(0.024, rel=0.01)
        assert slow.wait_s == pytest.approx(0.014, rel=0.02)
        assert slow.evidence["enforced"]["cpu_list"].count(",") == 0
        assert slow.evidence["point"]["elapsed_s"] > 0
        assert measuring.starts == 1
        single, _ = measuring.measure(FULL, "grid", "synthetic")
        assert single.iteration_s == pytest.approx(0.010, rel=0.01)


def test_a_fraction_of_a_cpu_that_cannot_be_kept_is_said(tmp_path: Path) -> None:
    with meter(tmp_path) as measuring:
        measuring.begin()
        point, _ = measuring.measure(Allocation(1.5, 0), "cpus")
        clauses = point.evidence["enforced"]["unenforced"]
        assert any("1.5 CPUs were rounded up to 2: use sudo" in clause for clause in clauses)


def test_a_point_at_which_the_training_dies_is_marked_and_others_go_on(tmp_path: Path) -> None:
    with meter(tmp_path, at={"1": "die"}) as measuring:
        measuring.begin()
        dead, records = measuring.measure(Allocation(1.0, 0), "cpus")
        assert (dead.state, len(records)) == ("failed", 0)
        assert dead.reason == "the training ended with status 1: ValueError: too few CPUs"
        point, _ = measuring.measure(FULL, "cpus")
        assert point.is_measured
        assert measuring.starts == 2


def test_a_gpu_without_enough_memory_marks_its_point(tmp_path: Path) -> None:
    with meter(tmp_path, at={"1": "out-of-memory"}) as measuring:
        measuring.begin()
        short, _ = measuring.measure(Allocation(1.0, 0), "cpus")
        assert (short.state, short.reason) == ("out-of-memory", "CUDA out of memory")
        assert measuring.measure(FULL, "cpus")[0].is_measured
        assert measuring.starts == 1


def test_an_allocation_that_is_refused_marks_its_point(tmp_path: Path) -> None:
    with meter(tmp_path, at={"1": "refuse"}) as measuring:
        measuring.begin()
        refused, _ = measuring.measure(Allocation(1.0, 0), "cpus")
        assert (refused.state, refused.reason) == ("failed", "no such cache")
        assert measuring.measure(FULL, "cpus")[0].is_measured


def test_a_loss_that_is_not_finite_is_recorded(tmp_path: Path) -> None:
    with meter(tmp_path, at={"1": "not-finite"}) as measuring:
        measuring.begin()
        point, _ = measuring.measure(Allocation(1.0, 0), "cpus")
        assert point.is_measured
        assert point.evidence["not_finite_iteration"] == 3


def test_a_script_that_comes_to_its_end_begins_once_more(tmp_path: Path) -> None:
    with meter(tmp_path, iterations=400) as measuring:
        measuring.begin()
        points = [measuring.measure(Allocation(cpus, 0), "cpus")[0] for cpus in (2.0, 1.0) * 8]
        assert all(point.is_measured for point in points)
        assert measuring.starts > 1


def test_a_script_that_is_too_short_is_said_to_be(tmp_path: Path) -> None:
    with meter(tmp_path, iterations=10) as measuring:
        measuring.begin()
        point, records = measuring.measure(FULL, "cpus")
        assert (point.state, len(records)) == ("failed", 10)
        assert "ended by itself after 10 iterations" in point.reason


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"exit": 3}, "the training ended with status 3: begun"),
        ({"silent_s": 60}, "the training showed no iteration for 0.5 s"),
    ],
)
def test_a_training_that_never_begins_is_an_error(
    tmp_path: Path, settings: dict[str, Any], said: str
) -> None:
    with meter(tmp_path, silence_s=0.5, **settings) as measuring:
        with pytest.raises(TrainingFailedError, match=said) as caught:
            measuring.begin()
        assert "log.txt" in str(caught.value)


def test_a_person_can_stop(tmp_path: Path) -> None:
    asked = False
    with meter(tmp_path, stop=lambda: asked) as measuring:
        measuring.begin()
        asked = True
        with pytest.raises(StoppedError):
            measuring.measure(FULL, "cpus")
