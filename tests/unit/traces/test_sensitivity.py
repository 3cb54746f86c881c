"""The published tables are read as published, interpolated between, and never fall."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.refusal import refusal_of
from traces import sensitivity
from traces.errors import BadInputError
from traces.sensitivity import (
    Sensitivities,
    Sensitivity,
    SensitivityError,
    TwoPoint,
    builtin_sensitivities,
    read_sensitivities,
    write_sensitivities,
)

GB = 1e9
SYNERGY = builtin_sensitivities("synergy")
REFERENCE = (3.0, 62.5 * GB)

# model: kind, batch size, iteration in s, throughput at 62.5 GB over CPUs 1, 2, 3, 4, 5, 6, 9, 12
# and 24, throughput at 24 CPUs over the last four memory points
PUBLISHED = {
    "alexnet": (
        *("image", 512, 0.6),
        *((0.3, 0.66, 1, 1.25, 1.53, 1.75, 2, 2, 2), (2, 2.94, 2.94, 2.94)),
    ),
    "res18": (
        *("image", 512, 0.64),
        *((0.37, 0.72, 1, 1.3, 1.53, 1.75, 2.4, 2.4, 2.4), (2.4,) * 4),
    ),
    "res50": ("image", 512, 0.78, (0.4, 0.74, 1, *(1.15,) * 6), (1.15,) * 4),
    "mobilenet": ("image", 512, 0.71, (0.37, 0.72, 1, 1.3, 1.49, *(1.55,) * 4), (1.55,) * 4),
    "shufflenet": (
        *("image", 512, 0.615),
        *((0.3, 0.66, 1, 1.25, 1.53, 1.75, 2, 2, 2), (2, 2.89, 2.89, 2.89)),
    ),
    "gnmt": ("language", 128, 0.12, (1,) * 9, (1,) * 4),
    "transformer": ("language", 128, 0.67, (1,) * 9, (1,) * 4),
    "lstm": ("language", 20, 0.011, (1,) * 9, (1,) * 4),
    "m5": ("speech", 512, 0.6, (0.3, 0.66, 1, 1.2, 1.4, *(1.5,) * 4), (1.5, 2, 2.5, 2.5)),
    "deepspeech": ("speech", 20, 0.757, (0.3, 0.66, *(1,) * 7), (1,) * 4),
}

# model: iteration in s and speedup at ratios 3, 4, 5 and 6; ideal CPUs there; ideal memory in GB
COARSE = {
    "alexnet": ((0.6, 0.48, 0.392, 0.34), (2.94, 2.352, 1.92, 2.18), (12, 12, 12, 24), 125),
    "res18": ((0.64, 0.5, 0.41, 0.365), (2.4, 1.85, 1.568, 1.37), (9,) * 4, 62.5),
    "res50": ((0.78, 0.68, 0.68, 0.68), (1.15, 1, 1, 1), (4,) * 4, 62.5),
    "mobilenet": ((0.71, 0.55, 0.47, 0.458), (1.55, 1.2, 1.04, 1), (6,) * 4, 62.5),
    "shufflenet": ((0.615, 0.492, 0.401, 0.351), (2.89, 2.312, 1.88, 2.59), (12, 12, 12, 24), 125),
    "gnmt": ((0.12,) * 4, (1,) * 4, (1,) * 4, 20),
    "transformer": ((0.67,) * 4, (1,) * 4, (1,) * 4, 20),
    "lstm": ((0.011,) * 4, (1,) * 4, (1,) * 4, 20),
    "m5": ((0.6, 0.5, 0.42, 0.3), (2.5, 2.08, 1.78, 1), (6,) * 4, 187.5),
    "deepspeech": ((0.757,) * 4, (1,) * 4, (3,) * 4, 62.5),
}

SMALL = Sensitivity(
    model="small",
    kind="image",
    gpu_type="v100",
    batch_size=10,
    iteration_s=0.5,
    reference_cpus=2,
    reference_memory_bytes=40 * GB,
    cpus=np.array([2, 4]),
    memory_bytes=np.array([40, 80]) * GB,
    throughput=np.array([[1, 1.5], [2, 4]]),
    provenance="measured",
    source="made up",
    dataset_bytes=100 * GB,
    sample_bytes=1000,
)


def of(model: str) -> Sensitivity:
    return SYNERGY.of(model, "v100")


def plain(entry: Sensitivity | TwoPoint) -> dict[str, Any]:
    """The fields of ``entry`` as they are in a document."""
    return {
        key: value.tolist() if isinstance(value, np.ndarray) else value
        for key, value in asdict(entry).items()
    }


def coarse(**changes: float) -> dict[str, Any]:
    return plain(TwoPoint(3, 0.5, 2, 4, 80 * GB)) | changes


def document(**changes: Any) -> dict[str, Any]:
    """One model's document, with ``changes`` in it; ... takes a key out."""
    entry = plain(SMALL) | {"two_point": [coarse()]} | changes
    entry = {key: value for key, value in entry.items() if value is not ...}
    return {"schema_version": 1, "models": [entry]}


def refusal(file: Path, text: str | bytes) -> BadInputError:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    error = refusal_of(file, read_sensitivities, file)
    assert "synergy.json" in error.allowed
    return error


def test_the_built_in_set_has_the_ten_models_by_kind() -> None:
    assert SYNERGY.models == tuple(PUBLISHED)
    assert SYNERGY.gpu_types == ("v100",)
    assert SYNERGY.kinds == {
        "image": ("alexnet", "res18", "res50", "mobilenet", "shufflenet"),
        "language": ("gnmt", "transformer", "lstm"),
        "speech": ("m5", "deepspeech"),
    }
    assert "MIT" in SYNERGY.description
    assert all(entry.provenance == "published" for entry in SYNERGY.entries)


@pytest.mark.parametrize("model", PUBLISHED)
def test_values_are_the_published_ones(model: str) -> None:
    kind, batch_size, iteration_s, over_cpus, over_memory = PUBLISHED[model]
    entry = of(model)
    assert (entry.kind, entry.batch_size, entry.iteration_s) == (kind, batch_size, iteration_s)
    assert (entry.reference_cpus, entry.reference_memory_bytes) == REFERENCE
    assert entry.cpus.tolist() == [1, 2, 3, 4, 5, 6, 9, 12, 24]
    assert (entry.memory_bytes / GB).tolist() == pytest.approx([20.83, 62.5, 125, 187.5, 250], 1e-3)
    assert tuple(entry.throughput[:, 1]) == over_cpus
    assert tuple(entry.throughput[-1, 1:]) == over_memory
    assert entry.at(*REFERENCE) == 1


@pytest.mark.parametrize("model", PUBLISHED)
def test_the_grid_is_exact(model: str) -> None:
    entry = of(model)
    everywhere = entry.at(entry.cpus[:, None], entry.memory_bytes)
    assert np.array_equal(everywhere, entry.throughput)


@pytest.mark.parametrize("model", COARSE)
def test_the_coarse_model_is_the_published_one(model: str) -> None:
    iterations_s, speedups, cpus, memory_gb = COARSE[model]
    points = tuple(of(model).two_point_at(ratio) for ratio in (3, 4, 5, 6))
    assert points == of(model).two_point
    assert tuple(point.iteration_s for point in points) == iterations_s
    assert tuple(point.speedup for point in points) == speedups
    assert tuple(point.cpus for point in points) == cpus
    assert {point.memory_bytes for point in points} == {memory_gb * GB}


@pytest.mark.parametrize("model", PUBLISHED)
def test_at_ratio_3_the_coarse_model_is_two_points_of_the_table(model: str) -> None:
    entry = of(model)
    point = entry.two_point_at(3)
    assert point.iteration_s == entry.iteration_s
    assert point.speedup == entry.at(point.cpus, point.memory_bytes)


def test_published_facts() -> None:
    alexnet = of("alexnet")
    assert alexnet.at(12, 125 * GB) == 2.94
    assert alexnet.two_point_at(4).iteration_s == 0.48
    assert alexnet.iteration_s / alexnet.at(4, 62.5 * GB) == pytest.approx(0.48)


def test_three_shares_of_the_first_memory_point_fit_into_the_reference() -> None:
    assert all(3 * entry.memory_bytes[0] <= 62.5 * GB for entry in SYNERGY.entries)


def test_only_models_that_need_data_in_memory_have_a_placeholder() -> None:
    for entry in SYNERGY.entries:
        flat = entry.kind == "language"
        assert list(entry.placeholder_memory_bytes) == ([] if flat else [entry.memory_bytes[0]])
        assert set(entry.throughput[:, 0]) == ({1} if flat else {0.1})


@pytest.mark.parametrize(
    ("cpus", "memory_gb", "expected"),
    [
        (3, 40, 1.5),
        (2, 60, 1.25),
        (3, 60, 2.125),  # the mean of the four corners
        (2.5, 70, 1.90625),  # 3/4 of (1, 1.5) and 1/4 of (2, 4), then 1/4 and 3/4 of these
        (9, 40, 2),
        (2, 1000, 1.5),
        (float("inf"), float("inf"), 4),
        (4, 0, 2),
        (1, 60, 0.625),
        (1, 0, 0.5),
        (0, 80, 0),
    ],
)
def test_between_and_beyond_the_points(cpus: float, memory_gb: float, expected: float) -> None:
    assert SMALL.at(cpus, memory_gb * GB) == pytest.approx(expected, abs=1e-12)


def test_shares_are_broadcast() -> None:
    assert isinstance(SMALL.at(2, 40 * GB), float)
    both = SMALL.at(np.array([[1], [2], [4]]), np.array([40, 80]) * GB)
    assert both.tolist() == [[0.5, 0.75], [1, 1.5], [2, 4]]
    assert SMALL.at(4, np.array([40, 80]) * GB).tolist() == [2, 4]


def test_one_point_is_enough() -> None:
    point = {"cpus": np.array([2]), "memory_bytes": np.array([1]), "throughput": np.array([[1]])}
    single = replace(SMALL, **point)  # type: ignore[arg-type]
    assert (single.at(1, GB), single.at(5, 90 * GB)) == (0.5, 1)


def test_a_table_cannot_be_changed() -> None:
    given = np.array([[1, 1.5], [2, 4]])
    entry = replace(SMALL, throughput=given)
    given[0, 0] = 7
    assert entry.throughput[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        entry.throughput[0, 0] = 7


@pytest.mark.parametrize("share", [(-1, 1), (1, -1), (float("nan"), 1), (1, float("nan"))])
def test_a_share_below_zero_is_refused(share: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="not zero or more"):
        SMALL.at(*share)


@given(
    st.sampled_from(SYNERGY.entries),
    st.floats(0, 30),
    st.floats(0, 30),
    st.floats(0, 300 * GB),
    st.floats(0, 300 * GB),
)
def test_more_never_lowers_throughput(
    entry: Sensitivity, cpus: float, more_cpus: float, memory: float, more_memory: float
) -> None:
    here = entry.at(cpus, memory)
    rounding = 1e-12
    assert entry.at(cpus + more_cpus, memory) >= here - rounding
    assert entry.at(cpus, memory + more_memory) >= here - rounding


@pytest.mark.parametrize(
    ("memory_gb", "num_gpus", "expected"),
    [(0, 1, 10_000), (25, 1, 7_500), (25, 2, 5_000), (25, 4, 0), (400, 1, 0)],
)
def test_what_the_cache_does_not_hold_is_read(
    memory_gb: float, num_gpus: int, expected: float
) -> None:
    missed = SMALL.missed_bytes_per_iteration(memory_gb * GB, num_gpus)
    assert missed == pytest.approx(expected)


def test_caches_of_several_sizes_at_once() -> None:
    missed = SMALL.missed_bytes_per_iteration(np.array([[0, 25], [50, 200]]) * GB, 1)
    assert missed == pytest.approx(np.array([[10_000, 7_500], [5_000, 0]]))
    assert isinstance(SMALL.missed_bytes_per_iteration(25 * GB, 1), float)


def test_an_alexnet_iteration_reads_from_storage_what_62_gb_do_not_hold() -> None:
    # 512 images of 114,062.5 bytes, of which 62.5 in 146 are cached
    missed = of("alexnet").missed_bytes_per_iteration(62.5 * GB, 1)
    assert missed == pytest.approx(512 * 114_062.5 * 83.5 / 146)


@pytest.mark.parametrize("entry", [of("deepspeech"), of("m5")])
def test_an_unknown_dataset_has_no_misses(entry: Sensitivity) -> None:
    with pytest.raises(ValueError, match=f"dataset of {entry.model} is unknown"):
        entry.missed_bytes_per_iteration(GB, 1)


@pytest.mark.parametrize(("memory", "num_gpus"), [(-1, 1), (float("nan"), 1), (GB, 0)])
def test_a_cache_below_zero_is_refused(memory: float, num_gpus: int) -> None:
    with pytest.raises(ValueError, match="a cache is not"):
        SMALL.missed_bytes_per_iteration(memory, num_gpus)


def test_where_sizes_are_known_they_are_marked_as_reconstructed() -> None:
    for entry in SYNERGY.entries:
        known = entry.dataset_bytes is not None
        assert entry.dataset_provenance == ("reconstructed" if known else None)
        assert entry.dataset_source.startswith("unknown: ") != known


def test_an_unknown_model_is_a_key_error_that_says_what_is_known() -> None:
    with pytest.raises(KeyError, match="no sensitivity of vgg19 on v100; known: alexnet on v100"):
        SYNERGY.of("vgg19", "v100")
    with pytest.raises(KeyError, match="alexnet on a100"):
        SYNERGY.of("alexnet", "a100")
    assert SYNERGY.find("alexnet", "a100") is None
    assert SYNERGY.find("alexnet", "v100") is of("alexnet")


def test_an_unknown_ratio_is_a_key_error_that_says_what_is_known() -> None:
    with pytest.raises(KeyError, match="gnmt at 2 CPUs per GPU; known: 3, 4, 5, 6"):
        of("gnmt").two_point_at(2)
    with pytest.raises(KeyError, match="known: none"):
        SMALL.two_point_at(3)


def test_an_unknown_built_in_set_is_refused() -> None:
    with pytest.raises(BadInputError) as caught:
        builtin_sensitivities("pollux")
    assert caught.value.allowed == "synergy"


@pytest.mark.parametrize("whole", [SYNERGY, Sensitivities((SMALL,))])
def test_a_set_survives_its_file(tmp_path: Path, whole: Sensitivities) -> None:
    write_sensitivities(whole, tmp_path / "s.json")
    again = read_sensitivities(tmp_path / "s.json")
    assert again.description == whole.description
    assert [plain(entry) for entry in again.entries] == [plain(entry) for entry in whole.entries]


def test_the_document_without_changes_is_sound(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(json.dumps(document()))
    assert read_sensitivities(tmp_path / "s.json").models == ("small",)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"model": ...}, "model"),
        ({"colour": "red"}, "colour"),
        ({"provenance": "guessed"}, "provenance"),
        ({"dataset_provenance": "guessed"}, "dataset_provenance"),
        ({"batch_size": 0}, "batch_size"),
        ({"batch_size": 1.5}, "batch_size"),
        ({"iteration_s": 0}, "iteration_s"),
        ({"iteration_s": -0.1}, "iteration_s"),
        ({"iteration_s": float("nan")}, "iteration_s"),
        ({"iteration_s": 10**400}, "iteration_s"),
        ({"reference_cpus": 0}, "reference_cpus"),
        ({"reference_memory_bytes": float("inf")}, "reference_memory_bytes"),
        ({"dataset_bytes": 0}, "dataset_bytes"),
        ({"sample_bytes": -1}, "sample_bytes"),
        ({"sample_bytes": None}, "sample_bytes"),
        ({"cpus": []}, "cpus"),
        ({"cpus": [0, 4]}, "cpus"),
        ({"cpus": [4, 2]}, "cpus"),
        ({"cpus": [2, 2]}, "cpus"),
        ({"cpus": "many"}, "cpus"),
        ({"memory_bytes": [-1, 80e9]}, "memory_bytes"),
        ({"memory_bytes": [80e9, 40e9]}, "memory_bytes"),
        ({"memory_bytes": [40e9, float("inf")]}, "memory_bytes"),
        ({"placeholder_memory_bytes": [41e9]}, "placeholder_memory_bytes"),
        ({"throughput": [[1, 1.5]]}, "throughput"),
        ({"throughput": [[1, 1.5], [2]]}, "throughput"),
        ({"throughput": [[1, 1.5], [2, float("nan")]]}, "throughput"),
        ({"throughput": [[1, 1.5], [2, float("inf")]]}, "throughput"),
        ({"throughput": [[-1, 1.5], [2, 4]]}, "throughput"),
        ({"throughput": [[1, "fast"], [2, 4]]}, "throughput.0.1"),
        ({"throughput": [[1.1, 1.5], [2, 4]]}, "throughput"),
        ({"two_point": [{"ratio": 3}]}, "two_point.0.iteration_s"),
        ({"two_point": [coarse(speedup=0)]}, "two_point.0.speedup"),
        ({"two_point": [coarse(gpus=1)]}, "two_point.0.gpus"),
        ({"two_point": [coarse(ratio=4), coarse(ratio=3)]}, "two_point"),
    ],
)
def test_a_bad_model_is_refused_by_key(tmp_path: Path, changes: dict[str, Any], key: str) -> None:
    error = refusal(tmp_path / "s.json", json.dumps(document(**changes)))
    assert error.key == f"models.0.{key}"


@pytest.mark.parametrize(
    ("throughput", "problem"),
    [
        ([[1, 1.5], [0.9, 4]], "of small at 4 CPUs and 40 GB is 0.9, lower than with fewer CPUs"),
        ([[1, 0.5], [2, 4]], "of small at 2 CPUs and 80 GB is 0.5, lower than with less memory"),
        ([[2, 3], [4, 5]], "of small at its reference share, 2 CPUs and 40 GB, is 2, not 1"),
    ],
)
def test_a_table_that_falls_is_refused_with_the_place(
    throughput: list[list[float]], problem: str
) -> None:
    with pytest.raises(SensitivityError) as caught:
        replace(SMALL, throughput=np.array(throughput))
    assert str(caught.value) == f"throughput {problem}"
    assert caught.value.field == "throughput"


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"schema_version": 2}, "schema_version"),
        ({"models": []}, "models"),
        ({"models": 3}, "models"),
        ({"models": [plain(SMALL), plain(SMALL)]}, "models"),
        ({"models": [plain(SMALL), plain(replace(SMALL, gpu_type="a", kind="b"))]}, "models"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_bad_document_is_refused_by_key(
    tmp_path: Path, changes: dict[str, Any], key: str
) -> None:
    assert refusal(tmp_path / "s.json", json.dumps(document() | changes)).key == key


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", b"\xff\xfe{}"])
def test_what_is_no_json_object_is_refused(tmp_path: Path, text: str | bytes) -> None:
    refusal(tmp_path / "s.json", text)


def test_a_file_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sensitivity, "MAX_FILE_BYTES", 5)
    assert "too large" in refusal(tmp_path / "s.json", json.dumps(document())).problem
