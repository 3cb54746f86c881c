"""TUNE as Synergy's published simulator walks it. For comparison with its results only.

It differs from the paper: jobs are placed in the policy's order rather than from the largest demand
down; GPUs are taken by index over all servers, without consolidation; and every peer that stands
before the need is met is set back, whether it holds more than its fair share or not.
"""

from __future__ import annotations

import numpy as np

from harness.job_table import Flags, Floats, Ints
from harness.scheduling.packing.servers import placeable, take
from traces.compiled import compiled


@compiled
def walk(
    num_gpus: Ints,
    wish: Floats,
    above_fair: Flags,
    fair: Floats,
    free_gpus: Ints,
    free: Floats,
    size: Floats,
) -> tuple[Flags, Ints, Ints, Ints, Flags]:
    """Place jobs, given in the policy's order; all arrays as in best_fit.pack.

    free_gpus, free: of each server, are used up. Returns (jobs,) whether a job was placed,
    (offsets, servers, gpus), and (jobs,) whether it is held to its fair share. The published code
    ends the process where a job cannot be placed; here such a job waits.
    """
    jobs, num_servers = len(num_gpus), len(free_gpus)
    placed = np.zeros(jobs, dtype=np.bool_)
    to_fair = np.zeros(jobs, dtype=np.bool_)
    offsets = np.zeros(jobs + 1, dtype=np.int64)
    servers = np.empty(free_gpus.sum(), dtype=np.int64)
    gpus = np.empty(len(servers), dtype=np.int64)
    on_server = np.zeros((num_servers, free_gpus.max() if num_servers else 0), dtype=np.int64)
    jobs_on = np.zeros(num_servers, dtype=np.int64)
    rows = 0
    for job in range(jobs):
        count = _by_index(num_gpus[job], wish[job], free_gpus, free, size, rows, servers, gpus)
        if count == 0:
            to_fair[job] = above_fair[job]
            share = fair if to_fair[job] else wish[job]
            count = _by_index(num_gpus[job], share, free_gpus, free, size, rows, servers, gpus)
        if count == 0:
            share = fair if to_fair[job] else wish[job]
            _set_peers_back(
                num_gpus, job, share, wish, above_fair, fair, free_gpus, free,
                on_server, jobs_on, offsets, servers, gpus, to_fair,
            )  # fmt: skip
            count = _by_index(num_gpus[job], share, free_gpus, free, size, rows, servers, gpus)
        share = fair if to_fair[job] else wish[job]
        for row in range(rows, rows + count):
            server = servers[row]
            take(gpus[row], share, server, free_gpus, free)
            on_server[server, jobs_on[server]] = job
            jobs_on[server] += 1
        rows += count
        offsets[job + 1] = rows
        placed[job] = count > 0
    return placed, offsets, servers[:rows], gpus[:rows], to_fair


@compiled
def _by_index(
    num_gpus: int,
    share: Floats,
    free_gpus: Ints,
    free: Floats,
    size: Floats,
    row: int,
    servers: Ints,
    gpus: Ints,
) -> int:
    """Fill rows from ``row`` on with the first GPUs that fit; return their number, 0 if too few."""
    left, count = num_gpus, 0
    for server in range(len(free_gpus)):
        part = min(left, placeable(share, server, free_gpus, free, size))
        if part > 0:
            servers[row + count], gpus[row + count] = server, part
            count += 1
            left -= part
            if left == 0:
                return count
    return 0


@compiled
def _set_peers_back(
    num_gpus: Ints,
    job: int,
    share: Floats,
    wish: Floats,
    above_fair: Flags,
    fair: Floats,
    free_gpus: Ints,
    free: Floats,
    on_server: Ints,
    jobs_on: Ints,
    offsets: Ints,
    servers: Ints,
    gpus: Ints,
    to_fair: Flags,
) -> None:
    """Set peers back to the fair share on the servers with the fewest free GPUs."""
    left = num_gpus[job]
    seen = np.zeros(len(free_gpus), dtype=np.bool_)
    while left > 0:
        chosen, fewest = -1, np.iinfo(np.int64).max
        for server in range(len(free_gpus)):
            if seen[server] or free_gpus[server] == 0:
                continue
            if num_gpus[job] > 1 and left == num_gpus[job] and free_gpus[server] >= left:
                # The first server with room for all of a job's GPUs.
                chosen = server
                break
            if free_gpus[server] < fewest:
                chosen, fewest = server, free_gpus[server]
        if chosen < 0:
            return
        seen[chosen] = True
        part = min(left, free_gpus[chosen])
        left -= part
        need = np.maximum(share * part - free[chosen], 0.0)
        if not need.any():
            continue
        peers = on_server[chosen, : jobs_on[chosen]]
        for peer in peers[_peer_order(peers, wish, fair, offsets, to_fair)]:
            here = 0
            for row in range(offsets[peer], offsets[peer + 1]):
                if servers[row] == chosen:
                    here += gpus[row]
            held = fair if to_fair[peer] else wish[peer]
            need = np.maximum(need - np.maximum(held - fair, 0.0) * here, 0.0)
            if above_fair[peer] and not to_fair[peer]:
                to_fair[peer] = True
                for row in range(offsets[peer], offsets[peer + 1]):
                    free[servers[row]] += (wish[peer] - fair) * gpus[row]
            if not need.any():
                break


@compiled
def _peer_order(peers: Ints, wish: Floats, fair: Floats, offsets: Ints, to_fair: Flags) -> Ints:
    """Positions of ``peers``: on the fewest servers, then most CPUs, then most memory per GPU."""
    order = np.arange(len(peers))
    # Insertion sort: a server has a handful of jobs, and the order among equals has to stay.
    for index in range(1, len(order)):
        current = order[index]
        place = index
        while place > 0 and _comes_before(
            peers[current], peers[order[place - 1]], wish, fair, offsets, to_fair
        ):
            order[place] = order[place - 1]
            place -= 1
        order[place] = current
    return order


@compiled
def _comes_before(
    one: int, other: int, wish: Floats, fair: Floats, offsets: Ints, to_fair: Flags
) -> bool:
    servers_of_one = offsets[one + 1] - offsets[one]
    servers_of_other = offsets[other + 1] - offsets[other]
    if servers_of_one != servers_of_other:
        return bool(servers_of_one < servers_of_other)
    held_by_one = fair if to_fair[one] else wish[one]
    held_by_other = fair if to_fair[other] else wish[other]
    if held_by_one[0] != held_by_other[0]:
        return bool(held_by_one[0] > held_by_other[0])
    return bool(held_by_one[1] > held_by_other[1])
