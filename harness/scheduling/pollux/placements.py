"""What Pollux thinks of a placement of all jobs (OSDI'21, section 4.2). Pure; compiled loops.

A placement is an array (jobs, servers) of GPUs; placements are (placements, jobs, servers).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.job_table import Floats, Ints
from traces.compiled import compiled

Placements = NDArray[np.int16]

MOST_SERVERS = 16
"""Of one job."""

_FLOOR = 1e-3  # of a job's part in the mean, so that a job without GPUs leaves it above zero


@dataclass(frozen=True)
class Problem:
    """The jobs to place, in the order in which a GPU that two want goes to the first.

    server_gpus: (servers,). held: (jobs, servers), where each is now. speedup: (jobs, 2, GPUs + 1)
    of each on one server [0] and on several [1], over what it has with a fair share. moved:
    (jobs,), the factor on a job's speedup where it is placed other than it is held. most_gpus:
    (jobs,).
    """

    server_gpus: Ints
    held: Placements
    speedup: Floats
    moved: Floats
    most_gpus: Ints

    def values(self, placements: Placements) -> Floats:
        """(placements, 2): fitness and utility, the two to maximise.

        Fitness: the harmonic mean over jobs of the speedup, scaled so that a job with a server's
        share of all GPUs and no speedup from it has one. Utility: the mean speedup for each GPU of
        the servers in use.
        """
        return _values(placements, self.server_gpus, self.held, self.speedup, self.moved)

    def repair(self, placements: Placements, rng: np.random.Generator) -> None:
        """Make ``placements`` valid in place; see `repair`."""
        for placement in placements:
            repair(placement, self.server_gpus, self.most_gpus, rng)


@compiled
def _values(
    placements: Placements,
    server_gpus: Ints,
    held: Placements,
    speedup: Floats,
    moved: Floats,
) -> Floats:
    count, jobs, servers = placements.shape
    a_server = servers / server_gpus.sum()
    values = np.empty((count, 2))
    used = np.empty(servers, dtype=np.bool_)
    for each in range(count):
        used[:] = False
        inverse, together = 0.0, 0.0
        for job in range(jobs):
            gpus, on_servers, stays = 0, 0, True
            for server in range(servers):
                here = placements[each, job, server]
                if here != held[job, server]:
                    stays = False
                if here:
                    gpus += here
                    on_servers += 1
                    used[server] = True
            faster = speedup[job, 1 if on_servers > 1 else 0, gpus]
            together += faster
            inverse += 1 / (_FLOOR + a_server * faster * (1.0 if stays else moved[job]))
        in_use = 0
        for server in range(servers):
            if used[server]:
                in_use += server_gpus[server]
        values[each, 0] = jobs / inverse
        values[each, 1] = together / in_use if in_use else 0.0
    return values


@compiled
def repair(
    placement: Placements, server_gpus: Ints, most_gpus: Ints, rng: np.random.Generator
) -> None:
    """Make one (jobs, servers) ``placement`` valid, in place, by taking GPUs away.

    On each server only the first of the jobs that span several stays, so that no two compete for
    its network. A job keeps at most its ``most_gpus``, on at most 16 servers, which are drawn. Then
    the GPUs of a server go to the first jobs.
    """
    jobs, servers = placement.shape
    taken = np.zeros(servers, dtype=np.bool_)
    for job in range(jobs):
        on_servers = 0
        for server in range(servers):
            if placement[job, server]:
                on_servers += 1
        if on_servers > 1:
            for server in range(servers):
                if placement[job, server]:
                    if taken[server]:
                        placement[job, server] = 0
                    taken[server] = True
    for job in range(jobs):
        _limit(placement[job], most_gpus[job], rng)
    for server in range(servers):
        free = server_gpus[server]
        for job in range(jobs):
            kept = min(placement[job, server], free)
            placement[job, server] = kept
            free -= kept


@compiled
def _limit(row: Placements, most_gpus: int, rng: np.random.Generator) -> None:
    """Take GPUs away from the (servers,) of one job that are last in an order that is drawn."""
    gpus, on_servers = 0, 0
    for here in row:
        gpus += here
        on_servers += here > 0
    if gpus <= most_gpus and on_servers <= MOST_SERVERS:
        return
    order = np.arange(len(row))
    free, free_servers = most_gpus, MOST_SERVERS
    for position in range(len(row)):
        drawn = rng.integers(position, len(row))
        server = order[drawn]
        order[drawn] = order[position]
        kept = min(row[server], free) if free_servers else 0
        row[server] = kept
        if kept:
            free -= kept
            free_servers -= 1
