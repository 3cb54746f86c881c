"""A job is as far as its slowest worker."""

from __future__ import annotations

from emulator.rounds.lease import JobState
from emulator.rounds.progress import progress_of
from emulator.rounds.steps import Divisors
from tests.unit.emulator.rounds.running import report_of, running_job

DIVISORS = Divisors(stride=10.0, cpu=4.0, bytes=100.0)


def test_the_slowest_worker_counts() -> None:
    progress = progress_of(running_job(report_of(5.5), report_of(3.0)), 100.0, DIVISORS)
    assert (progress.state, progress.ended_s) == (JobState.RUNNING, None)
    assert progress.iterations == 12.0


def test_only_what_was_done_since_the_last_report_counts() -> None:
    job = running_job(report_of(5.0, demanded_cpu_s=3.0))
    job.workers[0].before = report_of(3.0, demanded_cpu_s=1.0)
    progress = progress_of(job, 100.0, DIVISORS)
    (use,) = progress.use
    assert progress.iterations == 8.0
    assert (use.hits, use.misses) == (6, 2)
    # A CPU second here stands for cpu * stride of the cluster.
    assert use.demanded_cpu_s == 2.0 * 4 * 10


def test_a_job_is_finished_when_its_last_worker_is() -> None:
    job = running_job(report_of(20.0), report_of(20.0))
    job.workers[0].finished_s = 101.5
    assert progress_of(job, 100.0, DIVISORS).state is JobState.RUNNING
    job.workers[1].finished_s = 102.0
    progress = progress_of(job, 100.0, DIVISORS)
    assert progress.state is JobState.FINISHED
    assert progress.iterations == job.lease.iterations_left
    assert progress.ended_s == 20.0


def test_what_no_group_measures_is_unknown_and_not_nothing() -> None:
    (use,) = progress_of(running_job(report_of(1.0)), 100.0, DIVISORS).use
    unknown = (use.enforced_cpus, use.cpu_s, use.throttled_s, use.peak_memory_bytes)
    assert unknown == (None, None, None, None)
