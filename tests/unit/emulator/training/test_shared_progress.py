"""What the loader writes, the trainer reads: across a fork."""

from __future__ import annotations

import os

from emulator.training.shared_progress import KEPT_EPOCHS, SharedProgress, Word


def test_a_child_and_its_parent_see_the_same_numbers() -> None:
    shared = SharedProgress(10)
    pid = os.fork()
    if pid == 0:
        shared[Word.HITS] = 41
        shared[Word.HITS] += 1
        shared.publish_cached([5, 3, 9])
        shared.end_epoch(7)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert shared[Word.HITS] == 42
    assert shared.cached == (5, 3, 9)
    assert shared.epoch_hits == (7,)
    assert shared[Word.PAUSED] == 0


def test_an_index_that_lost_its_end_grows_anew() -> None:
    shared = SharedProgress(4)
    for index in ([1, 2, 3, 0], [1, 2], [1, 2, 0, 3]):
        shared.publish_cached(index)
        assert shared.cached == tuple(index)


def test_the_last_epochs_are_kept() -> None:
    shared = SharedProgress(0)
    for hits in range(KEPT_EPOCHS + 5):
        shared.end_epoch(hits)
    assert shared.epoch_hits == tuple(range(5, KEPT_EPOCHS + 5))
