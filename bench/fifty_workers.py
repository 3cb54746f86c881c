"""Figures of fifty workers at once: start, the controller's load, lateness of timers."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bench.figures import Figure
from emulator.coordinator import START_LEAD_S, now_s, run_jobs
from emulator.jobs import start_jobs
from emulator.networks import plan_arm
from emulator.scale import assumed_budget, plan_scale
from emulator.session import Session
from netshaper.run_state import new_run_id
from traces.arm import Arm, Job
from traces.cluster import dumbbell
from traces.demand import Demand, Transfer
from traces.model_profile import ModelProfile

_JOBS = 25
_RUNS = 5
_ITERATIONS = 20
_COMPUTE_S = 0.2
_BYTES = 20e6


@dataclass(frozen=True)
class _Run:
    start_s: float
    controller_share: float
    lateness_p99_s: float


def measure() -> Iterator[Figure]:
    """Medians over five runs of 25 jobs of two workers each, on 50 servers."""
    arm = _arm()
    runs = []
    for number in range(_RUNS):
        runs.append(_run(arm))
        print(f"  run {number + 1}: started in {runs[-1].start_s:.2f} s", flush=True)
    how = f"median of {_RUNS} runs, {2 * _JOBS} workers"
    start_s = statistics.median(run.start_s for run in runs)
    note = f"from the call to the start of the last first iteration; {how}"
    yield Figure("emulator.start_50_workers_s", start_s, "s", 2.0, "at most", None, note)
    share = 100 * statistics.median(run.controller_share for run in runs)
    note = f"of one core; {how}, iterations of {_COMPUTE_S:g} s and more"
    yield Figure("emulator.controller_cpu_pct", share, "%", 10.0, "at most", None, note)
    late_ms = 1e3 * statistics.median(run.lateness_p99_s for run in runs)
    note = f"all workers wake at the same moment; {how}"
    yield Figure("emulator.lateness_50_workers_p99_ms", late_ms, "ms", None, "at most", None, note)


def _arm() -> Arm:
    demand = Demand(_COMPUTE_S, (Transfer(ready_s=_COMPUTE_S, bytes=_BYTES),))
    profile = ModelProfile(
        model="small",
        num_gpus=2,
        demand=demand,
        provenance="reconstructed",
        source="made for this benchmark",
    )
    jobs = tuple(
        Job(id=f"job{n}", profile=profile, servers=(f"left{n}", f"right{n}")) for n in range(_JOBS)
    )
    return Arm(
        name="fifty",
        cluster=dumbbell(_JOBS, _JOBS, 50e9, middle_rate_bps=_JOBS * 50e9),
        dedicated=False,
        jobs=jobs,
        iterations=_ITERATIONS,
        warmup_iterations=0,
    )


def _run(arm: Arm) -> _Run:
    scale = plan_scale([arm], assumed_budget(cores=2))
    with Session(new_run_id()) as session:
        networks = plan_arm(arm, scale, session.state.run_id)
        for network in networks:
            session.build_network(network.plan)
        began_s = now_s()
        runs = start_jobs(session, networks, lambda _: _ITERATIONS, scale, "cubic")
        started_s = now_s() - began_s + START_LEAD_S
        busy_s, wall_s = time.process_time(), now_s()
        run_jobs(runs, now_s() + START_LEAD_S, lambda _: None, lambda: False, session.explain)
        share = (time.process_time() - busy_s) / (now_s() - wall_s)
        late = [late for run in runs for late in run.lateness_s]
        return _Run(started_s, share, float(np.percentile(late, 99)))
