"""From times to a document, through a directory that survives being interrupted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiler.allocation import Allocation
from profiler.sensitivity.measured_point import MeasuredPoint, point_from_document
from profiler.sensitivity.profile import Subject, sensitivity_of, with_measured
from profiler.sensitivity.profile_files import (
    ITERATIONS_FILE,
    POINTS,
    POINTS_FILE,
    PROFILE,
    write_profile,
)
from profiler.sensitivity.profile_state import ITERATIONS, ProfileState
from traces.errors import BadInputError
from traces.sensitivity import Sensitivities, read_sensitivities

CPUS, CACHES = (1.0, 2.0), (0.0, 100e6)
TIMES = np.array([[0.5, 0.4], [0.3, 0.2]])
SUBJECT = Subject(
    model="resnet50",
    kind="image",
    gpu_type="cpu",
    batch_size=16,
    dataset_bytes=100e6,
    sample_bytes=1e5,
    dataset="1,000 JPEG images",
    machine="two cores of a test",
    versions={"torch": "2.9"},
)
IDENTITY = {"model": "resnet50", "cpus": (1.0, 2.0), "options": {"precision": "fp32"}}

MEASURED = MeasuredPoint(
    Allocation(2.0, 100_000_000),
    iteration_s=0.2,
    interval_s=(0.199, 0.201),
    iterations=3,
    warmup_iterations=1,
    wait_s=0.05,
    copy_s=0.0,
    compute_s=0.15,
    hits=48,
    misses=0,
    evidence={"quota_cpus": 2.0, "gpu": None},
    steady=True,
    precise=True,
    cost_s=12.5,
)
FAILED = MeasuredPoint(
    Allocation(1.0, 0), purpose="grid", state="out-of-memory", reason="CUDA out of memory"
)
RECORDS = np.array([[0.5, 0.0, 0.15, 0.65], *[[0.05, 0.0, 0.15, 0.2]] * 3])


def through_json(point: MeasuredPoint) -> MeasuredPoint:
    document = json.loads(json.dumps(point.to_document(), allow_nan=False))
    return point_from_document(document, Path("points.jsonl"), 1)


@pytest.mark.parametrize("point", [MEASURED, FAILED], ids=["measured", "failed"])
def test_a_point_reads_back_as_it_was(point: MeasuredPoint) -> None:
    assert through_json(point) == point


@given(st.floats(1e-6, 1e6), st.floats(0, 0.5), st.integers(0, 10**15), st.floats(0.25, 512))
def test_so_does_any(iteration_s: float, half: float, cache_bytes: int, cpus: float) -> None:
    interval = (iteration_s * (1 - half), iteration_s * (1 + half))
    point = MeasuredPoint(
        Allocation(cpus, cache_bytes), iteration_s=iteration_s, interval_s=interval
    )
    assert through_json(point) == point


def test_a_point_says_a_time_or_why_there_is_none() -> None:
    with pytest.raises(ValueError, match="a time"):
        MeasuredPoint(Allocation(1.0, 0))
    with pytest.raises(ValueError, match="a reason"):
        MeasuredPoint(Allocation(1.0, 0), state="failed")


@pytest.mark.parametrize(
    ("document", "key"),
    [
        ({"allocation": {"cpus": 1.0, "cache_bytes": 0}, "state": "odd"}, "state"),
        ({"allocation": {"cpus": "many", "cache_bytes": 0}}, "allocation.cpus"),
        ({"allocation": {"cpus": 1.0, "cache_bytes": 0}, "speed": 1}, "speed"),
        ([], None),
    ],
)
def test_a_damaged_point_is_named(document: object, key: str | None) -> None:
    with pytest.raises(BadInputError) as caught:
        point_from_document(document, Path("points.jsonl"), 7)
    assert (caught.value.line, caught.value.key) == (7, key)


def test_the_sensitivity_is_one_at_the_reference_and_says_its_source() -> None:
    reference = Allocation(2.0, 100_000_000)
    sensitivity, repair = sensitivity_of(SUBJECT, CPUS, CACHES, TIMES, reference, "every point")
    assert sensitivity.iteration_s == pytest.approx(0.2)
    assert sensitivity.throughput.tolist() == [[pytest.approx(0.4), 0.5], [pytest.approx(2 / 3), 1]]
    assert sensitivity.provenance == "measured"
    assert sensitivity.source == "measured on two cores of a test with torch 2.9; every point"
    assert repair.changed == 0
    with pytest.raises(ValueError, match="not on the grid"):
        sensitivity_of(SUBJECT, CPUS, CACHES, TIMES, Allocation(1.5, 0), "")


def test_times_that_do_not_fall_are_repaired_and_that_is_said() -> None:
    noisy = TIMES.copy()
    noisy[0, 0] = 0.392
    reference = Allocation(2.0, 100_000_000)
    sensitivity, repair = sensitivity_of(SUBJECT, CPUS, CACHES, noisy, reference, "")
    assert repair.changed == 2
    assert sensitivity.source.endswith(
        "2 of 4 values changed by up to 1.02%, as neither more CPUs nor more memory slows "
        "training down"
    )


@given(st.lists(st.floats(0.01, 10), min_size=12, max_size=12))
def test_any_times_make_a_sensitivity(times: list[float]) -> None:
    cpus, caches = (0.5, 1.0, 2.0, 4.0), (0.0, 1e6, 2e6)
    table = np.array(times).reshape(4, 3)
    reference = Allocation(2.0, 1_000_000)
    sensitivity, _ = sensitivity_of(SUBJECT, cpus, caches, table, reference, "")
    assert sensitivity.at(2.0, 1e6) == pytest.approx(1)


def test_measured_points_take_the_place_of_modelled_ones() -> None:
    filled = with_measured(TIMES * 1.1, CPUS, CACHES, [MEASURED, FAILED])
    assert filled == pytest.approx(np.array([[0.55, 0.44], [0.33, 0.2]]))
    off = MeasuredPoint(Allocation(1.5, 0), state="failed", reason="it ended")
    with pytest.raises(ValueError, match="not on the grid"):
        with_measured(TIMES, CPUS, CACHES, [off])


def test_an_interrupted_profiling_goes_on(tmp_path: Path) -> None:
    state = ProfileState(tmp_path / "state", IDENTITY)
    assert state.points == ()
    state.append(MEASURED, RECORDS)
    resumed = ProfileState(tmp_path / "state", IDENTITY)
    assert (resumed.points, resumed.dropped_bytes) == ((MEASURED,), 0)
    resumed.append(FAILED, np.empty((0, 4)))
    assert ProfileState(tmp_path / "state", IDENTITY).points == (MEASURED, FAILED)


def test_a_line_that_was_not_written_to_its_end_is_dropped_and_said(tmp_path: Path) -> None:
    ProfileState(tmp_path, IDENTITY).append(MEASURED, RECORDS)
    file = tmp_path / "points.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:30])
    resumed = ProfileState(tmp_path, IDENTITY)
    assert (resumed.points, resumed.dropped_bytes) == ((MEASURED,), 30)
    assert file.read_bytes() == whole


def test_another_profiling_is_not_mixed_in(tmp_path: Path) -> None:
    ProfileState(tmp_path, IDENTITY)
    with pytest.raises(
        BadInputError, match='was begun with "resnet50", and not "alexnet"'
    ) as caught:
        ProfileState(tmp_path, {**IDENTITY, "model": "alexnet"})
    assert caught.value.key == "model"


@pytest.mark.parametrize("name", ["identity.json", "points.jsonl"])
def test_a_damaged_state_is_named(tmp_path: Path, name: str) -> None:
    ProfileState(tmp_path, IDENTITY).append(MEASURED, RECORDS)
    (tmp_path / name).write_text("{\n")
    with pytest.raises(BadInputError, match="is not JSON") as caught:
        ProfileState(tmp_path, IDENTITY)
    assert caught.value.file == tmp_path / name


def test_the_files_of_a_profiling_read_back(tmp_path: Path) -> None:
    state = ProfileState(tmp_path / "state", IDENTITY)
    state.append(MEASURED, RECORDS)
    state.append(FAILED, np.empty((0, 4)))
    reference = Allocation(2.0, 100_000_000)
    sensitivity, _ = sensitivity_of(SUBJECT, CPUS, CACHES, TIMES, reference, "every point")
    write_profile(tmp_path, Sensitivities((sensitivity,)), state)
    assert read_sensitivities(tmp_path / PROFILE).of("resnet50", "cpu").source == sensitivity.source
    points = pyarrow.parquet.read_table(tmp_path / POINTS_FILE)
    assert points.schema == POINTS
    first, second = points.to_pylist()
    assert (first["iteration_s"], first["low_s"], first["cost_s"]) == (0.2, 0.199, 12.5)
    assert json.loads(first["evidence"]) == {"quota_cpus": 2.0, "gpu": None}
    assert (second["state"], second["reason"]) == ("out-of-memory", "CUDA out of memory")
    assert second["iteration_s"] is None
    iterations = pyarrow.parquet.read_table(tmp_path / ITERATIONS_FILE)
    assert iterations.schema == ITERATIONS
    assert iterations["is_warmup"].to_pylist() == [True, False, False, False]
    assert iterations["iteration_s"].to_pylist() == [0.65, 0.2, 0.2, 0.2]


def test_iterations_that_were_removed_are_named(tmp_path: Path) -> None:
    state = ProfileState(tmp_path, IDENTITY)
    state.append(MEASURED, RECORDS)
    (file,) = tmp_path.glob("iterations-*.parquet")
    file.write_bytes(b"PAR1")
    with pytest.raises(BadInputError, match="cannot be read") as caught:
        list(state.iterations())
    assert caught.value.file == file
