"""Free resources of servers, and the search among them. Shared by the packings."""

from __future__ import annotations

import numpy as np

from harness.job_table import Floats, Ints
from traces.compiled import compiled

SLACK = 1e-9
"""Share of a server by which rounding may seem to exceed it."""


@compiled
def fits(
    gpus: int, share: Floats, server: int, free_gpus: Ints, free: Floats, size: Floats
) -> bool:
    """Whether ``gpus`` GPUs with ``share`` (RESOURCES, per GPU) each are free on ``server``.

    size: (RESOURCES,) of a whole server.
    """
    if free_gpus[server] < gpus:
        return False
    for resource in range(len(share)):
        slack = SLACK * size[resource]
        if share[resource] * gpus > free[server, resource] + slack:
            return False
    return True


@compiled
def take(gpus: int, share: Floats, server: int, free_gpus: Ints, free: Floats) -> None:
    """Take ``gpus`` GPUs with ``share`` each from ``server``; give back where it is negative."""
    free_gpus[server] -= gpus
    for resource in range(len(share)):
        free[server, resource] -= share[resource] * gpus


@compiled
def fullness(server: int, server_gpus: int, free_gpus: Ints, free: Floats, size: Floats) -> float:
    """Free resources of ``server`` as shares of a whole one, summed: least where it is fullest."""
    total = float(free_gpus[server] / server_gpus)
    for resource in range(len(size)):
        if size[resource] > 0:
            total += free[server, resource] / size[resource]
    return total


@compiled
def added_shortage(
    gpus: int,
    share: Floats,
    server: int,
    server_gpus: int,
    free_gpus: Ints,
    free: Floats,
    size: Floats,
) -> float:
    """By how much the square of the shortage on ``server`` grows if a job is placed there.

    Shortage: how many free GPUs lack their fair share of a resource. Its square, summed over
    RESOURCES, keeps demanding jobs apart, and sends modest ones to where something is short.
    """
    before, after = 0.0, 0.0
    for resource in range(len(size)):
        if size[resource] == 0:
            continue
        fair = size[resource] / server_gpus
        left = free[server, resource] / fair - free_gpus[server]
        before += min(left, 0.0) ** 2
        after += min(left - (share[resource] / fair - 1) * gpus, 0.0) ** 2
    return after - before


@compiled
def best_server(
    gpus: int,
    share: Floats,
    server_gpus: int,
    free_gpus: Ints,
    free: Floats,
    size: Floats,
    balanced: bool,
) -> int:
    """The server on which ``gpus`` GPUs with ``share`` each fit best, or -1.

    The one with the least free resources; ``balanced``: of those whose shortage grows least.
    """
    best, least_shortage, least_left = -1, np.inf, np.inf
    for server in range(len(free_gpus)):
        if not fits(gpus, share, server, free_gpus, free, size):
            continue
        shortage = 0.0
        if balanced:
            shortage = added_shortage(gpus, share, server, server_gpus, free_gpus, free, size)
            if shortage > least_shortage + SLACK:
                continue
        left = fullness(server, server_gpus, free_gpus, free, size)
        if shortage < least_shortage - SLACK or left < least_left:
            best, least_shortage, least_left = server, shortage, left
    return best


@compiled
def placeable(share: Floats, server: int, free_gpus: Ints, free: Floats, size: Floats) -> int:
    """GPUs with ``share`` each that fit on ``server``."""
    most = int(free_gpus[server])
    for resource in range(len(share)):
        if share[resource] > 0:
            room = (free[server, resource] + SLACK * size[resource]) / share[resource]
            if room < most:
                most = max(int(np.floor(room)), 0)
    return most
