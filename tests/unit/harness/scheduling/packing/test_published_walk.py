"""The published simulator's TUNE, by hand and against plain Python from its description."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scheduling.packing.published_walk import walk
from tests.unit.harness.scheduling.packing.packing_cases import (
    Job,
    Place,
    Servers,
    job,
    places_of,
)
from tests.unit.harness.scheduling.packing.plain_packings import PublishedWalk
from tests.unit.harness.scheduling.packing.whole_numbers import random_jobs, random_servers


def walked(servers: Servers, jobs: Sequence[Job]) -> tuple[list[Place | None], list[bool]]:
    placed, offsets, on, gpus, to_fair = walk(
        np.array([each.num_gpus for each in jobs], dtype=np.int64),
        np.array([each.wish for each in jobs], dtype=float),
        np.array([each.is_above(servers.fair) for each in jobs]),
        servers.fair,
        np.full(servers.count, servers.gpus, dtype=np.int64),
        np.tile(servers.size, (servers.count, 1)),
        servers.size,
    )
    places = [place if place else None for place in places_of(offsets, on, gpus)]
    assert [place is not None for place in places] == placed.tolist()
    return places, to_fair.tolist()


def test_gpus_are_taken_by_index_although_a_job_would_fit_on_one_server() -> None:
    jobs = [job(3, cpus=1), job(2, cpus=1)]
    places, _ = walked(Servers(2, 4, cpus=12, memory=0), jobs)
    assert places == [{0: 3}, {0: 1, 1: 1}]


def test_jobs_are_placed_in_the_order_given_the_largest_not_first() -> None:
    jobs = [job(1, cpus=6), job(2, cpus=4)]
    _, to_fair = walked(Servers(1, 4, cpus=12, memory=0), jobs)
    assert to_fair == [False, True]


def test_a_peer_gives_back_for_a_modest_job() -> None:
    jobs = [job(1, cpus=4), job(1, cpus=3)]
    assert walked(Servers(1, 2, cpus=6, memory=0), jobs) == ([{0: 1}, {0: 1}], [True, False])


def test_peers_of_which_one_is_enough_give_back_in_the_order_of_their_cpus() -> None:
    jobs = [job(1, cpus=4), job(1, cpus=5), job(1, cpus=3), job(1, cpus=2)]
    _, to_fair = walked(Servers(1, 4, cpus=12, memory=0), jobs)
    assert to_fair == [False, True, False, False]


def test_among_peers_with_as_many_cpus_the_one_with_most_memory_comes_first() -> None:
    jobs = [job(1, 3, memory=60), job(1, 3, memory=80), job(1, 3, memory=50), job(1, 3, memory=20)]
    _, to_fair = walked(Servers(1, 4, cpus=12, memory=200), jobs)
    assert to_fair == [False, True, False, False]


def test_a_peer_with_nothing_to_give_is_set_back_if_its_turn_comes_before_the_need_is_met() -> None:
    """Memory is short; the first peer, with the most CPUs, holds none above its share."""
    jobs = [
        job(1, cpus=6, memory=50),
        job(1, cpus=2, memory=100),
        job(1, cpus=2, memory=50),
        job(1, cpus=2, memory=50),
    ]
    _, to_fair = walked(Servers(1, 4, cpus=12, memory=200), jobs)
    assert to_fair == [True, True, False, False]


def test_a_peer_on_fewer_servers_comes_first() -> None:
    """The job on two servers holds more CPUs, and keeps them."""
    servers = Servers(2, 2, cpus=6, memory=0)
    jobs = [job(1, cpus=1), job(2, cpus=5), job(1, cpus=3)]
    places, to_fair = walked(servers, jobs)
    assert places[1] == {0: 1, 1: 1}
    assert to_fair == [False, True, False]


@settings(max_examples=600)
@given(seed=st.integers(0, 2**32 - 1))
def test_as_plain_python_walks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    servers = random_servers(rng)
    jobs = random_jobs(rng, servers)
    plain = PublishedWalk(servers, jobs)
    assert walked(servers, jobs) == (plain.places, plain.to_fair)


def test_the_random_walks_set_peers_back() -> None:
    set_back = waiting = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        servers = random_servers(rng)
        jobs = random_jobs(rng, servers)
        places, to_fair = walked(servers, jobs)
        set_back += any(to_fair)
        waiting += None in places
    assert set_back > 20
    assert waiting < set_back
