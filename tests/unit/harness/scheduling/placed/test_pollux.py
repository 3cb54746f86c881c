"""Pollux on a network: how many workers jobs have, where, and what the network may decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scheduling.placed.leaves import leaves_of
from harness.scheduling.placed.policy import Choice, GpuServers, Placement, Rounds, WaitingJob
from harness.scheduling.placed.pollux import PolluxPlacement
from harness.scheduling.pollux.placements import MOST_SERVERS
from harness.scheduling.pollux.policy import Decision, Pollux
from harness.scheduling.pollux.policy import Job as Described
from tests.unit.harness.scheduling.placed.builders import RATE_BPS, SEED, job, servers_of
from traces.topologies.cassini_24 import cassini_24
from traces.topologies.single_switch import single_switch

ROUNDS = Rounds(round_s=10.0, restart_s=1.0)
TESTBED = servers_of(cassini_24())
EIGHT = servers_of(single_switch(8, RATE_BPS))


def elastic(name: str, numbers: Sequence[int] = range(1, 25), **changes: object) -> WaitingJob:
    """With every worker more an iteration takes 2 % longer, so that all are of use."""
    choices = tuple(Choice(workers, 1.0, 1 + 0.02 * workers) for workers in numbers)
    return replace(job(name, 4), choices=choices, **changes)  # type: ignore[arg-type]


def decide(
    servers: GpuServers,
    jobs: Sequence[WaitingJob],
    most: int = 1,
    rounds: Rounds = ROUNDS,
    now_s: float = 0.0,
) -> list[Placement]:
    return PolluxPlacement(servers, rounds, SEED).placements(jobs, now_s, most)


def sizes(placement: Placement) -> dict[str, int]:
    return {name: len(at) for name, at in placement.items()}


@st.composite
def elastic_jobs(draw: st.DrawFn) -> tuple[GpuServers, list[WaitingJob]]:
    """Up to eight jobs that may have some numbers of workers, or one alone."""
    servers = servers_of(cassini_24(), draw(st.integers(1, 2)))
    numbers = st.lists(st.integers(1, 20), min_size=1, max_size=6, unique=True)
    jobs = [
        elastic(str(number), sorted(draw(numbers))) for number in range(draw(st.integers(1, 8)))
    ]
    return servers, jobs


@settings(max_examples=25)
@given(case=elastic_jobs(), most=st.sampled_from([1, 6]))
def test_jobs_have_numbers_of_workers_that_they_may_have(
    case: tuple[GpuServers, list[WaitingJob]], most: int
) -> None:
    servers, jobs = case
    may_have = {each.id: {choice.workers for choice in each.choices} for each in jobs}
    leaves = leaves_of(servers.cluster)
    placements = decide(servers, jobs, most)
    assert 1 <= len(placements) <= most
    assert len({leaves.link_form(each) for each in placements}) == len(placements)
    for placement in placements:
        used = Counter(server for at in placement.values() for server in at)
        assert all(count <= servers.gpus[server] for server, count in used.items())
        for name, at in placement.items():
            assert len(at) in may_have[name]
            assert len(set(at)) <= MOST_SERVERS


def test_jobs_that_are_alike_share_the_cluster() -> None:
    (placement,) = decide(TESTBED, [elastic(name) for name in "abcd"])
    assert sizes(placement) == dict.fromkeys("abcd", 6)


def test_a_job_alone_has_as_many_workers_as_its_model_allows() -> None:
    (placement,) = decide(TESTBED, [elastic("a", [1, 2, 3, 5])])
    assert sizes(placement) == {"a": 5}


def test_a_gpu_that_no_number_has_a_use_for_is_given_back() -> None:
    """Three jobs of two workers or four share ten GPUs: one has four, and nobody three."""
    ten = servers_of(single_switch(10, RATE_BPS))
    (placement,) = decide(ten, [elastic(name, [2, 4]) for name in "abc"])
    assert set(sizes(placement).values()) <= {2, 4}
    assert len(placement) == 3


@pytest.mark.parametrize("workers", [(12, 12), (16, 8), (12, 8, 4)])
def test_jobs_of_one_number_are_found_room_for(workers: tuple[int, ...]) -> None:
    """They fill the cluster, and none may have fewer."""
    jobs = [job(str(number), count) for number, count in enumerate(workers)]
    (placement,) = decide(TESTBED, jobs)
    assert sorted(sizes(placement).values()) == sorted(workers)


def test_a_job_of_one_number_keeps_it_beside_others() -> None:
    (placement,) = decide(TESTBED, [job("fixed", 5), elastic("a"), elastic("b")])
    assert sizes(placement)["fixed"] == 5
    assert sum(sizes(placement).values()) == 24


def test_what_there_is_no_room_for_never_runs() -> None:
    assert decide(EIGHT, [job("large", 9)]) == [{}]
    assert decide(EIGHT, []) == [{}]
    (placement,) = decide(EIGHT, [job("large", 9), elastic("a")])
    assert sizes(placement) == {"a": 8}


def test_a_restart_is_weighed_against_what_it_gains() -> None:
    """A job of six GPUs could have two more, and a quarter more progress, after 100 s."""
    running = elastic("a", range(1, 9), servers=tuple(f"server{n}" for n in range(6)), starts=1)
    for restart_s, expected in ((1.0, 8), (60.0, 6)):
        rounds = Rounds(10.0, restart_s)
        (placement,) = decide(EIGHT, [running], rounds=rounds, now_s=100.0)
        assert sizes(placement) == {"a": expected}


def test_nobody_moves_where_nothing_changes() -> None:
    policy = PolluxPlacement(TESTBED, ROUNDS, SEED)
    jobs = [elastic(name) for name in "abcde"]
    (first,) = policy.placements(jobs, 0.0, 1)
    for number in range(1, 4):
        running = [
            replace(each, servers=first[each.id], starts=1, attained_s=10.0 * number)
            for each in jobs
        ]
        assert policy.placements(running, 10.0 * number, 1) == [first]


def test_pollux_hears_what_jobs_have_had(monkeypatch: pytest.MonkeyPatch) -> None:
    """GPU time by the GPUs that a job held at the time; ages as of the end of the round."""
    told: list[dict[str, Described]] = []
    own = Pollux.decide

    def listen(policy: Pollux, jobs: Sequence[Described]) -> Decision:
        told.append({each.job: each for each in jobs})
        return own(policy, jobs)

    monkeypatch.setattr(Pollux, "decide", listen)
    policy = PolluxPlacement(EIGHT, ROUNDS, SEED)
    new = elastic("a", range(1, 9), submit_s=3.0)
    policy.placements([new], 5.0, 1)
    here, there = ("server0", "server1"), ("server2", "server3", "server4")
    policy.placements([replace(new, servers=here, starts=1, attained_s=10.0)], 15.0, 1)
    policy.placements([replace(new, servers=there, starts=2, attained_s=20.0)], 25.0, 1)
    ages, gpu_s, restarts = zip(
        *((job.age_s, job.attained_gpu_s, job.restarts) for (job,) in map(dict.values, told)),
        strict=True,
    )
    assert ages == (12.0, 22.0, 32.0)
    assert gpu_s == (0.0, 20.0, 20.0 + 30.0)
    assert restarts == (0, 0, 1)
    held = told[-1]["a"].held
    assert held is not None
    assert held.tolist() == [0, 0, 1, 1, 1, 0, 0, 0]
    assert told[0]["a"].held is None


def test_candidates_begin_with_its_own_choice_and_then_pack_the_same_workers() -> None:
    jobs = [elastic(name) for name in "abcde"]
    (alone,) = decide(TESTBED, jobs)
    found = decide(TESTBED, jobs, most=6)
    assert found[0] == alone
    assert len(found) == 6
    leaves = leaves_of(TESTBED.cluster)
    assert len({leaves.company(placement) for placement in found}) == 6
    behind = {server: number for number, leaf in enumerate(leaves.leaves) for server in leaf}

    def spread(placement: Placement) -> int:
        return sum(len({behind[server] for server in at}) for at in placement.values())

    assert sizes(found[1]) == sizes(alone)
    assert spread(found[1]) < spread(alone)


def test_a_seed_repeats_its_decisions() -> None:
    jobs = [elastic(name) for name in "abcde"]
    assert decide(TESTBED, jobs, 8) == decide(TESTBED, jobs, 8)
    other = PolluxPlacement(TESTBED, ROUNDS, SEED + 1).placements(jobs, 0.0, 8)
    assert other != decide(TESTBED, jobs, 8)
