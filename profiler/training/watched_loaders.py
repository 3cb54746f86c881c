"""Finds the training loop of a script that says nothing of it, and times that.

Every iteration over a torch DataLoader goes through a TrainingIterator, and every backward pass is
noticed. The DataLoader that is trained on is the one whose batch came last before a backward pass:
after a batch for validation there is none, however many there are. Only then does its loop speak to
the profiler, so its first iteration is part of no measurement.

Scripts often make a new DataLoader for each epoch. One takes over when the loop over the one before
is over. Where a loop takes batches of several loaders in turn, the last one is timed, and waiting
for the others counts as computing.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any

import torch
from torch.utils.data import DataLoader

from profiler.loading.iterator import TrainingIterator
from profiler.loading.loader_feed import ITERATE, LoaderFeed
from profiler.training.conductor import Conductor

_KEPT_AS = "_roundelay_iterator"
_BACKWARD = torch.autograd.backward


class WatchedLoaders:
    """While it is entered, DataLoaders and backward passes of this process are watched.

    trained: the iterator that is timed for the profiler; None before any is known to train.
    iterations: of all loops over DataLoaders. trained_iterations: of those that trained.
    """

    def __init__(self, conductor: Conductor) -> None:
        self._conductor = conductor
        self._trained: TrainingIterator | None = None
        self._last: TrainingIterator | None = None
        self._looping: set[TrainingIterator] = set()
        self._is_in_backward = False
        self._trained_before = 0
        self.iterations = 0

    @property
    def trained_iterations(self) -> int:
        now = 0 if self._trained is None else self._trained.iterations
        return self._trained_before + now

    def __enter__(self) -> WatchedLoaders:
        def iterate(loader: DataLoader[Any]) -> Any:
            return self._iterate(loader)

        DataLoader.__iter__ = iterate  # type: ignore[method-assign]
        torch.autograd.backward = self._backward
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        DataLoader.__iter__ = ITERATE  # type: ignore[method-assign, assignment]
        torch.autograd.backward = _BACKWARD

    def _iterate(self, loader: DataLoader[Any]) -> Iterator[Any]:
        iterator = self._iterator_of(loader)
        self._looping.add(iterator)
        try:
            for batch in iterator:
                self._last = iterator
                self.iterations += 1
                yield batch
        finally:
            self._looping.discard(iterator)

    def _iterator_of(self, loader: DataLoader[Any]) -> TrainingIterator:
        kept: TrainingIterator | None = vars(loader).get(_KEPT_AS)
        if kept is None:
            kept = TrainingIterator(LoaderFeed(loader))
            kept.conductor = None
            vars(loader)[_KEPT_AS] = kept
        return kept

    def _backward(self, tensors: Any, *arguments: Any, **named: Any) -> None:
        is_inner = self._is_in_backward  # of a checkpointed part of the network
        self._is_in_backward = True
        try:
            _BACKWARD(tensors, *arguments, **named)
        finally:
            self._is_in_backward = is_inner
        if not is_inner:
            self._notice(tensors if isinstance(tensors, torch.Tensor) else next(iter(tensors)))

    def _notice(self, loss: torch.Tensor) -> None:
        if self._last is not None and self._last is not self._trained:
            self._consider(self._last)
        self._conductor.observe_loss(loss, self.trained_iterations)

    def _consider(self, candidate: TrainingIterator) -> None:
        """Time ``candidate`` from now on, unless another loop is being timed."""
        if self._trained is None:
            if self._conductor.is_engaged:
                return  # by the script's own TrainingIterator
        elif self._trained in self._looping:
            return
        else:
            self._trained_before += self._trained.iterations
            self._trained.conductor = None
        self._trained = candidate
        candidate.conductor = self._conductor
