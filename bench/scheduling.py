"""How long one round's decision takes: TUNE at 512 GPUs, OPT at 128."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import get_args

import numpy as np

from bench.figures import Figure
from bench.rounds_arms import SPLIT, arm_of
from harness.experiments.rounds.workload import build_workload
from harness.scheduling.allocation import Allocation
from harness.scheduling.mechanisms import MECHANISMS
from harness.scheduling.mechanisms.mechanism import Placement
from harness.scheduling.waiting import ActiveJobs
from traces.generators.philly_derived import GpuMix, philly_derived
from traces.rounds_scenario import SchedulerSpec
from traces.sensitivity import builtin_sensitivities

_ROUNDS = 25


def measure() -> Iterator[Figure]:
    """Medians over 25 rounds of new jobs each, all placed from nothing."""
    for placement in ("best-fit", "balanced"):
        seconds = _round_s("tune", placement, 64, "gavel")
        name = "scheduling.tune_round_ms" + ("_balanced" if placement == "balanced" else "")
        note = f"512 GPUs full, jobs of 1-8 GPUs, {placement}, nothing kept; median of {_ROUNDS}"
        yield Figure(name, 1e3 * seconds, "ms", 10.0, "at most", None, note)
    tune_s = _round_s("tune", "best-fit", 16, "single")
    opt_s = _round_s("opt", "super-machine", 16, "single")
    note = f"128 one-GPU jobs of ten models, first programme, nothing kept; median of {_ROUNDS}"
    yield Figure("scheduling.opt_128_s", opt_s, "s", 0.5, "at most", None, note)
    mapped_s = _round_s("opt", "servers", 16, "single")
    note = f"both programmes; median of {_ROUNDS}"
    yield Figure("scheduling.opt_128_mapped_s", mapped_s, "s", 0.5, "at most", None, note)
    note = f"both programmes over TUNE in the same rounds ({1e3 * tune_s:.2f} ms); published: 200"
    ratio = mapped_s / tune_s
    yield Figure("scheduling.opt_over_tune", ratio, "", None, "at least", None, note)


def _round_s(mechanism: str, placement: str, servers: int, mix: GpuMix) -> float:
    """Median time of one decision with more jobs waiting than fit."""
    arm = arm_of(servers, SchedulerSpec(mechanism=mechanism, placement=placement))
    chosen = next(known for known in get_args(Placement) if known == placement)
    taken_s = []
    for seed in range(_ROUNDS + 1):
        trace = philly_derived(
            12 * servers, 1e6, mix, SPLIT, builtin_sensitivities("synergy"), seed
        )
        workload = build_workload(arm, trace, seed)
        decide = MECHANISMS[mechanism](workload.demands, arm.pool, chosen)
        jobs = np.arange(len(workload.table))
        active = ActiveJobs(
            jobs,
            0.0,
            workload.table,
            workload.demands,
            arm.pool,
            decide.iteration_s_by_kind,
            decide.iteration_s_by_kind[workload.table.kind],
        )
        began_s = time.perf_counter()
        decide.allocate(active, jobs, Allocation.nothing())
        taken_s.append(time.perf_counter() - began_s)
    return statistics.median(taken_s[1:])  # the first may compile
