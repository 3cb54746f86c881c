"""The iterator of a training loop: it times each iteration, and can go on inside an epoch.

In a script, two lines:

    from profiler.loading.iterator import TrainingIterator
    loader = TrainingIterator(loader)

It is used as the loader was. ``loader.timings`` then says how long each iteration waited for its
batch, copied it to the device (where the iterator is told to), and computed. Where `roundelay
profile` started the script it also reports there, and follows the allocations to be measured; in an
emulated round it counts the iterations.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import DataLoader

from emulator.iterations import iteration_done
from profiler.loading.batches import BatchSource
from profiler.loading.device import chosen_device, device_in_use, to_device
from profiler.loading.event_clock import EventClock, IterationTimes, clock_for
from profiler.loading.feed import Feed, PlainFeed
from profiler.loading.loader_feed import ITERATE, LoaderFeed
from profiler.training.conductor import Conductor
from profiler.training.own_script import script_conductor
from traces.errors import BadInputError, shown

MOST_TIMINGS = 2**16

_NO_BATCH = object()
_STATE_KEYS = {"epoch", "next_batch", "feed"}


class TrainingIterator:
    """Iterates over ``batches``, epoch by epoch.

    batches: a torch DataLoader, a BatchSource, a Feed, or any other iterable.
    device: where the batches are copied to. None leaves that to the loop: then it is a part of its
        computing.

    Iterating again begins the next epoch, as with a DataLoader; or goes on where a loaded state
    says. What else the loader has (``dataset``, ``sampler``) the iterator has too.

    conductor: of the loop, where a profiler started it.
    iterations: how many it has timed.

    Raises BadInputError where the device is none that can be timed.
    """

    def __init__(
        self,
        batches: Iterable[Any] | BatchSource | Feed,
        device: torch.device | str | None = None,
    ) -> None:
        self._batches = batches
        self._feed = feed_of(batches)
        self._device = None if device is None else chosen_device(device)
        self._timed_device = torch.device("cpu")
        self._clock: EventClock[Any] = clock_for(self._timed_device)
        self._timings: deque[IterationTimes] = deque(maxlen=MOST_TIMINGS)
        self._epoch = 0
        self._next_batch = 0
        self._goes_on = False
        self._repeated: Any = None
        self.iterations = 0
        self.conductor: Conductor | None = script_conductor()

    def __len__(self) -> int:
        return len(self._feed)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._batches, name)

    def __iter__(self) -> Iterator[Any]:
        if self._next_batch and not self._goes_on:
            self._begin_next_epoch()
        self._goes_on = False
        if self.conductor is not None and self.conductor.has_news(self._feed):
            self._stand_still(self.conductor, None)
        batches = self._begin()
        while (batch := next(batches, _NO_BATCH)) is not _NO_BATCH:
            self._clock.arrived()
            if self._device is not None:
                batch = to_device(batch, self._device)
            self._clock.copied()
            if self._repeated is None:
                self._next_batch += 1
            yield batch
            self._clock.done()
            self.iterations += 1
            iteration_done()
            self._collect()
            if self.conductor is not None and self.conductor.has_news(self._feed):
                del batches  # and with them their workers
                self._stand_still(self.conductor, batch)
                batches = self._begin()
        self._begin_next_epoch()
        if self.conductor is not None:
            self.conductor.flush()  # hits and misses are those of whole epochs only now

    @property
    def timings(self) -> NDArray[np.float64]:
        """float64[n, 4]: seconds that each iteration waited, copied, computed, and all together.

        Oldest first, of the last MOST_TIMINGS. It waits for what the device has not finished.
        """
        self._clock.settle()
        self._collect()
        return np.array(self._timings, np.float64).reshape(-1, 4)

    def state_dict(self) -> dict[str, Any]:
        """Where the loop is. The batches that it has been given do not come again."""
        return {
            "epoch": self._epoch,
            "next_batch": self._next_batch,
            "feed": self._feed.state(self._next_batch),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The next iteration goes on where ``state`` was saved.

        Later epochs of a shuffled DataLoader have the order that torch's random state gives them,
        which is the script's own to save.

        Raises
        ------
        BadInputError: it is no state, or the loader cannot give the same samples.
        """
        if set(state) != _STATE_KEYS:
            raise BadInputError(
                f"a state of {shown(sorted(state))}", allowed="what state_dict() has given"
            )
        self._feed.restore(state["feed"], state["next_batch"])
        self._epoch, self._next_batch = state["epoch"], state["next_batch"]
        self._goes_on = True

    def _begin_next_epoch(self) -> None:
        self._epoch += 1
        self._next_batch = 0

    def _begin(self) -> Iterator[Any]:
        """The batches to go on with. Starting the workers belongs to the first wait."""
        self._choose_clock()
        self._clock.begin()
        if self._repeated is not None:
            return itertools.repeat(self._repeated)
        return self._feed.open(self._epoch, self._next_batch)

    def _choose_clock(self) -> None:
        """Of the device that computes now: a script may move to a GPU after it made its loader."""
        device = self._device or device_in_use()
        if device != self._timed_device:
            self._clock.settle()
            self._collect()
            self._timed_device, self._clock = device, clock_for(device)

    def _collect(self) -> None:
        times = self._clock.take()
        self._timings += times
        if self.conductor is not None:
            self.conductor.report(times, self._epoch)

    def _stand_still(self, conductor: Conductor, last_batch: Any) -> None:
        self._clock.settle()
        self._collect()
        self._choose_clock()
        self._repeated = None
        if conductor.stand_still(self._feed, self._timed_device):
            if last_batch is None:
                last_batch = next(self._feed.open(self._epoch, self._next_batch), None)
            self._repeated = to_device(last_batch, self._timed_device)


def feed_of(batches: Iterable[Any] | BatchSource | Feed) -> Feed:
    """``batches`` as a feed."""
    if isinstance(batches, DataLoader) and type(batches).__iter__ in (ITERATE, DataLoader.__iter__):
        return LoaderFeed(batches)
    return batches if isinstance(batches, Feed) else PlainFeed(batches)
