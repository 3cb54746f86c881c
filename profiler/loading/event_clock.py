"""The clock of a training loop: four marks an iteration, read when the device has reached them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, Protocol, Self, TypeVar

import torch

IterationTimes = tuple[float, float, float, float]
"""Seconds of an iteration: waiting for its batch, copying it to the device, computing, and all."""


class Event(Protocol):
    """A point in the order of what a device does; as torch.cuda.Event has it."""

    def record(self) -> None:
        """This point comes after all that the device has been told so far."""

    def query(self) -> bool:
        """Whether the device has reached it."""

    def synchronize(self) -> None:
        """Wait until the device has reached it."""

    def seconds_until(self, later: Self) -> float:
        """From this point to a later one of the same kind, both reached."""


class HostEvent:
    """Where the host computes: its work is done when the call returns, so a clock shows it."""

    __slots__ = ("_at_s",)

    def __init__(self) -> None:
        self._at_s = 0.0

    def record(self) -> None:
        self._at_s = time.monotonic()

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        return

    def seconds_until(self, later: Self) -> float:
        return later._at_s - self._at_s


class CudaEvent:
    """On the stream that ``device`` works on when it is recorded."""

    __slots__ = ("_device", "_event")

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]

    def record(self) -> None:
        self._event.record(torch.cuda.current_stream(self._device))

    def query(self) -> bool:
        return bool(self._event.query())  # type: ignore[no-untyped-call]

    def synchronize(self) -> None:
        self._event.synchronize()

    def seconds_until(self, later: Self) -> float:
        return float(self._event.elapsed_time(later._event)) / 1e3


EventT = TypeVar("EventT", bound=Event)


class EventClock(Generic[EventT]):
    """Times iterations by events. It never waits for the device unless ``settle`` is called.

    A device does what it is told in order, and the host runs ahead of it. So between two marks lies
    what the device needed: a batch that came while the device was still computing shows as no
    waiting at all, and a late one as the time that the device stood idle for it.
    """

    def __init__(self, new_event: Callable[[], EventT]) -> None:
        self._new_event = new_event
        self._spare: list[EventT] = []
        self._pending: deque[tuple[EventT, EventT, EventT, EventT]] = deque()
        self._began = self._arrived = self._copied = new_event()

    def begin(self) -> None:
        """The next iteration begins now. What has gone on since the last one belongs to none."""
        self._began = self._mark()

    def arrived(self) -> None:
        """The batch is there."""
        self._arrived = self._mark()

    def copied(self) -> None:
        """The batch is on the device."""
        self._copied = self._mark()

    def done(self) -> None:
        """The iteration is over, and the next one begins."""
        over = self._mark()
        self._pending.append((self._began, self._arrived, self._copied, over))
        self._began = over

    def take(self) -> list[IterationTimes]:
        """Of the iterations that the device has finished since the last call; oldest first."""
        times: list[IterationTimes] = []
        while self._pending and self._pending[0][3].query():
            began, arrived, copied, over = self._pending.popleft()
            wait_s = began.seconds_until(arrived)
            copy_s = arrived.seconds_until(copied)
            compute_s = copied.seconds_until(over)
            times.append((wait_s, copy_s, compute_s, wait_s + copy_s + compute_s))
            self._spare += (began, arrived, copied)
        return times

    def settle(self) -> None:
        """Wait until the device has finished all iterations. Not for use inside the loop."""
        if self._pending:
            self._pending[-1][3].synchronize()

    def _mark(self) -> EventT:
        event = self._spare.pop() if self._spare else self._new_event()
        event.record()
        return event


def clock_for(device: torch.device) -> EventClock[Any]:
    """For a loop that computes on ``device``."""
    if device.type == "cuda":
        return EventClock(lambda: CudaEvent(device))
    return EventClock(HostEvent)
