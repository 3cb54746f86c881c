"""A training process as the profiler starts it, without limits, and what it says."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from emulator.messages import MessageSocket
from profiler.training.protocol import (
    DESCRIPTOR_VARIABLE,
    Command,
    Event,
    command_message,
    parse_event,
)

_PATIENCE_S = 240.0
_ENDS_WITHIN_S = 60.0

EventT = TypeVar("EventT", bound=Event)


class RunningJob:
    """Runs ``words``; ends it, if it has not ended, when it is left."""

    def __init__(self, words: Sequence[str], directory: Path) -> None:
        ours, theirs = socket.socketpair()
        ours.settimeout(_PATIENCE_S)
        self._messages = MessageSocket(ours)
        self._log = directory / "log"
        with self._log.open("wb") as log, theirs:
            self._process = subprocess.Popen(
                words,
                cwd=directory,
                stdout=log,
                stderr=log,
                pass_fds=(theirs.fileno(),),
                env={
                    **os.environ,
                    DESCRIPTOR_VARIABLE: str(theirs.fileno()),
                    "PYTHONPATH": str(Path(__file__).parents[2]),
                },
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._messages.close()
        try:
            self._process.wait(_ENDS_WITHIN_S)
        finally:
            self._process.kill()

    @property
    def log(self) -> str:
        return self._log.read_text()

    def send(self, command: Command) -> None:
        self._messages.send(command_message(command))

    def next_event(self) -> Event | None:
        """None when the process has closed its end."""
        message = self._messages.receive()
        return None if message is None else parse_event(message)

    def wait_for(self, kind: type[EventT]) -> EventT:
        """The next of ``kind``; others before it are passed over."""
        while (event := self.next_event()) is not None:
            if isinstance(event, kind):
                return event
        raise AssertionError(f"it ended before it said {kind.name}: {self.log}")

    def collect(self, enough: Callable[[list[Event]], bool]) -> list[Event]:
        """What it says until that is enough, or until it ends."""
        events: list[Event] = []
        deadline_s = time.monotonic() + _PATIENCE_S
        while not enough(events) and (event := self.next_event()) is not None:
            events.append(event)
            assert time.monotonic() < deadline_s, self.log
        return events

    def exit_code(self) -> int:
        return self._process.wait(_ENDS_WITHIN_S)
