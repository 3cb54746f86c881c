"""What a trainer and its loader both see at once: memory that they share since the fork.

Each number is one aligned word, written by one of the two, so that no lock is needed, and the
trainer can read how far the loader is also while that has no CPU time.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from enum import IntEnum

KEPT_EPOCHS = 64
_WORD_BYTES = 8


class Word(IntEnum):
    """Which number. PAUSED is the trainer's, the others are the loader's."""

    PAUSED = 0
    PREPARED = 1
    HITS = 2
    MISSES = 3
    FETCHED_BYTES = 4
    CPU_NS = 5
    DEMANDED_NS = 6
    EPOCHS = 7
    CACHED = 8


_EPOCHS_AT = len(Word)
_CACHED_AT = _EPOCHS_AT + KEPT_EPOCHS


class SharedProgress:
    """Zeros at first. It has room for an index of ``dataset_items`` items."""

    def __init__(self, dataset_items: int) -> None:
        memory = mmap.mmap(-1, _WORD_BYTES * (_CACHED_AT + dataset_items))
        self._words = memoryview(memory).cast("q")

    def __getitem__(self, word: Word) -> int:
        return self._words[word]

    def __setitem__(self, word: Word, value: int) -> None:
        self._words[word] = value

    def end_epoch(self, hits: int) -> None:
        """Keep the hits of one more epoch."""
        ended = self._words[Word.EPOCHS]
        self._words[_EPOCHS_AT + ended % KEPT_EPOCHS] = hits
        self._words[Word.EPOCHS] = ended + 1

    @property
    def epoch_hits(self) -> tuple[int, ...]:
        """Of the last KEPT_EPOCHS epochs, the newest last."""
        ended = self._words[Word.EPOCHS]
        kept = range(max(0, ended - KEPT_EPOCHS), ended)
        return tuple(self._words[_EPOCHS_AT + epoch % KEPT_EPOCHS] for epoch in kept)

    def publish_cached(self, index: Sequence[int]) -> None:
        """Show ``index``, which has grown at its end, or has lost its end."""
        for place in range(self._words[Word.CACHED], len(index)):
            self._words[_CACHED_AT + place] = index[place]
        self._words[Word.CACHED] = len(index)

    @property
    def cached(self) -> tuple[int, ...]:
        """The index as it was last shown."""
        return tuple(self._words[_CACHED_AT : _CACHED_AT + self._words[Word.CACHED]])
