"""rho and the contention in it, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.scheduling.placed.finish_time import Contention, finish_time_ratio
from tests.unit.harness.scheduling.placed.builders import job


def test_a_job_alone_that_never_waited_gets_its_due() -> None:
    fresh = job("a", workers=4, submit_s=10, left=100)
    assert finish_time_ratio(fresh, now_s=10, contention=1, num_gpus=4) == 1
    halfway = job("a", workers=4, submit_s=10, left=50, done=50)
    assert finish_time_ratio(halfway, now_s=60, contention=1, num_gpus=4) == 1


def test_waiting_and_slow_links_make_it_worse() -> None:
    """40 s in which half of the work of 20 s was done, and 10 s to go: 50 s for 20 s."""
    late = job("a", workers=4, submit_s=0, left=10, done=10)
    assert finish_time_ratio(late, now_s=40, contention=1, num_gpus=4) == 2.5


@pytest.mark.parametrize(("workers", "slower"), [(1, 1.0), (2, 1.5), (4, 3.0)])
def test_a_third_of_the_cluster_slows_those_down_that_need_more(
    workers: int, slower: float
) -> None:
    """Of three jobs on 4 GPUs, each is due 4 / 3 of them."""
    waited = job("a", workers, submit_s=0, left=60)
    assert finish_time_ratio(waited, now_s=30, contention=3, num_gpus=4) == 1.5 / slower


def test_an_iteration_takes_its_dedicated_time() -> None:
    fast = replace(job("a", left=100), dedicated_iteration_s=0.5)
    assert finish_time_ratio(fast, now_s=50, contention=1, num_gpus=1) == 2


def test_contention_is_the_mean_over_the_life_of_a_job() -> None:
    contention = Contention()
    a, b = job("a", submit_s=0), job("b", submit_s=20)
    assert contention.means([a], now_s=0) == {"a": 1}
    assert contention.means([a], now_s=10) == {"a": 1}
    both = contention.means([a, b], now_s=30)
    assert both == pytest.approx({"a": (10 * 1 + 20 * 2) / 30, "b": 2})
    assert contention.means([a], now_s=40) == pytest.approx({"a": (10 + 40 + 10) / 40})


def test_a_second_look_at_the_same_time_changes_nothing() -> None:
    contention = Contention()
    jobs = [job("a", submit_s=0), job("b", submit_s=5)]
    first = contention.means(jobs, now_s=10)
    assert contention.means(jobs, now_s=10) == first == {"a": 2, "b": 2}
