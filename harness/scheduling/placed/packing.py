"""Which jobs get in, and which servers they take. Pure.

A job gets all its workers or none. Any free GPU will do for any worker, so that a job fits as soon
as there are as many free GPUs as it has workers, wherever they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from harness.scheduling.placed.leaves import Leaf
from harness.scheduling.placed.policy import GpuServers, Placement, WaitingJob

Rule = Callable[[int, int], tuple[bool, int]]
"""From the free GPUs of a place and the workers that are left to put somewhere to a key: the place
with the smallest is taken, the first of equal ones."""


def best_fit(free: int, workers: int) -> tuple[bool, int]:
    """The place that they fill best; where they fit nowhere, the one that takes most of them."""
    return free < workers, free if free >= workers else -free


def worst_fit(free: int, workers: int) -> tuple[bool, int]:
    """The emptiest place."""
    return False, -free


def first_fit(free: int, workers: int) -> tuple[bool, int]:
    """The first place that takes them all; where there is none, the first with anything free."""
    return free < workers, 0


def admitted(jobs: Iterable[WaitingJob], num_gpus: int) -> list[WaitingJob]:
    """The first of ``jobs`` whose workers fit on ``num_gpus`` free GPUs.

    One that does not fit is passed over, and later, smaller ones fill what is left.
    """
    chosen = []
    for job in jobs:
        if job.workers <= num_gpus:
            chosen.append(job)
            num_gpus -= job.workers
    return chosen


def free_gpus(servers: GpuServers, kept: Placement) -> dict[str, int]:
    """Of each server, beside the jobs in ``kept``.

    Raises ValueError where they hold more than it has, or a server that there is not.
    """
    held = Counter(server for workers in kept.values() for server in workers)
    for server, count in held.items():
        if count > servers.gpus.get(server, 0):
            raise ValueError(f"{count} workers run on {server}, which has fewer GPUs")
    return {server: servers.gpus[server] - held[server] for server in servers.cluster.servers}


def pack(
    jobs: Iterable[WaitingJob], free: Mapping[str, int], leaves: Sequence[Leaf], rule: Rule
) -> dict[str, Counter[str]]:
    """Workers of each job on each server, one job after the other.

    rule: chooses a job's leaf, and behind it the server. A job that no leaf takes whole goes to
    several. Raises ValueError where there are not enough free GPUs.
    """
    left = dict(free)
    return {job.id: _take(job.workers, left, leaves, rule) for job in jobs}


def _take(workers: int, free: dict[str, int], leaves: Sequence[Leaf], rule: Rule) -> Counter[str]:
    """The servers of one job, which are taken out of ``free``."""
    taken: Counter[str] = Counter()

    def free_behind(leaf: Leaf) -> int:
        return sum(free[server] for server in leaf)

    while workers:
        leaf = _chosen(leaves, free_behind, workers, rule)
        here = min(workers, free_behind(leaf))
        workers -= here
        while here:
            server = _chosen(leaf, free.__getitem__, here, rule)
            count = min(here, free[server])
            taken[server] += count
            free[server] -= count
            here -= count
    return taken


_Place = TypeVar("_Place")


def _chosen(
    places: Iterable[_Place], free: Callable[[_Place], int], workers: int, rule: Rule
) -> _Place:
    return min((place for place in places if free(place)), key=lambda at: rule(free(at), workers))
