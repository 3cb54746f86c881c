"""Ctrl-C: the first asks a run to end well, the second ends it at once; cleaning goes on."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequest:
    """Whether the person has asked to stop.

    on_first is called from a thread: a signal comes at any moment, in the middle of a print or of
    an import too, where the one that it interrupts can neither print nor import.
    """

    def __init__(self, on_first: Callable[[], None]) -> None:
        self._telling = threading.Thread(target=on_first)
        self._wanted = False

    def wanted(self) -> bool:
        """True from the first signal on."""
        return self._wanted

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Signal handler."""
        del number, frame
        if self._wanted:
            raise KeyboardInterrupt
        self._wanted = True
        self._telling.start()

    def told(self) -> None:
        """Return when ``on_first`` has returned, if it was called."""
        if self._wanted:
            self._telling.join()


@contextlib.contextmanager
def stop_on_signals(on_first: Callable[[], None]) -> Iterator[StopRequest]:
    """Turn SIGINT, SIGTERM and SIGHUP into a request for the block. on_first: tell the person."""
    request = StopRequest(on_first)
    # Under nohup a hang-up is ignored, and stays so.
    hang_up_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    wanted = [n for n in _SIGNALS if not (n is signal.SIGHUP and hang_up_ignored)]
    previous = {number: signal.signal(number, request.handle) for number in wanted}
    try:
        yield request
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        request.told()


@contextlib.contextmanager
def interrupts_ignored() -> Iterator[None]:
    """No signal of a person's cuts the block short."""
    previous = {number: signal.signal(number, signal.SIG_IGN) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
