"""A cluster of rounds is made small enough for a box, or refused with the numbers."""

from __future__ import annotations

import json
import math

import pytest

from emulator.rounds.scale import ClusterNeeds, RoundsScale, plan_rounds_scale
from emulator.scale import Budget
from traces.emulation_spec import EmulationSpec
from traces.errors import BadInputError
from traces.sensitivity import builtin_sensitivities
from traces.server_pool import ServerGroup, ServerPool

MODELS = builtin_sensitivities("synergy").entries
FOUR_SERVERS = ServerPool((ServerGroup(4, 8, 24, 500e9),))
BUDGET = Budget(1.6e9, "measured on a day", is_measured=True)
HOURS = 3600.0


def plan(
    pool: ServerPool = FOUR_SERVERS,
    busy_s: float = 20 * HOURS,
    round_s: float = 300.0,
    settings: EmulationSpec | None = None,
    memory_available_bytes: float = 16e9,
    budget: Budget = BUDGET,
) -> RoundsScale:
    needs = ClusterNeeds([pool], MODELS, round_s, busy_s)
    return plan_rounds_scale(needs, settings or EmulationSpec(), 2, memory_available_bytes, budget)


def refusal(**changes: object) -> BadInputError:
    with pytest.raises(BadInputError) as caught:
        plan(**changes)  # type: ignore[arg-type]
    return caught.value


def test_all_fits_in_its_part_of_the_box() -> None:
    scale = plan()
    assert scale.wall_s <= 0.9 * 720
    assert scale.round_wall_s == pytest.approx(300 / scale.divisors.stride)
    assert 96 / scale.divisors.cpu <= 0.55 * 2
    # Eight GPUs a server, each with what ResNet-18 was measured with, over two hops.
    rate = 8 * 512 * 114062.5 * (1 - 62.5 / 146) / (0.64 / 2.4)
    assert scale.storage_bytes_per_s == pytest.approx(rate)
    assert 4 * rate * 8 * 2 / scale.divisors.bytes <= 0.1 * 1.6e9
    assert scale.cache_bytes <= 0.25 * 16e9


def test_divisors_are_whole_numbers_and_not_larger_than_needed() -> None:
    divisors = plan().divisors
    assert divisors.stride == math.ceil(20 * HOURS / (0.9 * 720))
    assert divisors.cpu == math.ceil(96 / 1.1)
    assert divisors.memory == divisors.bytes * divisors.stride


def test_a_trace_that_is_short_enough_is_not_made_faster() -> None:
    assert plan(busy_s=500).divisors.stride == 1


def test_what_the_scenario_gives_is_kept() -> None:
    settings = EmulationSpec(stride=50, cpu_divisor=90.5, byte_divisor=1000)
    divisors = plan(settings=settings).divisors
    assert (divisors.stride, divisors.cpu, divisors.bytes) == (50, 90.5, 1000)


def test_storage_that_is_given_out_decides_about_the_links() -> None:
    pool = ServerPool((ServerGroup(4, 8, 24, 500e9, storage_bytes_per_s=5e8),))
    scale = plan(pool=pool)
    assert scale.storage_bytes_per_s == 5e8
    assert scale.divisors.bytes == math.ceil(4 * 5e8 * 8 * 2 / (0.1 * 1.6e9))


def test_little_memory_makes_bytes_smaller() -> None:
    scale = plan(memory_available_bytes=1e8)
    assert scale.cache_bytes <= 0.25 * 1e8
    assert "caches" in scale.reason


def test_the_largest_of_all_arms_pools_counts() -> None:
    small = ServerPool((ServerGroup(1, 8, 24, 500e9),))
    needs = ClusterNeeds([small, FOUR_SERVERS], MODELS, 300, 20 * HOURS)
    assert plan_rounds_scale(needs, EmulationSpec(), 2, 16e9, BUDGET).divisors == plan().divisors


def test_short_iterations_come_in_bundles() -> None:
    steps = {step.model: step for step in plan().models}
    assert (steps["lstm"].bundle, steps["gnmt"].bundle, steps["transformer"].bundle) == (23, 3, 1)
    assert all(step.step_s >= 0.25 for step in steps.values())
    assert steps["alexnet"].step_s == pytest.approx(2 * 0.6 / 2.94)


def test_too_short_a_round_is_refused() -> None:
    error = refusal(busy_s=100 * HOURS)
    assert error.key == "emulation.duration"
    assert "a round of 300 s would take 539.6 ms" in str(error)
    # 100 h at 300 times the speed, and a tenth for the boundaries.
    assert "a stride of at most 300, which needs a duration of 22.3 min" in str(error)
    given = EmulationSpec(stride=301)
    assert refusal(settings=given).key == "emulation.stride"


def test_a_cpu_that_the_kernel_cannot_enforce_is_refused() -> None:
    error = refusal(pool=ServerPool((ServerGroup(16, 8, 24, 500e9),)))
    assert error.key == "cluster.cpus"
    assert "one of 384 CPUs" in str(error)
    assert "at most 110 CPUs" in str(error)
    assert refusal(settings=EmulationSpec(cpu_divisor=101)).key == "emulation.cpu_divisor"


def test_a_link_that_would_be_too_slow_is_refused() -> None:
    error = refusal(settings=EmulationSpec(byte_divisor=1e5))
    assert error.key == "emulation.byte_divisor"
    assert "storage link" in str(error)
    assert refusal(budget=Budget(1e6, "measured", is_measured=True)).key == "cluster"


def test_caches_that_do_not_fit_are_refused() -> None:
    error = refusal(settings=EmulationSpec(byte_divisor=1), memory_available_bytes=1e9)
    assert error.key == "emulation.byte_divisor"
    assert "caches" in str(error)


def test_a_dataset_of_few_items_is_refused() -> None:
    error = refusal(settings=EmulationSpec(stride=220))
    assert "a dataset of alexnet would have 45 items" in str(error)
    # A dataset that memory holds whole may have fewer.
    assert next(s for s in plan().models if s.model == "lstm").splits is False


def test_what_is_marginal_is_said() -> None:
    words = " ".join(plan(busy_s=30 * HOURS).warnings)
    assert "a round takes 1.796 s on the wall" in words
    assert "one CPU is 1.1% of a core" in words
    assert "a dataset of alexnet has 60 items" in words
    settings = EmulationSpec(cpu_divisor=10, byte_divisor=100)
    words = " ".join(plan(settings=settings).warnings)
    assert "9.60 of 2 cores" in words
    assert "storage links ask for" in words


def test_the_document_is_plain_data() -> None:
    scale = plan()
    document = json.loads(json.dumps(scale.document, allow_nan=False))
    assert document["round_wall_s"] == scale.round_wall_s
    assert document["warnings"] == list(scale.warnings)
