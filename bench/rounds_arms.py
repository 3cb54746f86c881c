"""Arms of rounds that several benchmarks share, and the time that one takes."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from harness.experiments.rounds.run import run_workload
from harness.experiments.rounds.workload import build_workload
from traces.job_trace import JobTrace
from traces.rounds_scenario import (
    ClusterSpec,
    MeasureSpec,
    RoundsArm,
    SchedulerSpec,
    SimulationSpec,
    WorkloadSpec,
)
from traces.sensitivity import builtin_sensitivities

DATA = Path(__file__).parents[2] / "shared" / "data"
"""Published traces, where they lie beside the checkout."""

SPLIT = {"image": 20.0, "language": 70.0, "speech": 10.0}


def arm_of(
    servers: int,
    scheduler: SchedulerSpec,
    simulation: SimulationSpec | None = None,
    measure: MeasureSpec | None = None,
) -> RoundsArm:
    """Servers of 8 GPUs, 24 CPUs and 500 GB; Synergy's ten models."""
    return RoundsArm(
        name="bench",
        pool=ClusterSpec(servers=servers, memory="500 GB").pool(),  # type: ignore[arg-type]
        workload=WorkloadSpec(trace="none", split=SPLIT),
        sensitivities=builtin_sensitivities("synergy"),
        scheduler=scheduler,
        simulation=simulation or SimulationSpec(),
        measure=measure or MeasureSpec(),
        directory=Path(),
    )


def simulated_in_s(arm: RoundsArm, trace: JobTrace, runs: int) -> float:
    """Median time of ``runs`` simulations of a trace in memory, from its table to the last job."""
    taken_s = []
    for _ in range(runs):
        began_s = time.perf_counter()
        run_workload(arm, 1, build_workload(arm, trace, seed=1))
        taken_s.append(time.perf_counter() - began_s)
    return statistics.median(taken_s)
