"""The jobs of an arm: read or made up, given models, and turned into the arrays of a run."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from harness.job_table import Flags, Floats, Ints, JobTable
from harness.scheduling.demands import Demands, JobKind, build_demands, insensitive_demands
from traces.errors import BadInputError
from traces.formats.traces import read_jobs
from traces.generators.models import draw_models
from traces.generators.philly_derived import jobs_per_hour_at, philly_derived
from traces.job_trace import MAX_TIME_S, JobTrace
from traces.rounds_scenario import RoundsArm

_LINES_NAMED = 5


@dataclass(frozen=True)
class Refusal:
    """Jobs that a run leaves out, and why. where: lines of the first of them, in words."""

    reason: str
    count: int
    where: str


@dataclass(frozen=True)
class Workload:
    """The jobs of one run. jobs: the rows of the trace that run, in the order of ``table``.

    measured: (jobs,), those that count. alone_s: (jobs,) duration at the fair share, without
    waiting, on the type of GPU that suits the job best.
    """

    trace: JobTrace
    jobs: pd.DataFrame
    table: JobTable
    demands: Demands
    measured: Flags
    alone_s: Floats
    refusals: tuple[Refusal, ...]


def is_random(arm: RoundsArm) -> bool:
    """Whether another seed makes another workload. Reads the trace where that is the question."""
    if arm.workload.generate is not None:
        return True
    return bool(arm.workload.split) and bool(trace_of(arm, seed=0).jobs["model"].isna().any())


def trace_of(arm: RoundsArm, seed: int) -> JobTrace:
    """The trace of ``arm``: its file, or what its generator makes with ``seed``."""
    file, workload = arm.trace_file, arm.workload
    if file is not None:
        return _read(file, workload.format)
    generate = workload.generate
    if generate is None:
        raise BadInputError("there are no jobs", allowed="trace or generate", key="workload")
    rate = generate.jobs_per_hour
    if rate is None:
        rate = jobs_per_hour_at(generate.load or 0.0, arm.pool.num_gpus, generate.gpus)
    return philly_derived(
        generate.jobs, rate, generate.gpus, workload.split, arm.sensitivities, seed
    )


@functools.lru_cache(maxsize=2)
def _read(file: Path, format_name: str | None) -> JobTrace:
    """All arms of a scenario read the same file."""
    return read_jobs(file, format_name)


def build_workload(arm: RoundsArm, trace: JobTrace, seed: int) -> Workload:
    """Arrays for one run. Raises BadInputError with the file and line of a job that is no good."""
    measured = _measured(arm, len(trace.jobs))
    # Models are drawn before jobs are left out: arms with other clusters have the same ones.
    jobs = _with_models(arm, trace.jobs, seed)
    largest = _largest(arm, jobs)
    too_large = jobs["num_gpus"].to_numpy() > largest
    refusals = [
        _refusal(
            f"asks for more than the {most} GPUs of one type that it can run on",
            jobs[too_large & (largest == most)],
        )
        for most in np.unique(largest[too_large])
    ]
    if too_large.any():
        jobs, measured = jobs[~too_large].reset_index(drop=True), measured[~too_large]
    if not measured.any():
        raise BadInputError(
            "no job that counts can run", allowed="jobs that fit the cluster", key="measure"
        )
    num_gpus = jobs["num_gpus"].to_numpy(dtype=np.int64)
    if arm.sensitivities is None:
        kind, iterations, demands = _insensitive(arm, jobs, num_gpus)
    else:
        kind, iterations, demands = _sensitive(arm, jobs, num_gpus)
    slowest_s = demands.fair_iteration_s[np.isfinite(demands.fair_iteration_s)].max()
    if arm.simulation.progress == "whole-iterations" and slowest_s > arm.scheduler.round:
        raise BadInputError(
            f"an iteration takes {slowest_s:.4g} s, longer than a round",
            allowed="longer rounds, or progress: continuous",
            key="simulation.progress",
        )
    table = JobTable.of(
        jobs["submit_s"].to_numpy(dtype=float),
        kind,
        num_gpus,
        iterations,
        arm.simulation.profiling,
    )
    alone_s = iterations * demands.fair_iteration_s.min(axis=1)[kind]
    endless = alone_s > MAX_TIME_S
    if endless.any():
        raise _bad_job(
            arm,
            jobs.iloc[int(np.argmax(endless))],
            f"needs {alone_s.max():.3g} s of work",
            f"at most {MAX_TIME_S:g} s",
        )
    return Workload(trace, jobs, table, demands, measured, alone_s, tuple(refusals))


def _measured(arm: RoundsArm, count: int) -> Flags:
    """(jobs of the trace,): which of them count."""
    first, wanted = arm.measure.first, arm.measure.count
    last = count if wanted is None else first + wanted
    if first >= count or last > count:
        wanted_jobs = f"job {first}" if first >= count else f"jobs {first} to {last - 1}"
        raise BadInputError(
            f"{wanted_jobs} should count, but the trace has {count} jobs",
            allowed=f"jobs 0 to {count - 1}",
            key="measure.first" if first >= count else "measure.count",
        )
    measured = np.zeros(count, dtype=np.bool_)
    measured[first:last] = True
    return measured


def _refusal(reason: str, jobs: pd.DataFrame) -> Refusal:
    """With the lines of the first ones, as far as they come from a file."""
    lines = [int(line) for line in jobs["line"].head(_LINES_NAMED) if line > 0]
    word = "line" if len(lines) == 1 else "lines"
    where = f"{word} {', '.join(map(str, lines))}" if lines else "generated"
    return Refusal(reason, len(jobs), where + (", ..." if len(jobs) > _LINES_NAMED else ""))


def _bad_job(arm: RoundsArm, job: pd.Series, problem: str, allowed: str) -> BadInputError:
    return BadInputError(
        f"job {job['job']!r} {problem}",
        allowed=allowed,
        file=arm.trace_file,
        line=int(job["line"]) or None,
        key=None if arm.trace_file else "workload.profiles",
    )


def _insensitive(
    arm: RoundsArm, jobs: pd.DataFrame, num_gpus: Ints
) -> tuple[Ints, Floats, Demands]:
    """(kind, iterations, demands) where jobs have no profile: their own time of an iteration."""
    iteration_s = jobs["iteration_s"].to_numpy(dtype=float)
    iterations = jobs["iterations"].to_numpy(dtype=float)
    duration_s = jobs["duration_s"].to_numpy(dtype=float)
    counted = np.isfinite(iteration_s) & np.isfinite(iterations)
    unknown = ~counted & ~np.isfinite(duration_s)
    if unknown.any():
        raise _bad_job(
            arm,
            jobs.iloc[int(np.argmax(unknown))],
            "has iterations, and nothing says how long one takes",
            "a trace with durations or iteration times, or profiles",
        )
    # Where only a duration is known, a second of work stands for an iteration.
    iteration_s = np.where(counted, iteration_s, 1.0)
    kinds, kind = np.unique(np.column_stack([num_gpus, iteration_s]), axis=0, return_inverse=True)
    demands = insensitive_demands(
        [int(gpus) for gpus in kinds[:, 0]], [float(one) for one in kinds[:, 1]], arm.pool
    )
    return kind.ravel().astype(np.int64), np.where(counted, iterations, duration_s), demands


def _sensitive(arm: RoundsArm, jobs: pd.DataFrame, num_gpus: Ints) -> tuple[Ints, Floats, Demands]:
    """(kind, iterations, demands) where profiles say how fast models run."""
    sensitivities = arm.sensitivities
    if sensitivities is None:
        raise BadInputError("there are no profiles", allowed="profiles", key="workload.profiles")
    known = {
        model
        for model in sensitivities.models
        if any(sensitivities.find(model, gpu_type) for gpu_type in arm.pool.gpu_types)
    }
    model, names = pd.factorize(jobs["model"].to_numpy(dtype=object), sort=True)
    strange = np.isin(model, [code for code, name in enumerate(names) if name not in known])
    if strange.any():
        index = int(np.argmax(strange))
        raise _bad_job(
            arm,
            jobs.iloc[index],
            f"trains {names[model[index]]!r}, of which there is no profile on "
            f"{' or '.join(arm.pool.gpu_types)}",
            ", ".join(sorted(known)) or "profiles for the cluster's types of GPU",
        )
    pairs, kind = np.unique(np.column_stack([model, num_gpus]), axis=0, return_inverse=True)
    kinds = [JobKind(str(names[m]), int(gpus)) for m, gpus in pairs]
    try:
        demands = build_demands(kinds, sensitivities, arm.pool, arm.simulation.speeds)
    except KeyError as error:
        raise BadInputError(
            f"the two-point speeds are not known: {error.args[0]}",
            allowed="speeds: matrix, or servers with a CPU:GPU ratio that was published",
            key="simulation.speeds",
        ) from None
    except ValueError as error:
        raise BadInputError(
            f"the model {error}",
            allowed="servers with more CPUs or memory, or another profile",
            key="cluster",
        ) from None
    kind = kind.ravel().astype(np.int64)
    iterations = jobs["iterations"].to_numpy(dtype=float)
    duration_s = jobs["duration_s"].to_numpy(dtype=float)
    fair_s = demands.fair_iteration_s.min(axis=1)[kind]
    # A duration is one at the fair share of this cluster.
    from_duration = np.maximum(np.rint(duration_s / fair_s), 1.0)
    return kind, np.where(np.isfinite(iterations), iterations, from_duration), demands


def _with_models(arm: RoundsArm, jobs: pd.DataFrame, seed: int) -> pd.DataFrame:
    """``jobs``, with models drawn by class where profiles are given and the trace names none."""
    unnamed = jobs["model"].isna().to_numpy()
    if arm.sensitivities is None or not unnamed.any():
        return jobs
    if not arm.workload.split:
        raise _bad_job(
            arm,
            jobs.iloc[int(np.argmax(unnamed))],
            "has no model",
            "a trace that names models, 'split' (weights of model classes), or profiles: none",
        )
    random = np.random.default_rng(seed)
    drawn = draw_models(len(jobs), arm.workload.split, arm.sensitivities, random)
    named = jobs["model"].to_numpy(dtype=object)
    return jobs.assign(model=np.where(unnamed, np.array(drawn, dtype=object), named))


def _largest(arm: RoundsArm, jobs: pd.DataFrame) -> Ints:
    """(jobs,): the GPUs of the largest type that each job can run on."""
    groups = arm.pool.groups
    largest = np.full(len(jobs), max(group.count * group.gpus for group in groups))
    if arm.sensitivities is None or len(groups) == 1:
        return largest
    for model in arm.sensitivities.models:
        able = [group for group in groups if arm.sensitivities.find(model, group.gpu_type)]
        if able:
            most = max(group.count * group.gpus for group in able)
            largest[(jobs["model"] == model).to_numpy()] = most
    return largest
