"""How the ranks of a user's own command find each other. Pure."""

from __future__ import annotations

FIRST_PORT = 29500
_PORTS = 3000
"""From FIRST_PORT on: below those that the kernel gives to connections (32768 and more)."""


def rendezvous(root_address: str, number: int, rank: int, ranks: int, gpus: int) -> dict[str, str]:
    """As torch.distributed reads it (one process on each server), and as torchrun does (PET_*).

    root_address: of the server of rank 0. number: of the job, so that two on a server do not meet.
    gpus: of the job on this server, for each of which torchrun starts a process.
    """
    port = str(FIRST_PORT + number % _PORTS)
    return {
        "MASTER_ADDR": root_address,
        "MASTER_PORT": port,
        "WORLD_SIZE": str(ranks),
        "RANK": str(rank),
        "LOCAL_RANK": "0",
        "PET_NNODES": str(ranks),
        "PET_NODE_RANK": str(rank),
        "PET_NPROC_PER_NODE": str(gpus),
        "PET_MASTER_ADDR": root_address,
        "PET_MASTER_PORT": port,
    }
