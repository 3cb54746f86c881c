"""Runs of Pollux' simulator in several processes: workload files in, completion times out."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.experiments.reproduce.pollux.applications import Application
from harness.experiments.reproduce.pollux.cluster import SERVER_GPUS, Decide, completion_times_s
from harness.experiments.reproduce.pollux.job import Submitted
from harness.experiments.reproduce.pollux.scheduled import ScheduledByPollux
from harness.experiments.reproduce.pollux.tiresias import Tiresias
from harness.experiments.reproduce.recipe import Say
from harness.experiments.reproduce.workers import in_parallel, usable_cores
from traces.errors import BadInputError
from traces.formats.pollux_files import read_pollux_workload

PolicyName = Literal["tiresias", "pollux"]

# Both as in the authors' simulator: examples on a GPU, though more were measured; and the batch of
# jobs that stay on one GPU, also under Pollux.
_GPU_MOST = {"yolov3": 8}
_FIXED_BATCH = {"ncf": 32768}


@dataclass(frozen=True)
class Run:
    """A workload under a policy. traces: the folder of the applications' folders. seed: of Pollux'
    search; Tiresias draws nothing.
    """

    policy: PolicyName
    workload: Path
    traces: Path
    seed: int

    def __str__(self) -> str:
        seed = f", seed {self.seed}" if self.policy == "pollux" else ""
        return f"{self.policy}, {self.workload.stem}{seed}"


Times = dict[str, int]
"""Completion times by job, in s, in order of submission."""


def simulate_all(
    runs: Sequence[Run], say: Say, processes: int | None = None
) -> tuple[dict[Run, Times], bool]:
    """(what was simulated, whether Ctrl-C ended it before all was). Raises BadInputError."""
    done: dict[Run, Times] = {}
    interrupted = False
    try:
        results = in_parallel(simulate, runs, processes or usable_cores())
        with contextlib.closing(results):
            for index, times in results:
                done[runs[index]] = times
                say(f"{len(done)} of {len(runs)}: {runs[index]}")
    except KeyboardInterrupt:
        interrupted = True
    return done, interrupted


def simulate(run: Run) -> Times:
    """One run, to the end of its last job."""
    jobs = _submitted(run)
    decide: Decide = Tiresias().decide
    if run.policy == "pollux":
        decide = ScheduledByPollux(run.seed, one_gpu=frozenset(_FIXED_BATCH)).decide
    times_s = completion_times_s(jobs, decide)
    return dict(zip((each.job for each in jobs), times_s.tolist(), strict=True))


def _submitted(run: Run) -> list[Submitted]:
    """Under Pollux a job chooses its GPUs and its batch; else it has those that are asked for."""
    jobs = read_pollux_workload(run.workload)
    submitted = []
    for job, submit_s, name, num_gpus, batch in zip(
        *(jobs[column] for column in ("job", "submit_s", "application", "num_gpus", "batch")),
        strict=True,
    ):
        folder = run.traces / name
        if name in (".", "..") or "/" in name or not folder.is_dir():
            raise BadInputError(
                f"there is no application {name!r}",
                allowed=f"the name of a folder in {run.traces}",
                file=run.workload,
                key="application",
            )
        if num_gpus > sum(SERVER_GPUS):
            raise BadInputError(
                f"{job} asks for {num_gpus} GPUs",
                allowed=f"at most {sum(SERVER_GPUS)}, which is all",
                file=run.workload,
                key="num_replicas",
            )
        chosen = _FIXED_BATCH.get(name) if run.policy == "pollux" else int(batch)
        submitted.append(Submitted(job, int(submit_s), _application(folder), int(num_gpus), chosen))
    return submitted


@functools.lru_cache(maxsize=64)
def _application(folder: Path) -> Application:
    return Application(folder, _GPU_MOST.get(folder.name))
