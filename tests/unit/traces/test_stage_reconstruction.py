"""The stages behind a matrix give that matrix again, at every point that was measured."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from traces.sensitivity import Sensitivity, builtin_sensitivities
from traces.stage_reconstruction import (
    ASSUMED_STORAGE_BYTES_PER_S,
    least_storage_rate_of,
    stage_costs_of,
    storage_rate_of,
)

PUBLISHED = builtin_sensitivities("synergy")
GB = 1e9


def model(name: str) -> Sensitivity:
    return PUBLISHED.of(name, "v100")


def measured_memory(sensitivity: Sensitivity) -> list[float]:
    return [
        float(memory)
        for memory in sensitivity.memory_bytes
        if memory not in sensitivity.placeholder_memory_bytes
    ]


@pytest.mark.parametrize("rate_of", [storage_rate_of, least_storage_rate_of])
@pytest.mark.parametrize("name", PUBLISHED.models)
def test_every_measured_point_comes_out_again(
    name: str, rate_of: Callable[[Sensitivity], float]
) -> None:
    sensitivity = model(name)
    for cpus in map(float, sensitivity.cpus):
        costs = stage_costs_of(sensitivity, cpus)
        for memory in measured_memory(sensitivity):
            expected = sensitivity.iteration_s / sensitivity.at(cpus, memory)
            found = costs.iteration_s(cpus, memory, rate_of(sensitivity))
            assert found == pytest.approx(expected, rel=1e-6), (cpus, memory)


@pytest.mark.parametrize("name", PUBLISHED.models)
@pytest.mark.parametrize("cpus", [0.4, 2.5, 3.7, 7.9, 10.6, 17.0])
def test_between_points_of_cpus_the_matrix_is_followed(name: str, cpus: float) -> None:
    sensitivity = model(name)
    most = float(sensitivity.memory_bytes[-1])
    expected = sensitivity.iteration_s / sensitivity.at(cpus, most)
    costs = stage_costs_of(sensitivity, cpus)
    assert costs.iteration_s(cpus, most, math.inf) == pytest.approx(expected, rel=1e-9)


def test_storage_shows_in_three_models_only() -> None:
    rates = {name: storage_rate_of(model(name)) for name in PUBLISHED.models}
    finite = {name: rate for name, rate in rates.items() if math.isfinite(rate)}
    # 512 samples of 114,062.5 bytes, 62.5 of 146 GB cached, an iteration of 0.6 / 2 s.
    assert finite["alexnet"] == pytest.approx(512 * 114062.5 * (1 - 62.5 / 146) / 0.3)
    assert set(finite) == {"alexnet", "shufflenet", "m5"}


def test_a_model_on_which_memory_has_no_effect_still_reads_what_it_misses() -> None:
    missed = 512 * 114062.5 * (1 - 62.5 / 146)
    assert least_storage_rate_of(model("res18")) == pytest.approx(missed / (0.64 / 2.4))
    assert least_storage_rate_of(model("gnmt")) == 0  # 8 GB are cached at every point


def test_an_unknown_dataset_follows_from_two_points() -> None:
    costs = stage_costs_of(model("m5"), 6)
    assert costs.dataset_bytes == pytest.approx(312.5 * GB)
    # 0.4 s for what 62.5 of 312.5 GB do not hold.
    assert costs.read_bytes == pytest.approx(0.4 * ASSUMED_STORAGE_BYTES_PER_S / 0.8)


def test_with_one_point_an_unknown_dataset_fits_into_the_next() -> None:
    m5 = model("m5")
    table = m5.throughput.copy()
    table[:, 2] = table[:, 3]
    one_point = replace(m5, throughput=table)
    costs = stage_costs_of(one_point, 24)
    assert costs.dataset_bytes == 125 * GB
    for memory in measured_memory(one_point):
        expected = one_point.iteration_s / one_point.at(24, memory)
        found = costs.iteration_s(24, memory, storage_rate_of(one_point))
        assert found == pytest.approx(expected)


def test_where_neither_dataset_nor_effect_is_known_nothing_is_read() -> None:
    costs = stage_costs_of(model("deepspeech"), 3)
    assert (costs.read_bytes, costs.dataset_bytes) == (0, 0)
    assert math.isinf(storage_rate_of(model("deepspeech")))


def test_on_the_plateau_the_knee_is_in_the_middle() -> None:
    assert stage_costs_of(model("alexnet"), 24).cpu_s == pytest.approx(10.5 * 0.6 / 2.94)
    assert stage_costs_of(model("lstm"), 3).cpu_s == pytest.approx(0.5 * 0.011)


def test_gpus_on_one_server_hold_the_dataset_together() -> None:
    costs = stage_costs_of(model("res50"), 3, cache_shared_by=4)
    assert costs.dataset_bytes == 36.5 * GB
    assert costs.read_bytes == 512 * 114062.5


@pytest.mark.parametrize("cpus", [0.0, -1.0, np.nan])
def test_no_cpus_are_refused(cpus: float) -> None:
    with pytest.raises(ValueError, match="without CPUs"):
        stage_costs_of(model("res50"), cpus)
