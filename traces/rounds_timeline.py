"""A run of rounds as a Chrome trace (Trace Event Format), which Perfetto opens. Pure."""

from __future__ import annotations

import heapq
import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

MOST_OF_A_KIND = 100_000
"""Jobs, leases, steps and samples of links that a trace has, each; viewers get slow beyond."""

Event = dict[str, object]


@dataclass(frozen=True)
class RunTables:
    """One arm with one seed: the rows of its tables (traces/rounds_results.py).

    end_s: when it ended. steps, links: empty where it was simulated.
    """

    name: str
    jobs: pd.DataFrame
    leases: pd.DataFrame
    steps: pd.DataFrame
    links: pd.DataFrame
    end_s: float


def rounds_trace(
    runs: Sequence[RunTables], window_s: tuple[float, float] = (0.0, math.inf)
) -> dict[str, object]:
    """Of every run its queue, a track for each GPU of each server, and what its links carried.

    window_s: from when to when steps and links are in it. What is beyond MOST_OF_A_KIND is left
    out, the latest of each run first, and counted in ``otherData``.
    """
    events: list[Event] = []
    left_out = dict.fromkeys(("jobs", "leases", "steps", "links"), 0)
    pids = itertools.count(1)
    most = MOST_OF_A_KIND // max(len(runs), 1)
    for run in runs:
        wanted = {
            "jobs": run.jobs.sort_values("submit_s", kind="stable"),
            "leases": run.leases.sort_values("from_s", kind="stable"),
            "steps": _inside(run.steps, "start_s", window_s),
            "links": _inside(run.links, "t_s", window_s),
        }
        for kind, rows in wanted.items():
            left_out[kind] += max(len(rows) - most, 0)
        jobs, leases, steps, links = (rows.head(most) for rows in wanted.values())
        kept = RunTables(run.name, jobs, leases, steps, links, run.end_s)
        events += _queue_events(kept, next(pids))
        events += _server_events(kept, pids)
        events += _link_events(kept, pids)
    return {
        "traceEvents": events,
        "displayTimeUnit": "ms",
        "otherData": {f"left out: {kind}": count for kind, count in left_out.items()},
    }


def _inside(rows: pd.DataFrame, column: str, window_s: tuple[float, float]) -> pd.DataFrame:
    at_s = rows[column]
    found: pd.DataFrame = rows[(at_s >= window_s[0]) & (at_s < window_s[1])]
    return found.sort_values(column, kind="stable")


def _queue_events(run: RunTables, pid: int) -> Iterator[Event]:
    """How many jobs wait and run, and each job's waits as spans of its own."""
    yield from _named(pid, f"{run.name}: queue")
    held: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for lease in _rows(run.leases):
        held[str(lease.job)].append((float(lease.from_s), float(lease.until_s)))
    changes: dict[float, list[int]] = defaultdict(lambda: [0, 0])
    for number, job in enumerate(_rows(run.jobs)):
        end_s = run.end_s if math.isnan(_seconds(job.finish_s)) else _seconds(job.finish_s)
        free_s = _seconds(job.submit_s)
        for from_s, until_s in [*held[str(job.job)], (end_s, end_s)]:
            if from_s > free_s:
                changes[free_s][0] += 1
                changes[from_s][0] -= 1
                name = {"pid": pid, "cat": "queue", "id": number, "name": str(job.job)}
                yield {**name, "ph": "b", "ts": _us(free_s)}
                yield {**name, "ph": "e", "ts": _us(from_s)}
            if until_s > from_s:
                changes[from_s][1] += 1
                changes[until_s][1] -= 1
            free_s = max(free_s, until_s)
    waiting = running = 0
    for at_s, (more_waiting, more_running) in sorted(changes.items()):
        waiting, running = waiting + more_waiting, running + more_running
        counts = {"waiting": waiting, "running": running}
        yield {"pid": pid, "name": "jobs", "ph": "C", "ts": _us(at_s), "args": counts}


def _server_events(run: RunTables, pids: Iterator[int]) -> Iterator[Event]:
    """A process for each server, with two threads for each GPU: who holds it, and its steps."""
    models = {str(job.job): str(job.model) for job in _rows(run.jobs)}
    process: dict[int, int] = {}
    named: set[tuple[int, int]] = set()
    first_gpu: dict[tuple[str, int], list[tuple[float, int]]] = defaultdict(list)
    for server in sorted(set(run.leases["server"])):
        process[int(server)] = next(pids)
        whose = "all servers" if server < 0 else f"server {server}"
        yield from _named(process[int(server)], f"{run.name}: {whose}")
    for lease, gpus in with_gpus(run.leases):
        pid = process[int(lease.server)]
        first_gpu[str(lease.job), int(lease.server)].append((float(lease.from_s), gpus[0]))
        arguments = {
            "model": models.get(str(lease.job), ""),
            "CPUs": round(float(lease.cpus), 3),
            "memory in GB": round(float(lease.memory_bytes) / 1e9, 3),
        }
        for gpu in gpus:
            if (pid, gpu) not in named:
                named.add((pid, gpu))
                yield _thread(pid, 2 * gpu + 1, f"GPU {gpu}")
            yield {
                "pid": pid,
                "tid": 2 * gpu + 1,
                "ph": "X",
                "cat": "lease",
                "name": str(lease.job),
                "args": arguments,
                **_span(float(lease.from_s), float(lease.until_s)),
            }
    yield from _step_events(run.steps, process, first_gpu)


def _step_events(
    steps: pd.DataFrame,
    process: dict[int, int],
    first_gpu: dict[tuple[str, int], list[tuple[float, int]]],
) -> Iterator[Event]:
    """The steps of a job are drawn once, below the first of the GPUs that it holds on a server."""
    named: set[tuple[int, int]] = set()
    for step in _rows(steps):
        server, start_s, stall_s = int(step.server), float(step.start_s), float(step.stall_s)
        leases = first_gpu.get((str(step.job), server))
        if leases is None:  # its lease is among those that are left out
            continue
        gpu = next((gpu for from_s, gpu in reversed(leases) if from_s <= step.end_s), leases[0][1])
        pid, tid = process[server], 2 * gpu + 2
        if (pid, gpu) not in named:
            named.add((pid, gpu))
            yield _thread(pid, tid, f"GPU {gpu}: steps")
        place: Event = {"pid": pid, "tid": tid, "ph": "X"}
        if stall_s > 0:
            waits = {"cat": "stall", "name": "waits for data"}
            yield {**place, **waits, **_span(start_s - stall_s, start_s)}
        name = f"{step.job}: {float(step.iterations):g} iterations"
        yield {**place, "cat": "step", "name": name, **_span(start_s, float(step.end_s))}


def with_gpus(leases: pd.DataFrame) -> Iterator[tuple[Any, list[int]]]:
    """(lease, the numbers of its GPUs on its server), in order of their beginning.

    The tables say how many GPUs a lease has. Which ones is decided here: those that the job had
    before, where they are free, else the lowest.
    """
    ends: dict[int, list[tuple[float, int, list[int]]]] = defaultdict(list)
    free: dict[int, list[int]] = defaultdict(list)
    known: dict[int, int] = defaultdict(int)
    before: dict[tuple[str, int], list[int]] = {}
    order = itertools.count()
    for from_s, together in itertools.groupby(_rows(leases), key=lambda lease: lease.from_s):
        # Whoever goes on comes first: nobody takes its GPUs.
        for lease in sorted(together, key=lambda lease: (lease.job, lease.server) not in before):
            server, wanted = int(lease.server), max(math.ceil(float(lease.gpus)), 1)
            ending, idle = ends[server], free[server]
            while ending and ending[0][0] <= from_s:
                idle += heapq.heappop(ending)[2]
            while len(idle) < wanted:
                idle.append(known[server])
                known[server] += 1
            own = [gpu for gpu in before.get((lease.job, server), []) if gpu in idle]
            gpus = sorted([*own, *sorted(set(idle) - set(own))][:wanted])
            free[server] = [gpu for gpu in idle if gpu not in gpus]
            before[lease.job, server] = gpus
            heapq.heappush(ending, (float(lease.until_s), next(order), gpus))
            yield lease, gpus


def _link_events(run: RunTables, pids: Iterator[int]) -> Iterator[Event]:
    """A counter for each port."""
    if run.links.empty:
        return
    pid = next(pids)
    yield from _named(pid, f"{run.name}: links")
    for row in _rows(run.links):
        rate = {"Gbit/s": round(float(row.rate_bps) / 1e9, 4)}
        yield {
            "pid": pid,
            "name": str(row.port),
            "ph": "C",
            "ts": _us(float(row.t_s)),
            "args": rate,
        }


def _rows(frame: pd.DataFrame) -> Iterator[Any]:
    """Rows with the columns as attributes, which pandas cannot say the types of."""
    yield from frame.itertuples(index=False)


def _named(pid: int, name: str) -> Iterator[Event]:
    for kind, arguments in (
        ("process_name", {"name": name}),
        ("process_sort_index", {"sort_index": pid}),
    ):
        yield {"name": kind, "ph": "M", "pid": pid, "tid": 0, "args": arguments}


def _thread(pid: int, tid: int, name: str) -> Event:
    return {"name": "thread_name", "ph": "M", "pid": pid, "tid": tid, "args": {"name": name}}


def _span(start_s: float, end_s: float) -> Event:
    return {"ts": _us(start_s), "dur": round((end_s - start_s) * 1e6, 3)}


def _us(seconds: float) -> float:
    return round(seconds * 1e6, 3)


def _seconds(value: Any) -> float:
    return math.nan if value is None or value is pd.NA else float(value)
