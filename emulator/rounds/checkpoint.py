"""What is kept of a job between two leases, and on disk between two runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from emulator.training.specification import PipelineState, pipeline_state_of


@dataclass(frozen=True)
class WorkerCheckpoint:
    """Of one worker. begun: the part of the step under way that is done, None between two."""

    begun: float | None
    pipeline: PipelineState


@dataclass(frozen=True)
class Checkpoint:
    """Of a job: one entry a worker, by rank. Progress itself is the scheduler's to keep."""

    workers: tuple[WorkerCheckpoint, ...]

    def for_rank(self, rank: int, ranks: int) -> WorkerCheckpoint:
        """Where worker ``rank`` of ``ranks`` goes on.

        With another number of workers all go on from where the first was: in the same step they
        all were.
        """
        return self.workers[rank if ranks == len(self.workers) else 0]


def worker_checkpoint(report: dict[str, Any]) -> WorkerCheckpoint:
    """The checkpoint in a worker's report."""
    state = report["loader"]["state"]
    return WorkerCheckpoint(report["begun"], pipeline_state_of(state))


def to_document(checkpoints: dict[str, Checkpoint]) -> dict[str, Any]:
    """As JSON, by job."""
    return {
        job: [
            {
                "begun": worker.begun,
                # dataclasses.asdict would copy every item of the cache, after every round.
                "pipeline": {**vars(worker.pipeline), "position": vars(worker.pipeline.position)},
            }
            for worker in kept.workers
        ]
        for job, kept in checkpoints.items()
    }


def from_document(document: dict[str, Sequence[dict[str, Any]]]) -> dict[str, Checkpoint]:
    """The other way round."""
    return {
        job: Checkpoint(
            tuple(
                WorkerCheckpoint(worker["begun"], pipeline_state_of(worker["pipeline"]))
                for worker in workers
            )
        )
        for job, workers in document.items()
    }
