"""A training job on this machine, counted: what its network devices carry while it runs."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from emulator.iterations import SOCKET_VARIABLE
from netshaper.parent_death import end_with_parent
from profiler.limits.process_tree import ProcessTree
from profiler.measuring.as_caller import as_caller
from profiler.network.counter_readings import Readings
from profiler.network.counter_sampler import CounterSampler
from profiler.network.device_counters import CountedDevice
from profiler.network.iteration_marks import IterationMarks, Mark
from traces.errors import BadInputError

LOG_NAME = "command.log"

_LOOK_S = 0.2
_LOOK_AROUND_S = 1.0
_END_GRACE_S = 40.0
"""torchrun lets its workers have 30 s to end (torch.distributed.elastic.multiprocessing)."""


@dataclass(frozen=True)
class JobHere:
    """What to run. iterations: that count, after the first and ``warmup_iterations`` more; the
    command is ended after them, if it says when it has done one. environment: that it gets beside
    this process's own."""

    command: tuple[str, ...]
    iterations: int
    warmup_iterations: int
    interval_s: float
    devices: tuple[CountedDevice, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def all_iterations(self) -> int:
        return 1 + self.warmup_iterations + self.iterations


@dataclass(frozen=True)
class CountedRun:
    """A job as it ran. Times are from its start on, which was at ``began_unix_s``.

    marks: those of iterations that count, and the one before them; none where the command said
        nothing. iterations_done: all that it told.
    status: its exit status, or minus a signal; None where it was ended.
    """

    job: JobHere
    readings: Readings
    marks: tuple[Mark, ...]
    iterations_done: int
    refused_reports: int
    began_unix_s: float
    length_s: float
    status: int | None
    interrupted: bool


def count_command(
    job: JobHere,
    directory: Path,
    progress: Callable[[int, int], None],
    stop_wanted: Callable[[], bool],
) -> CountedRun:
    """Run the command to its end, to that of ``job.iterations``, or until a stop is wanted.

    All that it prints goes to LOG_NAME in ``directory``. Raises BadInputError where it cannot be
    run, EmulationError where the counters cannot be read.
    """
    marks = IterationMarks()
    with (
        contextlib.closing(marks),
        CounterSampler(job.devices, job.interval_s) as sampler,
        _running(job, marks.name, directory / LOG_NAME) as command,
    ):
        began_s, began_unix_s = time.monotonic(), time.time()
        while command.is_running() and marks.done < job.all_iterations and not stop_wanted():
            select.select([command.fileno(), marks.fileno()], [], [], _LOOK_S)
            marks.take()
            progress(min(marks.done, job.all_iterations), job.all_iterations)
        marks.take()  # what it told just before it ended
        length_s = time.monotonic() - began_s
        readings = sampler.stop()
        status = command.status()
    return CountedRun(
        job=job,
        readings=replace(readings, times_s=readings.times_s - began_s),
        marks=tuple(
            Mark(mark.t_s - began_s, mark.done)
            for mark in marks.marks
            if mark.done > job.warmup_iterations
        ),
        iterations_done=marks.done,
        refused_reports=marks.refused,
        began_unix_s=began_unix_s,
        length_s=length_s,
        status=status,
        interrupted=stop_wanted(),
    )


class _Command:
    """The processes of the command: a session of their own, and what they start outside of it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._tree = ProcessTree(process.pid)
        self._descriptor = os.pidfd_open(process.pid)
        self._next_look_s = 0.0

    def fileno(self) -> int:
        """Readable when the first process has ended."""
        return self._descriptor

    def is_running(self) -> bool:
        """Looks for what it has started, too, which takes a while where that is much."""
        if time.monotonic() >= self._next_look_s:
            self._tree.processes()
            self._next_look_s = time.monotonic() + _LOOK_AROUND_S
        return self.status() is None

    def status(self) -> int | None:
        """Its exit status, or minus a signal; None while it runs. It is not waited for yet."""
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        ended = os.waitid(os.P_PIDFD, self._descriptor, how)
        if ended is None:
            return None
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    def end(self) -> None:
        """Ask it to end, as a person's kill does, and end all of it."""
        try:
            if self.status() is None:
                os.killpg(self._process.pid, signal.SIGTERM)
                select.select([self._descriptor], [], [], _END_GRACE_S)
        finally:  # also where a person wants it to end at once
            # The session's id is no other's as long as its first process was not waited for.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._tree.kill()
            self._process.wait()
            os.close(self._descriptor)


@contextlib.contextmanager
def _running(job: JobHere, marks: str, log: Path) -> Iterator[_Command]:
    written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        process = subprocess.Popen(
            as_caller(job.command),
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=written,
            env={**os.environ, **dict(job.environment), SOCKET_VARIABLE: marks},
            start_new_session=True,  # a person's Ctrl-C is for the profiler alone
            preexec_fn=partial(end_with_parent, os.getpid()),
        )
    except OSError as error:
        log.unlink()  # so that the directory may be used again
        raise BadInputError(
            f"{job.command[0]} cannot be run: {error.strerror}", allowed="a command after --"
        ) from None
    finally:
        os.close(written)
    command = _Command(process)
    try:
        yield command
    finally:
        command.end()
