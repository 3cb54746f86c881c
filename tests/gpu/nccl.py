"""What torch.profiler says that a job sends over NCCL, on as many ranks as there are GPUs."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from profiler.network.kineto_protocol import DIRECTORY_VARIABLE, RECORDED_ITERATIONS
from profiler.network.kineto_recording import Recording, read_recordings
from traces.formats.kineto_events import read_kineto_events
from traces.quantities import format_size

LIMIT_S = 60.0
_ALLOWED = 0.02

_WIDTH = 1024
_GRADIENT_BYTES = 2 * (_WIDTH * _WIDTH + _WIDTH) * 4
"""Of the two layers of the job."""


@dataclass(frozen=True)
class Sent:
    """recording: of rank 0. steps: iterations that its trace tells apart."""

    ranks: int
    steps: int
    recording: Recording

    @property
    def expected_bytes(self) -> float:
        """Of a ring all-reduce of the gradients, a rank and iteration; nothing with one rank."""
        return 2 * (self.ranks - 1) / self.ranks * _GRADIENT_BYTES

    @property
    def is_right(self) -> bool:
        """Of one rank, only that its iterations were recorded: it has nobody to send to."""
        if self.steps != RECORDED_ITERATIONS:
            return False
        sent_bytes = self.recording.sent_bytes
        return self.ranks == 1 or (
            sent_bytes is not None and abs(sent_bytes / self.expected_bytes - 1) <= _ALLOWED
        )

    def __str__(self) -> str:
        if self.recording.sent_bytes is None:
            sent = f"its trace {self.recording.problem}"
        else:
            sent = f"a rank sends {format_size(self.recording.sent_bytes)} in each"
        return (
            f"NCCL, {self.ranks} ranks: {self.steps} iterations recorded; {sent}, where a ring has "
            f"to send {format_size(self.expected_bytes)}"
        )


def record(ranks: int, directory: Path) -> Sent:
    """Run the job, followed by torch.profiler; its trace goes to ``directory``, an existing one.

    CalledProcessError or TimeoutExpired where it does not end well.
    """
    words = [
        *(sys.executable, "-m", "torch.distributed.run", "--standalone"),
        *("--nproc-per-node", str(ranks), "-m", "profiler.network.kineto_script"),
        *(str(Path(__file__).with_name("nccl_job.py")), str(_WIDTH)),
    ]
    environment = {**os.environ, DIRECTORY_VARIABLE: str(directory)}
    subprocess.run(words, env=environment, timeout=LIMIT_S, check=True)
    (recording,) = read_recordings(directory)
    return Sent(ranks, len(read_kineto_events(recording.trace).steps), recording)
