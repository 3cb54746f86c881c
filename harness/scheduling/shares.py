"""Two cures for jobs that meet on links, beside CASSINI's: unequal shares, and priorities. Pure.

Neither delays a job. Where two jobs of one length share a link evenly they stay in lock-step; where
one of them gets more, it is done earlier, and the next time a little earlier still, until they take
turns by themselves (Rajasekaran et al., HotNets'22). Crux sends for the job first whose GPUs lose
most by waiting (SIGCOMM'24).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from traces.arm import Arm, Job
from traces.cluster import Cluster, Sharing
from traces.errors import BadInputError

_WEIGHTS = (8.0, 4.0, 2.0, 1.0)
"""Of the jobs in turn. Twice as much has to be enough; the paper varies how aggressive two jobs
are, and gives no weights."""

_CLASSES = 8
"""Of traffic. (IEEE 802.1Q)"""


def with_shares(arm: Arm) -> Arm:
    """``arm`` with the weights or priorities that its scheduler gives its jobs.

    Raises BadInputError where the ports of the arm would not look at them.
    """
    if arm.scheduler.shares == "given":
        return arm
    sharing, give = SHARES[arm.scheduler.shares]
    if arm.cluster.sharing is not sharing:
        raise BadInputError(
            f"with the shares {arm.scheduler.shares!r} ports have to share by {sharing}",
            allowed=f"sharing: {sharing}",
            key="cluster.sharing",
        )
    return arm.model_copy(update={"jobs": give(arm.cluster, arm.jobs)})


def unequal(cluster: Cluster, jobs: Sequence[Job]) -> tuple[Job, ...]:
    """Weights that differ from job to job."""
    del cluster
    return tuple(
        job.model_copy(update={"weight": _WEIGHTS[number % len(_WEIGHTS)]})
        for number, job in enumerate(jobs)
    )


def by_gpu_intensity(cluster: Cluster, jobs: Sequence[Job]) -> tuple[Job, ...]:
    """Priorities by GPU intensity, in as many classes as traffic has (Crux, section 4).

    Where there are more jobs, neighbours in the order share a class. The correction for jobs that
    compute while they send is left out: it needs a measurement.
    """
    order = sorted(range(len(jobs)), key=lambda number: gpu_intensity(cluster, jobs[number]))
    priority = {number: rank * _CLASSES // len(jobs) for rank, number in enumerate(order)}
    if len(jobs) <= _CLASSES:
        priority = {number: rank for rank, number in enumerate(order)}
    return tuple(
        job.model_copy(update={"priority": priority[number]}) for number, job in enumerate(jobs)
    )


def gpu_intensity(cluster: Cluster, job: Job) -> float:
    """GPU seconds of an iteration for each second that its slowest link sends for it: W_j / t_j.

    Infinite where it sends nothing. Of a job that is not placed yet the servers' own links count.
    """
    work_s = job.profile.demand.compute_s * job.profile.num_gpus
    sending_s = _sending_s(cluster, job)
    return work_s / sending_s if sending_s else float("inf")


def _sending_s(cluster: Cluster, job: Job) -> float:
    flows = [
        flow
        for transfer in job.profile.demand.transfers
        for flow in transfer.flows(job.profile.num_gpus)
    ]
    if not job.servers:
        by_rank: dict[int, float] = defaultdict(float)
        for source, _, size in flows:
            by_rank[source] += size
        return max(by_rank.values(), default=0.0) * 8 / cluster.server_rate_bps
    on_port: dict[object, float] = defaultdict(float)
    for source, destination, size in flows:
        path = cluster.path(job.servers[source], job.servers[destination], job.path_variant)
        for port in path:
            on_port[port] += size * 8 / cluster.rate_bps(port)
    return max(on_port.values(), default=0.0)


Give = Callable[[Cluster, Sequence[Job]], tuple[Job, ...]]

SHARES: dict[str, tuple[Sharing, Give]] = {
    "unequal": (Sharing.WEIGHTED, unequal),
    "gpu-intensity": (Sharing.PRIORITY, by_gpu_intensity),
}
"""Name -> the sharing that ports need for it, and what gives the jobs theirs."""
