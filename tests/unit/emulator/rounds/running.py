"""Jobs whose workers have reported, as the controller keeps them."""

from __future__ import annotations

from typing import Any

from emulator.rounds.lease import Held, Lease
from emulator.rounds.running_job import RunningJob, RunningWorker
from emulator.rounds.steps import WorkerWork
from emulator.training.specification import Pipeline, PipelineShare
from traces.stage_costs import StageCosts

ITERATIONS_PER_STEP = 4.0


def report_of(
    steps: float, spans: list[list[float]] | None = None, demanded_cpu_s: float = 0.0
) -> dict[str, Any]:
    loader = {"demanded_cpu_s": demanded_cpu_s, "hits": 3 * steps, "misses": steps}
    return {"steps": steps, "spans": spans or [], "lateness_s": [1e-5], "loader": loader}


def running_job(
    *reports: dict[str, Any] | None, command: tuple[str, ...] | None = None
) -> RunningJob:
    """One worker for each report, on a server of its own."""
    held = tuple(Held(server, 2, 6.0, 1e9, 1e8) for server in range(len(reports)))
    work = WorkerWork(
        Pipeline(8, 100, 50, 1e-3), PipelineShare(1000, 1), 0.1, ITERATIONS_PER_STEP, 0.5
    )
    lease = Lease("job", 7, held, StageCosts(0.1, 0.2), 80.0, 20.0, True, command=command)
    return RunningJob(
        lease,
        [
            RunningWorker(rank, held[rank], work, rank, None, report=report)
            for rank, report in enumerate(reports)
        ],
    )
