"""Steps of a worker: scaled amounts keep every ratio that an iteration's time rests on."""

from __future__ import annotations

import pytest

from emulator.rounds.steps import (
    ITEMS_PER_STEP,
    LEAST_STEP_S,
    Divisors,
    bundle_of,
    dataset_items_of,
    worker_work,
)
from traces.sensitivity import builtin_sensitivities
from traces.stage_costs import StageCosts
from traces.stage_reconstruction import stage_costs_of, storage_rate_of

PUBLISHED = builtin_sensitivities("synergy")
DIVISORS = Divisors(stride=100, cpu=88, bytes=400)
COSTS = StageCosts(gpu_s=0.3, cpu_s=1.8, read_bytes=58.4e6, dataset_bytes=146e9)


@pytest.mark.parametrize(
    ("gpu_s", "bundle"), [(0.3, 1), (0.25, 1), (0.2499, 2), (0.125, 2), (0.011, 23)]
)
def test_a_bundle_is_as_small_as_its_step_may_be(gpu_s: float, bundle: int) -> None:
    assert bundle_of(gpu_s) == bundle
    assert bundle * gpu_s >= LEAST_STEP_S


@pytest.mark.parametrize("gpus", [1, 4])
@pytest.mark.parametrize("name", PUBLISHED.models)
def test_a_step_takes_as_long_as_its_iterations(name: str, gpus: int) -> None:
    """Each stage by itself, from the scaled amounts and the scaled share."""
    sensitivity = PUBLISHED.of(name, "v100")
    cpus, memory = 3.0, 62.5e9
    costs = stage_costs_of(sensitivity, cpus)
    work = worker_work(costs, gpus, gpus * cpus, gpus * memory, DIVISORS)
    bundle = bundle_of(costs.gpu_s)
    pipeline = work.pipeline
    prepare_s = pipeline.items * pipeline.cpu_s_per_item / (gpus * cpus / DIVISORS.cpu)
    assert prepare_s == pytest.approx(bundle * costs.cpu_s / cpus)
    rate = min(storage_rate_of(sensitivity), 1e12) * gpus / DIVISORS.bytes
    fetch_s = pipeline.items * pipeline.item_bytes / rate
    # Whole bytes: the smallest item has a hundred.
    assert fetch_s == pytest.approx(
        bundle * costs.read_bytes * gpus / (rate * DIVISORS.bytes), rel=0.01
    )
    assert work.step_s == bundle * costs.gpu_s
    assert work.iterations_per_step == bundle * DIVISORS.stride


def test_an_epoch_takes_as_many_iterations_of_the_trace() -> None:
    work = worker_work(COSTS, 1, 3, 62.5e9, DIVISORS)
    steps = work.pipeline.dataset_items / work.pipeline.items
    assert steps * work.iterations_per_step == pytest.approx(146e9 / 58.4e6)


@pytest.mark.parametrize("gpus", [1, 8])
def test_the_share_that_is_cached_stays(gpus: int) -> None:
    work = worker_work(COSTS, gpus, 3, gpus * 62.5e9, DIVISORS)
    cached = work.share.cache_bytes // work.pipeline.item_bytes
    grain = 1 / work.pipeline.dataset_items
    assert cached / work.pipeline.dataset_items == pytest.approx(62.5 / 146, abs=2 * grain)


def test_where_nothing_is_read_there_are_no_bytes() -> None:
    costs = StageCosts(gpu_s=0.757, cpu_s=2.0)
    pipeline = worker_work(costs, 1, 3, 62.5e9, DIVISORS).pipeline
    assert (pipeline.items, pipeline.item_bytes, pipeline.dataset_items) == (ITEMS_PER_STEP, 0, 0)


def test_a_tiny_dataset_keeps_an_item() -> None:
    costs = StageCosts(gpu_s=1.0, cpu_s=1.0, read_bytes=1e6, dataset_bytes=2e6)
    assert dataset_items_of(costs, DIVISORS) == 1


@pytest.mark.parametrize(("cpus", "threads"), [(0.5, 1), (3, 3), (3.2, 4), (24, 24)])
def test_there_is_a_thread_for_each_cpu(cpus: float, threads: int) -> None:
    work = worker_work(COSTS, 1, cpus, 62.5e9, DIVISORS)
    assert work.share.threads == threads
