"""TUNE's packing by hand: who keeps what, who gives what back, and who goes where."""

from __future__ import annotations

import pytest

from tests.unit.harness.scheduling.packing.packing_cases import (
    NOWHERE,
    Servers,
    check_packing,
    job,
    pack_jobs,
)

# Fair shares of a GPU: 3 CPUs and 50 of memory.
MODEST = job(1, cpus=3, memory=50)


def servers_of(gpus: int, count: int = 1) -> Servers:
    return Servers(count, gpus, cpus=3.0 * gpus, memory=50.0 * gpus)


def test_a_wish_that_fits_is_granted() -> None:
    jobs = [job(1, cpus=8, memory=120), job(3, cpus=1, memory=20)]
    packing = pack_jobs(servers_of(4), jobs)
    assert packing.to_fair == [False, False]
    assert packing.places == [{0: 1}, {0: 3}]


def test_a_job_whose_wish_does_not_fit_is_held_to_its_fair_share() -> None:
    jobs = [job(1, cpus=7), job(1, cpus=6), job(1, cpus=1), job(1, cpus=1)]
    assert pack_jobs(servers_of(4), jobs).to_fair == [False, True, False, False]


@pytest.mark.parametrize("resource", [0, 1, 2])
def test_every_resource_counts(resource: int) -> None:
    wish = [0.0, 0.0, 0.0]
    wish[resource] = 1.5
    jobs = [job(1, *wish), job(1, *wish)]
    servers = Servers(1, 2, cpus=2, memory=2, storage=2)
    assert pack_jobs(servers, jobs).to_fair == [True, True]


def test_a_peer_gives_back_what_it_holds_above_its_fair_share() -> None:
    assert pack_jobs(servers_of(2), [job(1, cpus=4), MODEST]).to_fair == [True, False]


def test_the_peer_with_most_above_its_fair_share_comes_first_and_no_more_than_needed_follow() -> (
    None
):
    jobs = [job(1, cpus=4), job(1, cpus=5), MODEST, job(1, cpus=2)]
    assert pack_jobs(servers_of(4), jobs).to_fair == [False, True, False, False]


def test_a_peer_without_too_much_of_what_is_short_is_left_alone() -> None:
    """The peer with a lot of memory has no CPU to give."""
    jobs = [job(1, cpus=4, memory=50), job(1, cpus=3, memory=100), MODEST, job(1, 3, memory=0)]
    assert pack_jobs(servers_of(4), jobs).to_fair == [True, False, False, False]


def test_a_peer_on_several_servers_gives_back_on_all_of_them() -> None:
    """Each of three servers has one of its GPUs, with 4 of 6 CPUs."""
    jobs = [job(3, cpus=4), *[MODEST] * 3]
    packing = pack_jobs(servers_of(2, count=3), jobs)
    assert packing.places[0] == {0: 1, 1: 1, 2: 1}
    assert packing.to_fair == [True, False, False, False]
    check_packing(servers_of(2, count=3), jobs, packing)


def test_a_peer_that_gets_memory_for_its_cpus_may_make_another_server_short() -> None:
    """The last modest job takes CPUs back from the spread job, whose fair share has more memory.

    Of that, the spread job's other server has none left, until the job with much memory gives it.
    """
    spread, much_memory = job(7, cpus=4, memory=20), job(2, cpus=1, memory=110)
    jobs = [spread, much_memory, *[MODEST] * 3]
    servers = servers_of(6, count=2)
    before = pack_jobs(servers, jobs[:4])
    assert before.places == [{0: 4, 1: 3}, {0: 2}, {1: 1}, {1: 1}]
    assert not any(before.to_fair)
    after = pack_jobs(servers, jobs)
    assert after.places == [*before.places, {1: 1}]
    assert after.to_fair == [True, True, False, False, False]
    check_packing(servers, jobs, after)


def test_a_job_is_spread_over_few_servers() -> None:
    assert pack_jobs(servers_of(8, count=3), [job(12, cpus=3)]).places == [{0: 8, 1: 4}]


def test_the_rest_of_a_spread_job_goes_where_it_just_fits() -> None:
    jobs = [job(2, cpus=3), job(4, cpus=3), job(12, cpus=3)]
    packing = pack_jobs(servers_of(8, count=3), jobs, [{1: 2}, {2: 4}, NOWHERE])
    assert packing.places == [{1: 2}, {2: 4}, {0: 8, 2: 4}]


def test_cpus_limit_how_many_gpus_of_a_spread_job_a_server_takes() -> None:
    """With 6 CPUs for each GPU, a server of 24 CPUs takes four."""
    packing = pack_jobs(servers_of(8, count=3), [job(9, cpus=6)])
    assert packing.places == [{0: 4, 1: 4, 2: 1}]
    assert packing.to_fair == [False]


def test_a_spread_job_that_does_not_find_its_wish_is_held_to_its_fair_share() -> None:
    packing = pack_jobs(servers_of(8, count=2), [job(9, cpus=6)])
    assert packing.places == [{0: 8, 1: 1}]
    assert packing.to_fair == [True]


def test_a_spread_job_is_held_to_its_fair_share_before_its_peers_are() -> None:
    """The first job leaves CPUs for 2 and 6 of the second one's wish, and for 2 and 8 fair ones."""
    packing = pack_jobs(servers_of(8, count=3), [job(10, cpus=4), job(9, cpus=3.5)])
    assert packing.places == [{0: 6, 1: 4}, {2: 8, 1: 1}]
    assert packing.to_fair == [False, True]


def test_a_job_goes_to_the_fullest_server_on_which_it_fits() -> None:
    jobs = [job(1, cpus=3), job(2, cpus=3), job(3, cpus=3), job(2, cpus=3)]
    held = [{0: 1}, {1: 2}, {2: 3}, NOWHERE]
    assert pack_jobs(servers_of(4, count=3), jobs, held).places[3] == {1: 2}


def test_balanced_keeps_two_hungry_jobs_apart_where_best_fit_puts_them_together() -> None:
    hungry, frugal = job(1, cpus=6), job(1, cpus=2)
    jobs = [hungry, hungry, *[frugal] * 6]
    servers = servers_of(4, count=2)
    together = pack_jobs(servers, jobs)
    assert together.places[:2] == [{0: 1}, {0: 1}]
    assert together.to_fair == [True, True, *[False] * 6]
    apart = pack_jobs(servers, jobs, balanced=True)
    assert apart.places[:2] == [{0: 1}, {1: 1}]
    assert not any(apart.to_fair)


def test_a_held_job_has_its_wish_again_once_there_is_room() -> None:
    jobs = [job(1, cpus=4), MODEST]
    assert pack_jobs(servers_of(2), jobs).to_fair[0]
    assert pack_jobs(servers_of(2), jobs[:1], [{0: 1}]).to_fair == [False]


def test_no_job_is_no_trouble() -> None:
    packing = pack_jobs(servers_of(2), [])
    assert (packing.places, packing.to_fair) == ([], [])


def test_what_exactly_fills_a_server_fits_despite_rounding() -> None:
    """Seven shares of a seventh sum to a little more than one."""
    servers = Servers(1, 7, cpus=1, memory=1)
    packing = pack_jobs(servers, [job(1, cpus=1 / 7, memory=1 / 7)] * 7)
    assert packing.to_fair == [False] * 7
