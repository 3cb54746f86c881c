"""What each worker gets of its server's CPUs and memory, once it is placed. Pure.

Synergy (OSDI'22), section 4.3, where the placement is another's: what is left to decide is how the
jobs that meet on a server share it. A job's workers have the same share on all its servers, since
it is held back by the slowest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from harness.scheduling.placed.policy import Placement
from traces.arm import Arm, Job
from traces.demand import demand_curve
from traces.input_pipeline import Share, fair_share, input_s
from traces.server_pool import ServerGroup

Shares = Mapping[str, Share]
"""Of each worker of each job that runs, by the job's id; empty where nothing is divided."""

_ROUNDING = 1e-9


def shares_of(arm: Arm, placement: Placement) -> Shares:
    """What the arm's mechanism gives to the jobs of ``placement``."""
    if arm.resources is None:
        return {}
    jobs = [job.on(placement[job.id]) for job in arm.jobs if job.id in placement]
    return _MECHANISMS[arm.scheduler.mechanism](arm, arm.resources, jobs, placement)


def proportional_share(arm: Arm) -> Share | None:
    """Of each worker, in proportion to GPUs; None where nothing is divided."""
    return None if arm.resources is None else fair_share(arm.resources)


def _proportional(
    arm: Arm, server: ServerGroup, jobs: Sequence[Job], placement: Placement
) -> Shares:
    """Each worker has one GPU, and what goes with it."""
    del arm, placement
    return {job.id: fair_share(server) for job in jobs}


def _tune(arm: Arm, server: ServerGroup, jobs: Sequence[Job], placement: Placement) -> Shares:
    """Every job its wish, the largest first; where that does not fit, its proportional share.

    Where not even that fits, those on the server that have more than theirs go back to it, so that
    nobody is slower than in proportion to GPUs.
    """
    fair = fair_share(server)
    workers = {job.id: Counter(placement[job.id]) for job in jobs}
    wishes = {job.id: _wish(arm, server, job, max(workers[job.id].values())) for job in jobs}
    given: dict[str, Share] = {}

    def overdrawn(job: str, share: Share) -> list[str]:
        """Servers of ``job`` on which ``share`` is more than the others leave."""
        return [
            at for at in workers[job] if _is_overdrawn(at, server, {**given, job: share}, workers)
        ]

    def size(job: Job) -> tuple[int, float, float]:
        count, wish = len(placement[job.id]), wishes[job.id]
        return -count, -wish.cpus * count, -wish.memory_bytes * count

    for job in sorted(jobs, key=size):
        share = wishes[job.id]
        if overdrawn(job.id, share):
            share = fair if _exceeds(share, fair) else share
            for at in overdrawn(job.id, share):
                for other in given:
                    if not _is_overdrawn(at, server, {**given, job.id: share}, workers):
                        break
                    if workers[other][at] and _exceeds(given[other], fair):
                        given[other] = fair
        given[job.id] = share
    return {job.id: given[job.id] for job in jobs}


_MECHANISMS: dict[str, Callable[[Arm, ServerGroup, Sequence[Job], Placement], Shares]] = {
    "proportional": _proportional,
    "tune": _tune,
}


def _is_overdrawn(
    at: str, server: ServerGroup, given: Shares, workers: Mapping[str, Counter[str]]
) -> bool:
    """Whether the workers on one server have more together than it has."""
    cpus = sum(share.cpus * workers[job][at] for job, share in given.items())
    memory_bytes = sum(share.memory_bytes * workers[job][at] for job, share in given.items())
    slack = 1 + _ROUNDING
    return cpus > server.cpus * slack or memory_bytes > server.memory_bytes * slack


def _exceeds(share: Share, fair: Share) -> bool:
    """Whether ``share`` is more than the proportional one in anything."""
    return share.cpus > fair.cpus * (1 + _ROUNDING) or share.memory_bytes > fair.memory_bytes * (
        1 + _ROUNDING
    )


def _wish(arm: Arm, server: ServerGroup, job: Job, most_on_a_server: int) -> Share:
    """The smallest share with which the job is as fast as its servers allow.

    What hides behind its transfers need not be faster, so that a job that sends much wishes for
    less than one that computes alone. Among the points of its matrix that a server can give, and
    the server's very limit. A job without an input pipeline wishes for its proportional share.
    """
    fair = fair_share(server)
    pipeline = job.input_pipeline
    if pipeline is None:
        return fair
    crosses_links = len(set(job.servers)) > 1
    rate_bps = arm.cluster.server_rate_bps if crosses_links else math.inf
    alone_s = demand_curve(job.profile.demand, rate_bps).period_s
    most = Share(server.cpus / most_on_a_server, server.memory_bytes / most_on_a_server)
    choices = [
        Share(float(cpus), float(memory_bytes))
        for cpus in np.append(pipeline.cpus[pipeline.cpus < most.cpus], most.cpus)
        for memory_bytes in np.append(
            pipeline.memory_bytes[pipeline.memory_bytes < most.memory_bytes], most.memory_bytes
        )
    ]
    seconds = [max(alone_s, input_s(pipeline, job.profile.demand.compute_s, c)) for c in choices]
    least_s = min(seconds)
    return min(
        (
            choice
            for choice, taken_s in zip(choices, seconds, strict=True)
            if taken_s <= least_s * (1 + _ROUNDING)
        ),
        key=lambda share: share.cpus / most.cpus + share.memory_bytes / most.memory_bytes,
    )
