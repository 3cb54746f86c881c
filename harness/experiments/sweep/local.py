"""Points on the cores of this machine: simulated ones side by side, emulated ones in turn."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import cast

from harness.experiments.sweep.work import Attempt, Failure, Outcome, Point, Stop

_LEFT_TO_THE_SWEEP = (signal.SIGINT, signal.SIGHUP)
"""Signals that reach every process of a terminal. The sweep decides what they end."""


def run_in_turn(
    points: Sequence[Point], function: Callable[[Point, Stop], Outcome], stop: Stop
) -> Generator[Outcome, None, None]:
    """One after the other in this process, each until a stop is wanted."""
    for point in points:
        if stop():
            return
        yield function(point, stop)


def run_on_cores(
    points: Sequence[Point], function: Attempt, stop: Stop, processes: int
) -> Generator[Outcome, None, None]:
    """Outcomes in the order in which they are done, from processes that live for all of them.

    function: of a module's top level. Once a stop is wanted, no further point begins. A point whose
    process dies is a failure, and another process takes the next. Close the iterator to end the
    processes.
    """
    waiting = iter(points)
    busy: dict[Connection, tuple[_Worker, Point]] = {}
    with contextlib.ExitStack() as workers:

        def hand_on(worker: _Worker) -> None:
            point = None if stop() else next(waiting, None)
            if point is not None:
                worker.begin(point)
                busy[worker.connection] = (worker, point)

        def begin() -> _Worker:
            return workers.enter_context(_worker(function))

        for _ in range(min(processes, len(points))):
            hand_on(begin())
        while busy:
            for ready in wait(list(busy)):
                worker, point = busy.pop(cast("Connection", ready))
                outcome = worker.outcome(point)
                hand_on(worker if worker.is_alive else begin())
                yield outcome


class _Worker:
    """A process that serves one point after the other."""

    def __init__(self, process: SpawnProcess, connection: Connection) -> None:
        self._process = process
        self.connection = connection
        self.is_alive = True

    def begin(self, point: Point) -> None:
        """Hand ``point`` over. A process that has died shows when its outcome is asked for."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send(point)

    def outcome(self, point: Point) -> Outcome:
        """Of the point that it began; a failure where the process died."""
        try:
            return cast("Outcome", self.connection.recv())
        except (EOFError, ConnectionResetError):
            self.is_alive = False
            self._process.join()
            reason = f"its process ended{_by(self._process.exitcode)} before the point was done"
            return Outcome(point, failure=Failure(reason, reason))

    def end(self) -> None:
        """End the process, whatever it does."""
        self.connection.close()
        self._process.terminate()
        self._process.join()


def _by(exit_code: int | None) -> str:
    if exit_code is None or exit_code >= 0:
        return f" with exit code {exit_code}"
    if -exit_code == signal.SIGKILL:
        return " by SIGKILL, most likely for its memory,"
    return f" by {signal.Signals(-exit_code).name}"


@contextlib.contextmanager
def _worker(function: Attempt) -> Iterator[_Worker]:
    """A process that serves ``function``, ended with the block.

    Not forked: a thread that draws progress may hold a lock. It would also end by itself with this
    process, whose end of the pipe then closes.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(function, theirs), daemon=True)
    # What is ignored at its start stays so while it still imports.
    previous = {number: signal.signal(number, signal.SIG_IGN) for number in _LEFT_TO_THE_SWEEP}
    try:
        process.start()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    theirs.close()
    worker = _Worker(process, ours)
    try:
        yield worker
    finally:
        worker.end()


def _serve(function: Attempt, connection: Connection) -> None:
    """Answer points until there are no more."""
    for number in _LEFT_TO_THE_SWEEP:
        signal.signal(number, signal.SIG_IGN)
    # Closed from the other side, which no longer wants an outcome.
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            connection.send(function(connection.recv()))
