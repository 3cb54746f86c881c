"""DALI's Python workers: one that is killed is an error at once, and nothing ever waits for it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from profiler.loading.failure import LoadingError

if TYPE_CHECKING:
    from nvidia.dali.pipeline import Pipeline

_QUEUES_CLOSE_WITHIN_S = 2.0


@contextmanager
def watched_workers(pipeline: Pipeline) -> Iterator[None]:
    """LoadingError as soon as one of the pipeline's workers has ended.

    Where a worker is killed while it waits for work, DALI waits for it for ever, on a semaphore:
    only a signal handler gets out of that, and only in the main thread.
    """
    pids = _pool_of(pipeline).pids()

    def check(number: int = 0, frame: FrameType | None = None) -> None:
        _check_running(pids)

    if threading.current_thread() is not threading.main_thread():
        check()
        yield
        return
    before = signal.signal(signal.SIGCHLD, check)
    try:
        check()  # it may have ended just before
        yield
    finally:
        signal.signal(signal.SIGCHLD, before)


def end_workers(pipeline: Pipeline) -> None:
    """End the pipeline's workers, whatever they do or wait for.

    Nothing public ends them while a traceback still refers to the pipeline. And DALI ends them by
    a message in a queue that they share: where one was killed in that queue, the thread that sends
    the message waits for it for ever, and the caller for that thread. Without the message, a worker
    leaves nothing behind that would outlive it, so that all of them are killed.
    """
    pool = _pool_of(pipeline).pool
    observer = pool._observer
    pool._observer = None  # else DALI would send the message when the pipeline is freed
    for process in pool._processes:
        process.kill()
    # The thread that waits for their ends closes the queue of results as well: for ever, where the
    # killed worker was writing to it. Then the thread stays until the program ends.
    observer.thread.join(_QUEUES_CLOSE_WITHIN_S)
    for process in pool._processes:
        process.join()


def _pool_of(pipeline: Pipeline) -> Any:
    """Its workers; DALI names them nowhere else."""
    return pipeline._py_pool


def _check_running(pids: Sequence[int]) -> None:
    ended = [pid for pid in pids if _has_ended(pid)]
    if ended:
        raise LoadingError(f"DALI worker {ended[0]} was killed")


def _has_ended(pid: int) -> bool:
    """Of a child, whether or not DALI has waited for it."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True
