"""What a worker that is the user's own command is told. Pure."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emulator.iterations import FIRST_VARIABLE
from emulator.rounds.cluster_network import ClusterNetwork, server_name
from emulator.rounds.lease import Lease
from emulator.rounds.running_job import RunningWorker

_FIRST_RENDEZVOUS_PORT = 29500
_RENDEZVOUS_PORTS = 30000


@dataclass(frozen=True)
class CommandPlace:
    """Where commands run and as whom.

    directory: they start in. sockets: where those are that count their iterations. user: (uid,
    gid), or None for the process's own. memory_divisor: how much less memory than on the server
    a command may use, for it is no smaller here than there.
    """

    directory: Path
    sockets: Path
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
        "socket": str(place.sockets / f"job{lease.number}-{worker.rank}.sock"),
        "iterations_per_count": worker.work.iterations_per_step,
        "iterations_left": lease.iterations_left,
    }


def _environment(lease: Lease, worker: RunningWorker, network: ClusterNetwork) -> dict[str, str]:
    """As torch.distributed reads it (one process on each server), and as torchrun does (PET_*)."""
    root = network.plan.addresses.server(server_name(lease.held[0].server))
    port = str(_FIRST_RENDEZVOUS_PORT + lease.number % _RENDEZVOUS_PORTS)
    ranks, rank = str(len(lease.held)), str(worker.rank)
    return {
        "MASTER_ADDR": root,
        "MASTER_PORT": port,
        "WORLD_SIZE": ranks,
        "RANK": rank,
        "LOCAL_RANK": "0",
        "PET_NNODES": ranks,
        "PET_NODE_RANK": rank,
        "PET_NPROC_PER_NODE": str(worker.held.gpus),
        "PET_MASTER_ADDR": root,
        "PET_MASTER_PORT": port,
        "ROUNDELAY_JOB": lease.job,
        "ROUNDELAY_GPUS": str(worker.held.gpus),
        FIRST_VARIABLE: str(int(lease.iterations_done)),
    }


def memory_divisor(total_bytes: float, share: float = 0.5) -> float:
    """So that all commands together may use ``share`` of this box's memory."""
    box_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(total_bytes / (box_bytes * share), 1.0)
