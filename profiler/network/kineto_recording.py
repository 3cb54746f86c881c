"""A job on this machine that torch.profiler records, and what the importer makes of its traces."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace
from pathlib import Path

from profiler.network.command_here import JobHere
from profiler.network.kineto_command import followed
from profiler.network.kineto_protocol import DIRECTORY_VARIABLE, USED_ITERATIONS
from traces.communication_trace import CommunicationImport
from traces.errors import BadInputError
from traces.formats.communication_formats import import_communication


@dataclass(frozen=True)
class Recording:
    """The trace of one rank. problem: why the importer makes nothing of it, instead of imported."""

    trace: Path
    imported: CommunicationImport | None
    problem: str | None

    @property
    def sent_bytes(self) -> float | None:
        """What its rank puts on the wire in an iteration, the median; None without an import."""
        if self.imported is None:
            return None
        return statistics.median(
            sum(each.wire_bytes for each in iteration.collectives)
            for iteration in self.imported.iterations
        )


def recorded(job: JobHere, directory: Path) -> JobHere:
    """``job``, followed by torch.profiler; its traces go to ``directory``.

    Raises BadInputError where it runs no script of Python that could be followed.
    """
    return replace(
        job,
        command=followed(job.command),
        warmup_iterations=job.warmup_iterations + USED_ITERATIONS,
        environment=(*job.environment, (DIRECTORY_VARIABLE, str(directory))),
    )


def read_recordings(directory: Path) -> list[Recording]:
    """Of the ranks that have written one there, in order."""
    return [_read(trace) for trace in sorted(directory.glob("rank*.json.gz"))]


def _read(trace: Path) -> Recording:
    try:
        return Recording(trace, import_communication([trace], "kineto"), None)
    except BadInputError as error:
        return Recording(trace, None, error.problem)
