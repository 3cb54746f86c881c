"""The guarantee of TUNE: whatever jobs wish for, all of them run, none with less than it is due."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.harness.scheduling.packing.packing_cases import (
    Round,
    Servers,
    check_packing,
    packing_order,
    random_rounds,
    random_servers,
)

SEEDS = st.integers(0, 2**32 - 1)
ROUNDS = 4


def free_gpus_at_its_turn(servers: Servers, round_: Round, row: int) -> list[int]:
    """GPUs left on each server by the jobs that are packed before job ``row``."""
    free = [servers.gpus] * servers.count
    order = packing_order(round_.jobs)
    for earlier in order[: order.index(row)]:
        for server, gpus in round_.packing.places[earlier].items():
            free[server] -= gpus
    return free


def check_consolidation(servers: Servers, round_: Round) -> None:
    """A job that was placed now is on one server, if one had its GPUs free at its turn."""
    for row, place in enumerate(round_.packing.places):
        needs = round_.jobs[row].num_gpus
        if len(place) > 1 and place != round_.held[row] and needs <= servers.gpus:
            assert max(free_gpus_at_its_turn(servers, round_, row)) < needs


@settings(max_examples=750)
@given(seed=SEEDS, balanced=st.booleans())
def test_every_job_runs_and_no_server_gives_more_than_it_has(seed: int, balanced: bool) -> None:
    rng = np.random.default_rng(seed)
    servers = random_servers(rng)
    for round_ in random_rounds(rng, servers, balanced, ROUNDS):
        check_packing(servers, round_.jobs, round_.packing)
        check_consolidation(servers, round_)


def test_the_random_rounds_have_every_kind_of_trouble() -> None:
    """Else the guarantee would be tested where it is no feat."""
    seen = dict.fromkeys(["held to fair", "not held", "kept", "moved", "split", "torn"], 0)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        servers = random_servers(rng)
        for round_ in random_rounds(rng, servers, balanced=False, count=ROUNDS):
            held_to_fair = any(round_.packing.to_fair)
            seen["held to fair"] += held_to_fair
            seen["not held"] += not held_to_fair
            changes = list(zip(round_.held, round_.packing.places, strict=True))
            seen["kept"] += any(was and was == now for was, now in changes)
            seen["moved"] += any(was and was != now for was, now in changes)
            for job, place in zip(round_.jobs, round_.packing.places, strict=True):
                seen["split"] += job.num_gpus > servers.gpus
                seen["torn"] += job.num_gpus <= servers.gpus and len(place) > 1
    assert min(seen.values()) > 20, seen
