"""The real jobs, and the demands that are fitted to what they send."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from emulator.budget_store import budget_here
from emulator.fork_server import CAPTURED_KINDS
from emulator.interrupt import stop_on_signals
from emulator.session import Session
from harness.experiments.reproduce.recipe import Say
from netshaper.run_state import new_run_id
from profiler.network.emulated_hosts import JobOnHosts, count_job
from profiler.network.fitted_job import FittedJob, fit_job
from profiler.network.rank_demand import demand_of
from traces.arm import JobCommand
from traces.model_profile import ModelProfile

RATE_BPS = 100e6
_SLOWER_BPS = 50e6
_WARMUP_ITERATIONS = 3
_INTERVAL_S = 2e-3


@dataclass(frozen=True)
class RealJob:
    """A module of ``profiler.real_jobs`` on two servers. links_bps: that it is profiled on, the
    first of which is that of the comparison."""

    name: str
    words: str
    arguments: tuple[str, ...]
    links_bps: tuple[float, ...]

    @property
    def command(self) -> tuple[str, ...]:
        """With this interpreter, which has what the job imports."""
        return (sys.executable, "-m", f"profiler.real_jobs.{self.name}", *self.arguments)


DATA_PARALLEL = RealJob(
    "data_parallel",
    "two ranks of DistributedDataParallel over gloo",
    ("--width", "512", "--storage", "0.2"),
    (RATE_BPS,),
)
PIPELINE_PARALLEL = RealJob(
    "pipeline_parallel",
    "a pipeline of two stages over gloo",
    ("--storage", "0.28"),
    (RATE_BPS, _SLOWER_BPS),
)
JOBS = (DATA_PARALLEL, PIPELINE_PARALLEL)

LATER_BATCHES_S = 0.13
UNLIKE = RealJob(
    "data_parallel",
    "the same with slower storage",
    ("--width", "512", "--storage", f"{0.2 + LATER_BATCHES_S:g}"),
    (RATE_BPS,),
)
"""Beside it, jobs meet at every part of an iteration in turn.

Two jobs with iterations of the same length go on meeting as they began for as long as a link is
shared fairly: what one loses the other loses. How they come apart is then decided by a percent here
or there of what each gets, which a replay does not have in common with the job that it stands for.
"""


@dataclass(frozen=True)
class ProfiledJob:
    """fitted: on each of its links, in their order."""

    job: RealJob
    profile: ModelProfile
    fitted: tuple[FittedJob, ...]


def profile_jobs(
    jobs: Sequence[RealJob], iterations: int, say: Say
) -> tuple[Mapping[str, ProfiledJob], bool]:
    """The profile of each job by name, and whether a person stopped it before all were made."""
    made: dict[str, ProfiledJob] = {}
    with (
        Session(new_run_id(), kinds=CAPTURED_KINDS) as session,
        stop_on_signals(lambda: say("stopping after this iteration")) as stop,
        tempfile.TemporaryDirectory(prefix="roundelay-") as directory,
    ):
        for job in jobs:
            fitted = []
            for number, rate_bps in enumerate(job.links_bps):
                captures = Path(directory) / f"{job.name}-{number}"
                captures.mkdir()
                counted = count_job(
                    session,
                    JobOnHosts(
                        JobCommand(argv=job.command, directory=captures),
                        2,
                        rate_bps,
                        iterations,
                        _WARMUP_ITERATIONS,
                        _INTERVAL_S,
                    ),
                    budget_here(),
                    captures,
                    len(made) * 10 + number,
                    _told(say, job),
                    stop.wanted,
                )
                if counted.interrupted:
                    return made, True
                fitted.append(fit_job(counted))
            made[job.name] = _profiled(job, tuple(fitted))
    return made, False


def _told(say: Say, job: RealJob) -> Callable[[int, int], None]:
    return lambda done, total: say(f"profiling {job.name}, {done} of {total} iterations")


def _profiled(job: RealJob, fitted: tuple[FittedJob, ...]) -> ProfiledJob:
    slower = fitted[-1].seen if len(fitted) > 1 else None
    profile = ModelProfile(
        model=job.name,
        num_gpus=2,
        demand=demand_of(fitted[0].seen, slower),
        provenance="measured",
        source=f"fitted to {job.words}",
        measured_iteration_s=fitted[0].timer.value,
    )
    return ProfiledJob(job, profile, fitted)
