"""From what workers report at a round's end to what the scheduler's loop is told. Pure."""

from __future__ import annotations

from emulator.limits.usage import Usage
from emulator.rounds.lease import JobProgress, JobState, ServerUse
from emulator.rounds.running_job import RunningJob, RunningWorker
from emulator.rounds.steps import Divisors


def progress_of(job: RunningJob, resume_s: float, divisors: Divisors) -> JobProgress:
    """How far ``job``, whose workers have all reported, came in a round that began at ``resume_s``.

    The slowest worker counts: the others cannot go on without it.
    """
    use = tuple(_use(worker, divisors) for worker in job.workers)
    ends_s = [worker.finished_s for worker in job.workers if worker.finished_s is not None]
    if len(ends_s) == len(job.workers):
        ended_s = (max(ends_s) - resume_s) * divisors.stride
        return JobProgress(JobState.FINISHED, job.lease.iterations_left, ended_s, use=use)
    iterations = min(
        worker.steps_since() * worker.work.iterations_per_step for worker in job.workers
    )
    return JobProgress(JobState.RUNNING, iterations, use=use)


def _use(worker: RunningWorker, divisors: Divisors) -> ServerUse:
    """Unscaled: a CPU second here stands for many in the cluster, and a second for a stride."""
    work, group = worker.work, worker.group
    usage = group.usage() if group else None
    before = worker.usage_before
    demanded_s = worker.growth_of("demanded_cpu_s")
    cpu_s = _growth(before, usage, "cpu_s")
    throttled_s = _growth(before, usage, "throttled_s")
    cpu_scale = divisors.cpu * divisors.stride
    return ServerUse(
        server=worker.held.server,
        enforced_cpus=work.cpu_cores * divisors.cpu if group else None,
        enforced_memory_bytes=work.share.cache_bytes * divisors.memory,
        cpu_s=None if cpu_s is None else cpu_s * cpu_scale,
        demanded_cpu_s=demanded_s * cpu_scale,
        throttled_s=None if throttled_s is None else throttled_s * divisors.stride,
        peak_memory_bytes=usage.memory_peak_bytes if usage else None,
        hits=round(worker.growth_of("hits")),
        misses=round(worker.growth_of("misses")),
    )


def _growth(before: Usage | None, now: Usage | None, name: str) -> float | None:
    """Of a counter of the group; None where the kernel does not tell it."""
    earlier, later = getattr(before, name, None), getattr(now, name, None)
    return None if earlier is None or later is None else float(later - earlier)
