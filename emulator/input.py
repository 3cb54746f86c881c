"""Where a worker's samples come from."""

from __future__ import annotations

from typing import Protocol

from emulator.messages import Message


class Input(Protocol):
    """The samples of one iteration after the other."""

    def take(self, start_s: float) -> None:
        """At ``start_s`` (monotonic), take the samples of an iteration, which are there."""
        ...

    def await_next(self) -> float:
        """Wait for those of the next; when they were there (monotonic), 0 if long before."""
        ...

    def change(self, message: Message | None) -> None:
        """Go on as ``message`` says, if there is one."""
        ...


class AlwaysThere:
    """Of a worker that waits for no samples."""

    def take(self, start_s: float) -> None:
        """Nothing is used up."""

    def await_next(self) -> float:
        """There is no wait."""
        return 0.0

    def change(self, message: Message | None) -> None:
        """Nothing could."""
