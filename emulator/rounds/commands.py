"""What a worker that is the user's own command is told. Pure."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emulator.iterations import FIRST_VARIABLE
from emulator.rendezvous import rendezvous
from emulator.rounds.cluster_network import ClusterNetwork, server_name
from emulator.rounds.lease import Lease
from emulator.rounds.running_job import RunningWorker


@dataclass(frozen=True)
class CommandPlace:
    """Where commands run and as whom.

    directory: they start in. user: (uid, gid), or None for the process's own. memory_divisor: how
    much less memory than on the server a command may use, for it is no smaller here than there.
    """

    directory: Path
    user: tuple[int, int] | None
    memory_divisor: float


def command_specification(
    lease: Lease,
    worker: RunningWorker,
    lease_address: str,
    network: ClusterNetwork,
    place: CommandPlace,
) -> dict[str, Any]:
    """See emulator.training.command."""
    plan = network.plan
    node = server_name(worker.held.server)
    return {
        "job": lease.job,
        "rank": worker.rank,
        "lease_address": lease_address,
        "namespace": plan.namespaces[node],
        "argv": list(lease.command or ()),
        "directory": str(place.directory),
        "environment": _environment(lease, worker, network),
        "user": place.user and list(place.user),
        "groups": [str(path) for path in (worker.group.paths if worker.group else ())],
        "iterations_per_count": worker.work.iterations_per_step,
        "iterations_left": lease.iterations_left,
    }


def _environment(lease: Lease, worker: RunningWorker, network: ClusterNetwork) -> dict[str, str]:
    root = network.plan.addresses.server(server_name(lease.held[0].server))
    return {
        **rendezvous(root, lease.number, worker.rank, len(lease.held), worker.held.gpus),
        "ROUNDELAY_JOB": lease.job,
        "ROUNDELAY_GPUS": str(worker.held.gpus),
        FIRST_VARIABLE: str(int(lease.iterations_done)),
    }


def memory_divisor(total_bytes: float, share: float = 0.5) -> float:
    """So that all commands together may use ``share`` of this box's memory."""
    box_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(total_bytes / (box_bytes * share), 1.0)
