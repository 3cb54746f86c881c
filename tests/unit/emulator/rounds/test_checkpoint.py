"""What a job goes on from, on the same and on another number of workers."""

from __future__ import annotations

import json

import pytest

from emulator.rounds.checkpoint import (
    Checkpoint,
    WorkerCheckpoint,
    from_document,
    to_document,
    worker_checkpoint,
)
from emulator.training.specification import EpochPosition, PipelineState


def worker(begun: float | None, item: int) -> WorkerCheckpoint:
    return WorkerCheckpoint(begun, PipelineState(EpochPosition(2, item), (item, 7), 5))


KEPT = Checkpoint((worker(0.75, 1), worker(0.25, 2)))


def test_it_comes_back_from_json_as_it_was() -> None:
    kept = {"two": KEPT, "one": Checkpoint((worker(None, 3),))}
    assert from_document(json.loads(json.dumps(to_document(kept)))) == kept


def test_a_report_holds_one() -> None:
    state = {"position": {"epoch": 2, "item": 4}, "cached": [4, 7], "ready_items": 5}
    assert worker_checkpoint({"begun": 0.5, "loader": {"state": state}}) == worker(0.5, 4)


def test_as_many_workers_each_go_on_with_their_own() -> None:
    assert [KEPT.for_rank(rank, 2) for rank in range(2)] == list(KEPT.workers)


@pytest.mark.parametrize("ranks", [1, 3])
def test_another_number_of_workers_goes_on_from_the_first(ranks: int) -> None:
    assert [KEPT.for_rank(rank, ranks) for rank in range(ranks)] == [KEPT.workers[0]] * ranks
