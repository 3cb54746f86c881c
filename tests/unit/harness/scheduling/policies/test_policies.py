"""The order of jobs under each policy but Tiresias', by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harness.scheduling.policies import POLICIES
from tests.unit.harness.scheduling.policies.orders import ONE_GPU, TWO_GPUS, jobs_of, order_of
from tests.unit.harness.scheduling_builders import FAIR_MEMORY, Kind

FAST = Kind(speedup=4)


def test_fifo_is_by_submission() -> None:
    """A job that was profiled longer does not lose its place."""
    active = jobs_of(ONE_GPU, ONE_GPU, TWO_GPUS, iterations=[9, 1, 5], submit_s=[0, 1, 1])
    active.table.ready_s[:] = [9, 1, 1]
    assert order_of("fifo", active) == [0, 1, 2]


def test_srtf_is_by_the_time_that_is_left() -> None:
    active = jobs_of(ONE_GPU, ONE_GPU, TWO_GPUS, iterations=[100, 80, 60], done=[50, 10, 0])
    assert order_of("srtf", active) == [0, 2, 1]


def test_srtf_reckons_with_the_wish() -> None:
    active = jobs_of(ONE_GPU, FAST, iterations=[100, 300])
    assert order_of("srtf", active) == [1, 0]


def test_srsf_counts_every_gpu() -> None:
    active = jobs_of(TWO_GPUS, ONE_GPU, ONE_GPU, iterations=[60, 100, 130], done=[0, 0, 20])
    assert order_of("srsf", active) == [1, 2, 0]


def test_las_is_by_attained_gpu_time() -> None:
    active = jobs_of(
        *(TWO_GPUS, ONE_GPU, ONE_GPU, ONE_GPU), iterations=[9] * 4, attained_s=[60, 110, 120, 0]
    )
    assert order_of("las", active) == [3, 1, 0, 2]


def test_ftf_puts_whoever_suffers_most_first() -> None:
    """At 100 s, with 50 s of work each: 150 of 50, (60 + 50) of 50, and 150 of 100."""
    active = jobs_of(
        *(ONE_GPU, ONE_GPU, ONE_GPU),
        iterations=[50, 50, 100],
        done=[0, 0, 50],
        submit_s=[0, 40, 0],
        now_s=100,
    )
    assert order_of("ftf", active) == [0, 1, 2]
    assert order_of("ftf-published", active) == [2, 1, 0]


def test_ftf_compares_with_the_fair_share_alone() -> None:
    """With its wish, the fast job may finish in a quarter of what it is due."""
    active = jobs_of(FAST, ONE_GPU, iterations=[100, 100], submit_s=[0, 0], now_s=10)
    assert order_of("ftf", active) == [1, 0]
    np.testing.assert_allclose(POLICIES["ftf"]().key(active), [-(10 + 25) / 100, -110 / 100])


def test_drf_is_by_the_largest_share_of_any_resource() -> None:
    """Of 16 GPUs, 48 CPUs and 16 x 60 GB: 2 GPUs are 1/8, 9 CPUs 3/16, and 1/4 of the memory."""
    active = jobs_of(
        Kind(memory_bytes=4 * FAIR_MEMORY),
        Kind(cpus=9),
        TWO_GPUS,
        Kind(cpus=9, iteration_s=7),
        iterations=[1] * 4,
    )
    assert order_of("drf", active) == [2, 1, 3, 0]


def test_tetris_is_by_the_work_that_is_left_over_all_resources() -> None:
    """Sums of shares: 3/16 with the fair share; 1/16 + 9/48 + 1/16 = 5/16 with 9 CPUs."""
    active = jobs_of(Kind(cpus=9), ONE_GPU, ONE_GPU, iterations=[100, 160, 170])
    assert order_of("tetris", active) == [1, 0, 2]
    np.testing.assert_allclose(
        POLICIES["tetris"]().key(active), [100 * 5 / 16, 160 * 3 / 16, 170 * 3 / 16]
    )


def test_the_published_orders_reckon_with_the_speed_of_the_round_before() -> None:
    """The fast job was held to its fair share, and looks four times as long."""
    active = jobs_of(FAST, ONE_GPU, iterations=[100, 50], submit_s=[0, 0])
    assert order_of("srtf", active) == order_of("srtf-published", active) == [0, 1]
    held = replace(active, last_iteration_s=np.array([1.0, 1.0]))
    assert order_of("srtf", held) == [0, 1]
    assert order_of("srtf-published", held) == [1, 0]
    np.testing.assert_allclose(POLICIES["ftf-published"]().key(active), [0.25, 1])
    np.testing.assert_allclose(POLICIES["ftf-published"]().key(held), [1, 1])


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_equal_jobs_are_in_order_of_submission(name: str) -> None:
    active = jobs_of(*[ONE_GPU] * 5, iterations=[10] * 5, attained_s=[3] * 5)
    assert order_of(name, active) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("name", ["fifo", "srtf", "srsf", "drf", "tetris"])
def test_orders_that_keep_who_runs_before_who_waits_are_steady(name: str) -> None:
    assert POLICIES[name]().steady


@pytest.mark.parametrize("name", ["las", "ftf", "tiresias", "srtf-published", "ftf-published"])
def test_orders_in_which_a_waiting_job_may_overtake_are_not_steady(name: str) -> None:
    assert not POLICIES[name]().steady
