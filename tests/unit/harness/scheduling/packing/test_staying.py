"""Jobs stay where they are if they can, and swap with their like if they cannot all stay."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.harness.scheduling.packing.packing_cases import (
    NOWHERE,
    Place,
    Servers,
    job,
    pack_jobs,
    random_kinds,
    random_mix,
    random_rounds,
    random_servers,
)

ONE = job(1, cpus=3)


def staying(held: list[Place], places: list[Place]) -> int:
    """How many jobs on one server are on it again."""
    return sum(len(was) == 1 and was == now for was, now in zip(held, places, strict=True))


@settings(max_examples=150)
@given(seed=st.integers(0, 2**32 - 1), balanced=st.booleans())
def test_nobody_moves_when_others_leave(seed: int, balanced: bool) -> None:
    """Those that had their wish have it still, where they are."""
    rng = np.random.default_rng(seed)
    servers = random_servers(rng)
    jobs = random_mix(rng, servers, random_kinds(rng, servers))
    before = pack_jobs(servers, jobs, balanced=balanced)
    stays = [row for row in range(len(jobs)) if not before.to_fair[row] and rng.random() < 0.8]
    held = [before.places[row] for row in stays]
    after = pack_jobs(servers, [jobs[row] for row in stays], held, balanced)
    assert after.places == held
    assert not any(after.to_fair)


def test_nobody_moves_for_a_job_that_fits_beside_them() -> None:
    """Packed anew, all three would stand on one server."""
    servers = Servers(3, 4, cpus=12, memory=0)
    held = [{2: 1}, {1: 1}, NOWHERE]
    assert pack_jobs(servers, [ONE, ONE, job(2, cpus=3)], held).places == [{2: 1}, {1: 1}, {1: 2}]


def test_all_are_packed_anew_when_somebody_finds_no_place() -> None:
    servers = Servers(2, 2, cpus=6, memory=0)
    packing = pack_jobs(servers, [ONE, ONE, job(2, cpus=3)], [{0: 1}, {1: 1}, NOWHERE])
    assert packing.places == [{1: 1}, {1: 1}, {0: 2}]


def test_like_jobs_swap_so_that_two_of_three_stay() -> None:
    """Packed anew, their places are the servers 1, 1 and 2, in this order."""
    servers = Servers(3, 2, cpus=6, memory=0)
    jobs = [ONE, ONE, ONE, job(2, cpus=3)]
    assert pack_jobs(servers, jobs).places == [{1: 1}, {1: 1}, {2: 1}, {0: 2}]
    held = [{2: 1}, {1: 1}, {0: 1}, NOWHERE]
    assert pack_jobs(servers, jobs, held).places == [{2: 1}, {1: 1}, {1: 1}, {0: 2}]


def test_jobs_that_wish_for_different_things_do_not_swap() -> None:
    servers = Servers(3, 2, cpus=6, memory=2)
    jobs = [job(1, 3, memory=0.3), job(1, 3, memory=0.2), job(1, 3, memory=0.1), job(2, cpus=3)]
    held = [{2: 1}, {1: 1}, {0: 1}, NOWHERE]
    assert pack_jobs(servers, jobs, held).places == [{1: 1}, {1: 1}, {2: 1}, {0: 2}]


def test_no_fewer_stay_than_without_swaps_and_often_more() -> None:
    more = 0
    for seed in range(250):
        rng = np.random.default_rng(seed)
        servers = random_servers(rng)
        for round_ in random_rounds(rng, servers, balanced=False, count=3):
            unswapped = pack_jobs(servers, round_.jobs)
            without = staying(round_.held, unswapped.places)
            with_swaps = staying(round_.held, round_.packing.places)
            assert with_swaps >= without
            if sum(round_.packing.to_fair) == sum(unswapped.to_fair) > 0:
                # Somebody is held to the fair share, so that all were packed anew.
                more += with_swaps > without
    assert more > 20
