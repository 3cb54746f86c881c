"""Synergy-GREEDY's first fit, by hand and against plain Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scheduling.packing.first_fit import pack_greedily
from tests.unit.harness.scheduling.packing.packing_cases import (
    Job,
    Place,
    Servers,
    job,
    places_of,
)
from tests.unit.harness.scheduling.packing.plain_packings import plain_greedy
from tests.unit.harness.scheduling.packing.whole_numbers import random_jobs, random_servers


def greedy(servers: Servers, jobs: Sequence[Job]) -> list[Place | None]:
    run, offsets, on, gpus = pack_greedily(
        np.array([each.num_gpus for each in jobs], dtype=np.int64),
        np.array([each.wish for each in jobs], dtype=float),
        np.arange(len(jobs)),
        np.full(servers.count, servers.gpus, dtype=np.int64),
        np.tile(servers.size, (servers.count, 1)),
        servers.gpus,
        servers.size,
    )
    assert (np.diff(run) > 0).all()
    places: list[Place | None] = [None] * len(jobs)
    for row, place in zip(run, places_of(offsets, on, gpus), strict=True):
        places[row] = place
    return places


def test_what_does_not_fit_is_passed_over_although_there_are_gpus() -> None:
    jobs = [job(1, cpus=5), job(1, cpus=2), job(1, cpus=1)]
    assert greedy(Servers(1, 4, cpus=6, memory=0), jobs) == [{0: 1}, None, {0: 1}]


def test_the_first_server_is_taken_not_the_fullest() -> None:
    jobs = [job(2, cpus=1), job(4, cpus=1), job(1, cpus=1)]
    assert greedy(Servers(2, 5, cpus=9, memory=0), jobs) == [{0: 2}, {1: 4}, {0: 1}]


def test_a_job_that_would_fit_on_one_server_is_not_spread() -> None:
    jobs = [job(2, cpus=1), job(2, cpus=1), job(2, cpus=1)]
    assert greedy(Servers(2, 3, cpus=9, memory=0), jobs) == [{0: 2}, {1: 2}, None]


def test_a_job_larger_than_a_server_is_spread_over_the_first_ones() -> None:
    jobs = [job(1, cpus=4), job(5, cpus=2)]
    assert greedy(Servers(3, 4, cpus=8, memory=0), jobs) == [{0: 1}, {0: 2, 1: 3}]


@settings(max_examples=300)
@given(seed=st.integers(0, 2**32 - 1))
def test_as_plain_python_does_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    servers = random_servers(rng)
    jobs = random_jobs(rng, servers, oversubscribed=True)
    assert greedy(servers, jobs) == plain_greedy(servers, jobs)
