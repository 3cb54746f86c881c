"""One function over many items in several processes; results as they come."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar, cast

from traces.errors import BadInputError, MissingCapabilityError

Item = TypeVar("Item")
Result = TypeVar("Result")

# ("result", result), ("bad input", (problem, keywords of the error)) or ("fault", traceback).
_Answer = tuple[str, Any]


def usable_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0))


def in_parallel(
    function: Callable[[Item], Result], items: Sequence[Item], processes: int
) -> Generator[tuple[int, Result], None, None]:
    """(index of the item, result), in the order in which they are done.

    With one process, or one item, in this one. function: of a module's top level; items and results
    are pickled. A BadInputError comes through. Close the iterator to end the processes.
    """
    processes = min(processes, len(items))
    if processes <= 1:
        for index, item in enumerate(items):
            yield index, function(item)
        return
    waiting = iter(enumerate(items))
    busy: dict[Connection, int] = {}
    with _started(cast("Callable[[Any], Any]", function), processes) as connections:
        for connection in connections:
            _hand_on(connection, waiting, busy)
        while busy:
            for ready in wait(list(busy)):
                connection = cast("Connection", ready)
                index = busy.pop(connection)
                answer = _receive(connection)
                _hand_on(connection, waiting, busy)
                yield index, _unwrap(answer)


def _hand_on(
    connection: Connection, waiting: Iterator[tuple[int, Any]], busy: dict[Connection, int]
) -> None:
    """Send the next item, if there is one."""
    for index, item in waiting:
        connection.send(item)
        busy[connection] = index
        return


@contextlib.contextmanager
def _started(function: Callable[[Any], Any], count: int) -> Iterator[list[Connection]]:
    """``count`` processes that serve ``function``, ended with the block.

    Not forked: a thread that draws progress may hold a lock. Each would also end by itself with
    this process, whose end of the pipe then closes.
    """
    context = multiprocessing.get_context("spawn")
    started = []
    try:
        # Ctrl-C reaches all processes of the terminal; the new ones leave it to this one. What is
        # ignored at their start stays so while they still import.
        previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            for _ in range(count):
                ours, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(function, theirs), daemon=True)
                process.start()
                theirs.close()
                started.append((process, ours))
        finally:
            signal.signal(signal.SIGINT, previous)
        yield [ours for _, ours in started]
    finally:
        for process, ours in started:
            ours.close()
            process.terminate()
        for process, _ in started:
            process.join()


def _serve(function: Callable[[Any], Any], connection: Connection) -> None:
    """Answer items until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Closed from the other side, which no longer wants an answer.
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            connection.send(_answer(function, connection.recv()))


def _answer(function: Callable[[Any], Any], item: object) -> _Answer:
    try:
        return "result", function(item)
    except BadInputError as error:
        # An exception with keywords cannot be pickled as it is.
        keywords = {key: getattr(error, key) for key in ("allowed", "file", "line", "key")}
        return "bad input", (error.problem, keywords)
    except Exception:
        return "fault", traceback.format_exc()


def _receive(connection: Connection) -> _Answer:
    try:
        return cast("_Answer", connection.recv())
    except (EOFError, ConnectionResetError):
        raise MissingCapabilityError(
            "a process that simulated was killed, most likely for its memory",
            remedy="free some memory and run it again",
        ) from None


def _unwrap(answer: _Answer) -> Any:
    kind, content = answer
    if kind == "bad input":
        problem, keywords = content
        raise BadInputError(problem, **keywords)
    if kind == "fault":
        raise RuntimeError(f"in a process that simulated:\n{content}")
    return content
