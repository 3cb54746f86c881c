"""The training process as the profiler process sees it: started in its limits, told, heard."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NoReturn

from emulator.messages import MessageSocket
from netshaper.parent_death import end_with_parent
from profiler.limits.point_limits import PointLimits
from profiler.measuring.as_caller import as_caller
from profiler.measuring.log import last_words
from profiler.training.protocol import (
    DESCRIPTOR_VARIABLE,
    Command,
    End,
    Ended,
    Event,
    command_message,
    parse_event,
)
from traces.errors import BadInputError, RoundelayError

_POLL_S = 0.2
_END_GRACE_S = 2.0


class TrainingEndedError(RoundelayError):
    """The training process is gone; says how it ended, with the last words of its log.

    by_itself: it came to its end without a fault, after ``iterations`` since it began.
    """

    def __init__(self, how: str, by_itself: bool, iterations: int) -> None:
        self.by_itself = by_itself
        self.iterations = iterations
        super().__init__(how)


class TrainingSilentError(RoundelayError):
    """The training process runs, and says nothing."""


class StoppedError(Exception):
    """The person asked to stop."""


class TrainingProcess:
    """One training process. All that it prints goes to ``log``."""

    def __init__(self, command: Sequence[str], limits: PointLimits, log: Path) -> None:
        """BadInputError where ``command`` cannot be run."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._log = log
        self._limits = limits
        self._messages = MessageSocket(ours)
        self._came: deque[Event] = deque()
        self._ended: Ended | None = None
        self._is_closed = False
        words = limits.command_within(as_caller(command))
        try:
            with log.open("ab") as written:
                self._process = subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=written,
                    stderr=written,
                    pass_fds=(theirs.fileno(),),
                    env={**os.environ, DESCRIPTOR_VARIABLE: str(theirs.fileno())},
                    start_new_session=True,  # a person's Ctrl-C is for the profiler alone
                    preexec_fn=partial(end_with_parent, os.getpid()),
                )
        except OSError as error:
            ours.close()
            raise BadInputError(
                f"{command[0]} cannot be run: {error.strerror}", allowed="a command after --"
            ) from None
        finally:
            theirs.close()
        limits.watch(self._process.pid)

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, command: Command) -> None:
        """TrainingEndedError where it is gone."""
        try:
            self._messages.send(command_message(command))
        except OSError:
            self._raise_ended()

    def next_event(self, silence_s: float, stop: Callable[[], bool]) -> Event:
        """The next thing that it says.

        Raises
        ------
        TrainingEndedError: it has ended, and all that it said before was given.
        TrainingSilentError: nothing came for ``silence_s``.
        StoppedError: ``stop`` became true first.
        """
        deadline_s = time.monotonic() + silence_s
        while not self._came:
            if stop():
                raise StoppedError
            if self._is_closed:
                self._raise_ended()
            if time.monotonic() > deadline_s:
                raise TrainingSilentError(f"the training showed no iteration for {silence_s:g} s")
            self._wait_for_more()
        event = self._came.popleft()
        if isinstance(event, Ended):
            self._ended = event
        return event

    def end(self) -> None:
        """Ask it to end, and end it and all that it started. Gone already is fine."""
        with contextlib.suppress(OSError):  # it has ended
            self._messages.send(command_message(End()))
        self._messages.close()
        self._wait_for_exit()
        self._limits.kill()
        self._process.wait()

    def _wait_for_more(self) -> None:
        if select.select([self._messages], [], [], _POLL_S)[0]:
            self._receive()

    def _receive(self) -> None:
        for message in self._messages.receive_ready():
            if message is None:
                self._is_closed = True
            else:
                self._came.append(parse_event(message))

    def _wait_for_exit(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_GRACE_S)

    def _raise_ended(self) -> NoReturn:
        """It closed its end of the socket: soon it is gone, too."""
        self._wait_for_exit()
        self._limits.kill()
        status = self._process.wait()
        while not self._is_closed:
            self._receive()
        said = next((event for event in self._came if isinstance(event, Ended)), self._ended)
        iterations = 0 if said is None else said.iterations
        words = last_words(self._log)
        if said is not None:
            words = said.reason
        is_good_end = said is not None and status == 0 and not words
        raise TrainingEndedError(_how_it_ended(status, words), is_good_end, iterations)


def _how_it_ended(status: int, reason: str) -> str:
    if status == 0:
        return reason or "the training ended by itself"
    how = f"ended with status {status}"
    if status < 0:
        how = f"was ended by {signal.Signals(-status).name}"
        if -status == signal.SIGKILL:
            how += " (as the kernel does where memory is short)"
    return f"the training {how}" + (f": {reason}" if reason else "")
