"""The CPUs and the memory that a scenario's servers have to divide, checked. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from traces.cluster_spec import ClusterSpec
from traces.errors import BadInputError
from traces.input_pipeline import fair_share
from traces.sensitivity import Sensitivity
from traces.server_pool import ServerGroup


def server_resources(
    cluster: ClusterSpec,
    servers: int,
    pipelines: Sequence[Sensitivity | None],
    *,
    placed: bool,
) -> ServerGroup:
    """What a mechanism divides among the jobs with ``pipelines``. placed: by a scheduler.

    Raises BadInputError, with the key of the scenario, where the servers do not say what they have,
    or a job would stand still with its proportional share.
    """
    if not placed:
        raise BadInputError(
            "jobs that name their servers have no scheduler that divides CPUs and memory",
            allowed="none, or another scheduler.placement",
            key="scheduler.mechanism",
        )
    if cluster.cpus is None or cluster.memory is None:
        raise BadInputError(
            "a mechanism has nothing to divide",
            allowed="cpus and memory of a server, such as 'cpus: 24' and 'memory: 500 GB'",
            key="cluster",
        )
    group = ServerGroup(servers, cluster.gpus, cluster.cpus, cluster.memory)
    fair = fair_share(group)
    for number, pipeline in enumerate(pipelines):
        if pipeline is not None and not pipeline.at(fair.cpus, fair.memory_bytes):
            raise BadInputError(
                f"the input pipeline makes no progress with the share of one GPU, "
                f"{fair.cpus:g} CPUs and {fair.memory_bytes / 1e9:g} GB",
                allowed="servers with more CPUs and memory, or another pipeline",
                key=f"workload.jobs.{number}.input_pipeline",
            )
    return group
