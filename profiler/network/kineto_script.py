"""python -m profiler.network.kineto_script SCRIPT ARGUMENTS...: follows a script as it stands.

Also -m MODULE ARGUMENTS.... The script's iterations are told (emulator.iterations), and on the
first process of the machine torch.profiler records some of them: a trace rankN.json.gz in the
directory that $ROUNDELAY_KINETO names. An iteration ends where the script calls iteration_done(),
or, if it never does, with each step of the first optimizer that makes one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.profiler import ProfilerActivity, profile, schedule

from emulator import iterations
from profiler.network.kineto_protocol import DIRECTORY_VARIABLE, RECORDED_ITERATIONS
from profiler.training.main_module import run_as_main
from traces.errors import BadInputError


class IterationRecorder:
    """Records iterations into ``trace`` once they have begun; in no trace where that is None."""

    def __init__(self, trace: Path | None) -> None:
        self._trace = trace
        self._profile: profile | None = None

    def iteration_done(self) -> None:
        if self._trace is None:
            return
        if self._profile is None:
            self._profile = self._begin()
        else:
            self._profile.step()

    def _begin(self) -> profile:
        activities = [ProfilerActivity.CPU]
        if torch.cuda.is_available():
            activities.append(ProfilerActivity.CUDA)
        begun = profile(
            activities=activities,
            schedule=schedule(wait=1, warmup=1, active=RECORDED_ITERATIONS, repeat=1),
            on_trace_ready=self._write,
        )
        begun.start()
        return begun

    def _write(self, recorded: profile) -> None:
        recorded.export_chrome_trace(str(self._trace))
        self._trace = None


class IterationEnds:
    """Notices where iterations end, and says it to ``recorder`` and with ``tell``."""

    def __init__(self, recorder: IterationRecorder, tell: Callable[[int], None]) -> None:
        self._recorder = recorder
        self._tell = tell
        self._is_told = False
        self._optimizer: Optimizer | None = None

    def told(self, count: int = 1) -> None:
        """By the script; in place of emulator.iterations.iteration_done()."""
        self._is_told = True
        self._end(count)

    def stepped(self, optimizer: Optimizer, *_: Any) -> None:
        """An optimizer has changed the parameters."""
        if self._optimizer is None:
            self._optimizer = optimizer
        if optimizer is self._optimizer and not self._is_told:
            self._end(1)

    def _end(self, count: int) -> None:
        self._tell(count)
        self._recorder.iteration_done()


def main() -> None:
    words = sys.argv[1:]
    directory = os.environ.get(DIRECTORY_VARIABLE)
    if directory is None:
        raise BadInputError(
            "no profiler is there to report to", allowed="roundelay profile network --kineto"
        )
    is_first = os.environ.get("LOCAL_RANK", "0") == "0"
    trace = Path(directory) / f"rank{int(os.environ.get('RANK', '0'))}.json.gz"
    ends = IterationEnds(IterationRecorder(trace if is_first else None), iterations.iteration_done)
    iterations.iteration_done = ends.told
    register_optimizer_step_post_hook(ends.stepped)
    run_as_main(words)


if __name__ == "__main__":
    main()
