"""Best fit with TUNE's recourse: hold a job, then its peers, to the fair share (Synergy, 4.3).

The proportional mechanism is the same packing with the fair share as everybody's wish.

Why a job whose GPUs are free always finds its place: once every job that holds more than the fair
share of some resource is held to it, the jobs on a server hold at most the fair share times their
GPUs of every resource, which leaves at least the fair share for each free GPU.
"""

from __future__ import annotations

import numpy as np

from harness.job_table import Flags, Floats, Ints
from harness.scheduling.packing.servers import SLACK, best_server, fits, placeable, take
from traces.compiled import compiled

_NO_SHARE = np.zeros(3)


@compiled
def pack(
    num_gpus: Ints,
    alike: Ints,
    wish: Floats,
    above_fair: Flags,
    fair: Floats,
    order: Ints,
    held_offsets: Ints,
    held_servers: Ints,
    held_gpus: Ints,
    num_servers: int,
    server_gpus: int,
    size: Floats,
    balanced: bool,
) -> tuple[Ints, Ints, Ints, Flags]:
    """Pack jobs, all of whose GPUs there are, onto like servers.

    num_gpus: (jobs,). alike: (jobs,), equal for jobs that wish for the same. wish: (jobs,
    RESOURCES) per GPU. above_fair: (jobs,), whether the wish exceeds ``fair`` (RESOURCES, per
    GPU). order: (jobs,), from the largest demand to the smallest. held_*: what each job held
    before, as in an Allocation. server_gpus, size: GPUs and RESOURCES of one server. balanced: the
    placement, see Placement.

    Returns (offsets, servers, gpus) as in an Allocation, and (jobs,) whether a job is held to its
    fair share. Where everybody's wish fits without moving anybody, nobody is moved; else all are
    packed anew, and jobs that are alike swap places so that as many as possible stay.
    """
    jobs = len(num_gpus)
    most_rows = num_gpus.sum()
    row_job = np.empty(most_rows, dtype=np.int64)
    row_server = np.empty(most_rows, dtype=np.int64)
    row_gpus = np.empty(most_rows, dtype=np.int64)
    to_fair = np.zeros(jobs, dtype=np.bool_)

    rows = _keep(
        num_gpus, wish, order, held_offsets, held_servers, held_gpus,
        num_servers, server_gpus, size, balanced, row_job, row_server, row_gpus,
    )  # fmt: skip
    if rows < 0:
        rows = _pack_anew(
            num_gpus, alike, wish, above_fair, fair, order,
            num_servers, server_gpus, size, balanced, row_job, row_server, row_gpus, to_fair,
        )  # fmt: skip
        _swap_alike(
            alike, held_offsets, held_servers, rows, num_servers, row_job, row_server, to_fair
        )

    offsets = np.zeros(jobs + 1, dtype=np.int64)
    for row in range(rows):
        offsets[row_job[row] + 1] += 1
    offsets = np.cumsum(offsets)
    cursor = offsets[:-1].copy()
    servers = np.empty(rows, dtype=np.int64)
    gpus = np.empty(rows, dtype=np.int64)
    for row in range(rows):
        job = row_job[row]
        servers[cursor[job]] = row_server[row]
        gpus[cursor[job]] = row_gpus[row]
        cursor[job] += 1
    return offsets, servers, gpus, to_fair


@compiled
def _whole_servers(num_servers: int, server_gpus: int, size: Floats) -> tuple[Ints, Floats]:
    """Free GPUs (servers,) and RESOURCES (servers, 3) of empty servers."""
    free_gpus = np.full(num_servers, server_gpus, dtype=np.int64)
    free = np.empty((num_servers, len(size)))
    for resource in range(len(size)):
        free[:, resource] = size[resource]
    return free_gpus, free


@compiled
def _keep(
    num_gpus: Ints,
    wish: Floats,
    order: Ints,
    held_offsets: Ints,
    held_servers: Ints,
    held_gpus: Ints,
    num_servers: int,
    server_gpus: int,
    size: Floats,
    balanced: bool,
    row_job: Ints,
    row_server: Ints,
    row_gpus: Ints,
) -> int:
    """Fill the rows with everybody's wish where nobody has to move; return their number, or -1."""
    free_gpus, free = _whole_servers(num_servers, server_gpus, size)
    rows = 0
    for job in range(len(num_gpus)):
        for held in range(held_offsets[job], held_offsets[job + 1]):
            server, gpus = held_servers[held], held_gpus[held]
            if not fits(gpus, wish[job], server, free_gpus, free, size):
                return -1
            take(gpus, wish[job], server, free_gpus, free)
            row_job[rows], row_server[rows], row_gpus[rows] = job, server, gpus
            rows += 1
    for job in order:
        if held_offsets[job] < held_offsets[job + 1]:
            continue
        if num_gpus[job] > server_gpus:
            rows = _split(
                job, num_gpus[job], wish[job], wish[job], server_gpus, size,
                free_gpus, free, rows, row_job, row_server, row_gpus,
            )  # fmt: skip
            if rows < 0:
                return -1
        else:
            server = best_server(
                num_gpus[job], wish[job], server_gpus, free_gpus, free, size, balanced
            )
            if server < 0:
                return -1
            take(num_gpus[job], wish[job], server, free_gpus, free)
            row_job[rows], row_server[rows], row_gpus[rows] = job, server, num_gpus[job]
            rows += 1
    return rows


@compiled
def _split(
    job: int,
    num_gpus: int,
    share: Floats,
    charged: Floats,
    server_gpus: int,
    size: Floats,
    free_gpus: Ints,
    free: Floats,
    rows: int,
    row_job: Ints,
    row_server: Ints,
    row_gpus: Ints,
) -> int:
    """Spread a job over servers, as few as go, each GPU with ``share``.

    charged: what each GPU then takes. Returns the number of rows, or -1 if it does not fit, which
    leaves everything as it was.
    """
    first, left = rows, num_gpus
    while left > 0:
        most_server, most = -1, 0
        tight_server, tight = -1, np.iinfo(np.int64).max
        for server in range(len(free_gpus)):
            room = placeable(share, server, free_gpus, free, size)
            if room > most:
                most_server, most = server, room
            if left <= room < tight:
                tight_server, tight = server, room
        if most_server < 0:
            for row in range(first, rows):
                take(-row_gpus[row], charged, row_server[row], free_gpus, free)
            return -1
        server, gpus = (tight_server, left) if tight_server >= 0 else (most_server, most)
        take(gpus, charged, server, free_gpus, free)
        row_job[rows], row_server[rows], row_gpus[rows] = job, server, gpus
        rows += 1
        left -= gpus
    return rows


@compiled
def _pack_anew(
    num_gpus: Ints,
    alike: Ints,
    wish: Floats,
    above_fair: Flags,
    fair: Floats,
    order: Ints,
    num_servers: int,
    server_gpus: int,
    size: Floats,
    balanced: bool,
    row_job: Ints,
    row_server: Ints,
    row_gpus: Ints,
    to_fair: Flags,
) -> int:
    """Pack all jobs onto empty servers; fill the rows and ``to_fair``; return the rows' number."""
    free_gpus, free = _whole_servers(num_servers, server_gpus, size)
    # The rows of each server as a list: the newest, and the one before each.
    newest = np.full(num_servers, -1, dtype=np.int64)
    before = np.full(len(row_job), -1, dtype=np.int64)
    first_row = np.zeros(len(num_gpus), dtype=np.int64)
    rows = 0
    last_alike, last_server = -1, -1
    for job in order:
        gpus = num_gpus[job]
        first_row[job] = rows
        server = -1
        if gpus <= server_gpus:
            # After a job like this one, the fullest server on which it fits is still the same.
            if (
                not balanced
                and alike[job] == last_alike
                and fits(gpus, wish[job], last_server, free_gpus, free, size)
            ):
                server = last_server
            else:
                server = best_server(gpus, wish[job], server_gpus, free_gpus, free, size, balanced)
            if server >= 0:
                last_alike, last_server = alike[job], server
            elif above_fair[job]:
                to_fair[job] = True
                server = best_server(gpus, fair, server_gpus, free_gpus, free, size, balanced)
            if server < 0:
                server = best_server(gpus, _NO_SHARE, server_gpus, free_gpus, free, size, False)
        if server >= 0:
            take(gpus, fair if to_fair[job] else wish[job], server, free_gpus, free)
            row_job[rows], row_server[rows], row_gpus[rows] = job, server, gpus
            rows += 1
        else:
            last_alike = -1
            to_fair[job] = False
            after = _split(
                job, gpus, wish[job], wish[job], server_gpus, size,
                free_gpus, free, rows, row_job, row_server, row_gpus,
            )  # fmt: skip
            if after < 0 and above_fair[job]:
                to_fair[job] = True
                after = _split(
                    job, gpus, fair, fair, server_gpus, size,
                    free_gpus, free, rows, row_job, row_server, row_gpus,
                )  # fmt: skip
            if after < 0:
                after = _split(
                    job, gpus, _NO_SHARE, fair if to_fair[job] else wish[job], server_gpus, size,
                    free_gpus, free, rows, row_job, row_server, row_gpus,
                )  # fmt: skip
            rows = after
        for row in range(first_row[job], rows):
            before[row] = newest[row_server[row]]
            newest[row_server[row]] = row
        _reclaim(
            wish, above_fair, fair, size, free, rows, first_row, newest, before,
            job, row_job, row_server, row_gpus, to_fair,
        )  # fmt: skip
    return rows


@compiled
def _short_of(server: int, free: Floats, size: Floats) -> int:
    """The first resource of which ``server`` gives more than it has, or -1."""
    for resource in range(len(size)):
        if free[server, resource] < -SLACK * size[resource]:
            return resource
    return -1


@compiled
def _reclaim(
    wish: Floats,
    above_fair: Flags,
    fair: Floats,
    size: Floats,
    free: Floats,
    rows: int,
    first_row: Ints,
    newest: Ints,
    before: Ints,
    placed: int,
    row_job: Ints,
    row_server: Ints,
    row_gpus: Ints,
    to_fair: Flags,
) -> None:
    """After ``placed`` was placed, hold its peers to the fair share until no server is overdrawn.

    The peer with the largest excess of what is short comes first. Only the servers of ``placed``
    can be overdrawn, and those of a peer that is held.
    """
    pending = np.empty(2 * rows, dtype=np.int64)
    count = 0
    for row in range(first_row[placed], rows):
        pending[count] = row_server[row]
        count += 1
    while count > 0:
        server = pending[count - 1]
        short = _short_of(server, free, size)
        if short < 0:
            count -= 1
            continue
        peer, most = -1, 0.0
        row = newest[server]
        while row >= 0:
            job = row_job[row]
            excess = wish[job, short] - fair[short]
            if above_fair[job] and not to_fair[job] and excess > most:
                peer, most = job, excess
            row = before[row]
        to_fair[peer] = True
        row = first_row[peer]
        while row < rows and row_job[row] == peer:
            for resource in range(len(size)):
                difference = wish[peer, resource] - fair[resource]
                free[row_server[row], resource] += difference * row_gpus[row]
            # A peer may get more of one resource while it gives another back.
            if row_server[row] != server:
                pending[count] = row_server[row]
                count += 1
            row += 1


@compiled
def _swap_alike(
    alike: Ints,
    held_offsets: Ints,
    held_servers: Ints,
    rows: int,
    num_servers: int,
    row_job: Ints,
    row_server: Ints,
    to_fair: Flags,
) -> None:
    """Let jobs that are alike, each on one server, swap places so that more of them stay.

    First those that find their old server among the places of their like, then the others in order.
    """
    jobs = len(alike)
    single = np.zeros(jobs, dtype=np.int64)
    for row in range(rows):
        single[row_job[row]] += 1
    kinds = alike.max() + 1 if jobs else 0
    # Free places as lists by (kind, server): first place, and the next after each.
    head = np.full(kinds * num_servers, -1, dtype=np.int64)
    after = np.full(rows, -1, dtype=np.int64)
    for row in range(rows - 1, -1, -1):
        if single[row_job[row]] == 1:
            place = alike[row_job[row]] * num_servers + row_server[row]
            after[row] = head[place]
            head[place] = row
    taken = np.zeros(rows, dtype=np.bool_)
    new_job = row_job.copy()
    new_to_fair = to_fair.copy()
    moved = np.empty(jobs, dtype=np.int64)
    count = 0
    for job in range(jobs):
        if single[job] != 1:
            continue
        row = -1
        if held_offsets[job + 1] - held_offsets[job] == 1:
            place = alike[job] * num_servers + held_servers[held_offsets[job]]
            row = head[place]
        if row >= 0:
            head[place] = after[row]
            taken[row] = True
            new_job[row] = job
            new_to_fair[job] = to_fair[row_job[row]]
        else:
            moved[count] = job
            count += 1
    # The others: each takes the next place of its like that is left.
    next_row = np.zeros(kinds, dtype=np.int64)
    for index in range(count):
        job = moved[index]
        row = next_row[alike[job]]
        while taken[row] or single[row_job[row]] != 1 or alike[row_job[row]] != alike[job]:
            row += 1
        taken[row] = True
        next_row[alike[job]] = row + 1
        new_job[row] = job
        new_to_fair[job] = to_fair[row_job[row]]
    row_job[:] = new_job
    to_fair[:] = new_to_fair
