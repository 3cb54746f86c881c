"""How fast the round simulator is, and how its time grows."""

from __future__ import annotations

import math
import resource
from collections.abc import Iterator

from bench.figures import Figure
from bench.rounds_arms import DATA, SPLIT, arm_of, simulated_in_s
from traces.formats.traces import read_jobs
from traces.generators.philly_derived import jobs_per_hour_at, philly_derived
from traces.job_trace import JobTrace
from traces.rounds_scenario import MeasureSpec, SchedulerSpec, SimulationSpec
from traces.sensitivity import builtin_sensitivities

_RUNS = 5
_LOAD = 0.9
_PUBLISHED = SimulationSpec(completion="round-end", progress="whole-iterations", speeds="two-point")


def measure() -> Iterator[Figure]:
    """Medians of five runs after one that compiles; a single run where one takes long."""
    warm_up = _generated(1000, 128)
    for mechanism in ("proportional", "tune"):
        simulated_in_s(arm_of(16, SchedulerSpec(mechanism=mechanism)), warm_up, 1)
    yield from _oracle()
    yield from _philly()
    yield from _growth()


def _generated(jobs: int, num_gpus: int) -> JobTrace:
    rate = jobs_per_hour_at(_LOAD, num_gpus, "single")
    return philly_derived(jobs, rate, "single", SPLIT, builtin_sensitivities("synergy"), seed=1)


def _oracle() -> Iterator[Figure]:
    file = DATA / "synergy" / "oracle" / "trace_9jph.csv"
    if not file.is_file():
        print(f"  {file} is absent: no simulation.oracle_fifo_tune_s", flush=True)
        return
    measured = MeasureSpec(first=4000, count=1000)
    arm = arm_of(16, SchedulerSpec(mechanism="tune-published"), _PUBLISHED, measured)
    seconds = simulated_in_s(arm, read_jobs(file), _RUNS)
    note = (
        f"128 GPUs, 9 jobs/h, the published semantics; median of {_RUNS}. The published simulator "
        "is not installable; about 260 s were recorded for it on a machine like this"
    )
    yield Figure("simulation.oracle_fifo_tune_s", seconds, "s", 2.0, "at most", None, note)


def _philly() -> Iterator[Figure]:
    file = DATA / "philly" / "philly.csv"
    if not file.is_file():
        print(f"  {file} is absent: no simulation.philly_*", flush=True)
        return
    trace = read_jobs(file)
    for mechanism, target in (("proportional", 10.0), ("tune", 60.0)):
        arm = arm_of(64, SchedulerSpec(policy="srtf", mechanism=mechanism))
        seconds = simulated_in_s(arm, trace, _RUNS)
        note = f"{len(trace.jobs):,} jobs, 512 GPUs; median of {_RUNS}"
        name = f"simulation.philly_srtf_{mechanism}_s"
        yield Figure(name, seconds, "s", target, "at most", None, note)


def _growth() -> Iterator[Figure]:
    seconds = {}
    for jobs in (10_000, 100_000, 1_000_000):
        runs = _RUNS if jobs < 1_000_000 else 1
        seconds[jobs] = simulated_in_s(arm_of(512, SchedulerSpec()), _generated(jobs, 4096), runs)
        print(f"  {jobs:,} jobs: {seconds[jobs] / jobs * 1e6:.1f} us a job", flush=True)
    note = f"4,096 GPUs, FIFO, proportional, load {_LOAD:g}; one run"
    name = "simulation.million_jobs_fifo_s"
    yield Figure(name, seconds[1_000_000], "s", 60.0, "at most", None, note)
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    note = "most memory of the whole benchmark's process until then"
    yield Figure("simulation.million_jobs_gb", gigabytes, "GB", 4.0, "at most", None, note)
    exponent = math.log10(seconds[1_000_000] / seconds[10_000]) / 2
    note = "slope of log time over log jobs, 10^4 to 10^6, 4,096 GPUs"
    yield Figure("simulation.scaling_exponent", exponent, "", 1.1, "at most", None, note)
    small = simulated_in_s(arm_of(51, SchedulerSpec()), _generated(100_000, 408), _RUNS)
    exponent = math.log10(seconds[100_000] / small) / math.log10(4096 / 408)
    note = (
        "slope of log time over log GPUs for 100,000 jobs at the same load, 408 to 4,096 GPUs "
        f"({small / 1e5 * 1e6:.1f} to {seconds[100_000] / 1e5 * 1e6:.1f} us a job)"
    )
    yield Figure("simulation.gpus_exponent", exponent, "", 1.1, "at most", None, note)
