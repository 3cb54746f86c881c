"""The figures of one simulated run: completion times, waiting, load, use of the GPUs. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from harness.experiments.rounds.run import RoundsResult
from harness.job_table import WAYS_TO_LEAVE, Flags, Floats


@dataclass(frozen=True)
class CompletionTimes:
    """Of the jobs that count and have ended, in seconds from submission to end."""

    count: int
    mean: float
    p50: float
    p99: float
    p99_9: float

    @staticmethod
    def of(jct_s: Floats) -> CompletionTimes | None:
        """None where no job has ended."""
        if not len(jct_s):
            return None
        p50, p99, p99_9 = np.percentile(jct_s, (50, 99, 99.9))
        return CompletionTimes(
            len(jct_s), float(jct_s.mean()), float(p50), float(p99), float(p99_9)
        )


def job_states(result: RoundsResult) -> list[str]:
    """(jobs,): ``finished``, or one of WAYS_TO_LEAVE; at the run's end ``running`` or ``waiting``;
    or ``not arrived``."""
    table, end_s = result.workload.table, result.run.end_s
    finished = ~np.isnan(table.finish_s)
    served = (table.last_served_s == end_s) & (table.attained_s > 0)
    arrived = table.ready_s <= end_s
    ways = [~np.isnan(table.left_s) & (table.left_as == way) for way in range(len(WAYS_TO_LEAVE))]
    states = np.select(
        [finished, *ways, arrived & served, arrived],
        ["finished", *WAYS_TO_LEAVE, "running", "waiting"],
        "not arrived",
    )
    return [str(state) for state in states]


def run_document(result: RoundsResult) -> dict[str, Any]:
    """What summary.json says of one seed of an arm.

    Short jobs are those whose duration at the fair share, without waiting, is at most that of
    ``measure.short``: the same ones under every scheduler.
    """
    workload, table = result.workload, result.workload.table
    counted = workload.measured & ~np.isnan(table.finish_s)
    short = workload.alone_s <= result.arm.measure.short
    jct_s = table.finish_s - table.submit_s
    times = {
        "all": CompletionTimes.of(jct_s[counted]),
        "short": CompletionTimes.of(jct_s[counted & short]),
        "long": CompletionTimes.of(jct_s[counted & ~short]),
    }
    waited_s = jct_s - table.attained_s
    states = Counter(job_states(result))
    return {
        "seed": result.seed,
        "source": workload.trace.source,
        "jobs": {
            "read": workload.trace.read,
            "reordered": workload.trace.reordered,
            "notes": list(workload.trace.notes),
            "refused": [asdict(refusal) for refusal in workload.refusals],
            "ran": len(table),
            "counted": int(workload.measured.sum()),
            "counted_and_finished": int(counted.sum()),
            "states": {state: states[state] for state in sorted(states)},
            "not_done": [
                {"job": str(workload.jobs["job"].iloc[row]), "state": WAYS_TO_LEAVE[way]}
                for row, way in enumerate(table.left_as)
                if not np.isnan(table.left_s[row])
            ],
            "requeued": int(table.requeued.sum()),
        },
        "load": _load(result),
        "jct_s": {name: asdict(found) if found else None for name, found in times.items()},
        "waited_mean_s": _mean(waited_s, counted),
        "makespan_s": _makespan_s(result, counted),
        "gpu_utilisation": _gpu_utilisation(result),
        "leases_per_job": _mean(table.leases.astype(float), counted),
        "rounds": result.run.rounds,
        "decisions": result.run.decisions,
        "end_s": result.run.end_s,
        "mechanism": result.figures,
    }


def _mean(values: Floats, of: Flags) -> float | None:
    return float(values[of].mean()) if of.any() else None


def _makespan_s(result: RoundsResult, counted: Flags) -> float | None:
    """From the first submission of a job that counts to the end of the last."""
    table = result.workload.table
    if not counted.any():
        return None
    return float(table.finish_s[counted].max() - table.submit_s[result.workload.measured].min())


def _load(result: RoundsResult) -> float | None:
    """rho: GPU time at the fair share that arrives, over the GPU time that there is meanwhile."""
    table = result.workload.table
    span_s = float(table.submit_s[-1] - table.submit_s[0])
    if span_s <= 0:
        return None
    asked_gpu_s = float((result.workload.alone_s * table.num_gpus).sum())
    return asked_gpu_s / (result.arm.pool.num_gpus * span_s)


def _gpu_utilisation(result: RoundsResult) -> float | None:
    """GPU time that jobs held over the GPU time from the first submission to the run's end."""
    table = result.workload.table
    span_s = result.run.end_s - float(table.submit_s[0])
    if span_s <= 0:
        return None
    held_gpu_s = float((table.attained_s * table.num_gpus).sum())
    return held_gpu_s / (result.arm.pool.num_gpus * span_s)
