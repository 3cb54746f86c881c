"""Measures points of one training, one after the other, in as few processes as it takes."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

from emulator.interrupt import interrupts_ignored
from emulator.limits.cpu_list import parse_cpu_list
from profiler.allocation import Allocation
from profiler.limits.evidence import EvidenceSampler
from profiler.limits.memory_guard import memory_guard_bytes
from profiler.limits.point_limits import PointLimits
from profiler.measuring.attempt import Attempt, Records
from profiler.measuring.collector import Collector
from profiler.measuring.disturbance import cpu_time_of, others_cpus
from profiler.measuring.training import Patience
from profiler.measuring.training_process import (
    TrainingEndedError,
    TrainingProcess,
    TrainingSilentError,
)
from profiler.sensitivity.measured_point import MeasuredPoint, Purpose
from profiler.sensitivity.precision import Precision
from profiler.training.protocol import (
    Allocate,
    Allocated,
    Iterations,
    NotFinite,
    OutOfMemory,
    Ready,
    Refused,
    Source,
)
from traces.errors import BadInputError

_OTHER_PYTHON = "No module named 'profiler'"
"""What a Python says that cannot measure a script."""

_LEAST_FILL_BYTES_PER_S = 10e6
"""No storage fills a cache more slowly than this."""


class TrainingFailedError(BadInputError):
    """The training does not get as far as to be measured."""


class PointMeter:
    """Context; leaving it ends the training.

    command: of the training process. log: where all that it prints goes. stop: whether the person
    has asked to stop; then ``measure`` raises StoppedError, and what it measured is lost.
    """

    def __init__(
        self,
        command: Sequence[str],
        limits: PointLimits,
        patience: Patience,
        log: Path,
        stop: Callable[[], bool],
    ) -> None:
        self._command = command
        self._limits = limits
        self._patience = patience
        self._log = log
        self._stop = stop
        self._sampler = EvidenceSampler(limits)
        self._process: TrainingProcess | None = None
        self._is_fresh = True
        self._baseline_bytes: int | None = None
        self.ready: Ready | None = None
        self.starts = 0

    def __enter__(self) -> PointMeter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with interrupts_ignored():
            self._sampler.close()
            self._end_process()

    def begin(self) -> Ready:
        """Start the training; what it is. It waits then, until the first point.

        Raises
        ------
        TrainingFailedError: it ends, or is silent, before its first iteration would begin.
        """
        try:
            _, self.ready = self._start()
        except (TrainingEndedError, TrainingSilentError) as error:
            self._end_process()
            raise self.failure(str(error)) from None
        if self.ready.device.startswith("cuda"):
            self._sampler.watch_gpu(self.ready.options.get("gpu_uuid"))
        return self.ready

    @property
    def gpu_uuid(self) -> str | None:
        """Of the GPU that the training computes on: as NVML has it, or without NVML as CUDA has it.

        None of a training on CPUs, and before it has begun.
        """
        told = None if self.ready is None else self.ready.options.get("gpu_uuid")
        return self._sampler.gpu_uuid or told

    def failure(self, reason: str) -> TrainingFailedError:
        """The error of a training of which nothing could be measured."""
        wanted = (
            "a training that iterates over a DataLoader or a TrainingIterator until told to end"
        )
        if _OTHER_PYTHON in reason:
            wanted = f"a Python in which roundelay is installed, such as {sys.executable}"
        allowed = f"{wanted}; what it printed is in {self._log}"
        return TrainingFailedError(reason, allowed=allowed)

    def measure(
        self, allocation: Allocation, purpose: Purpose, source: Source = "stored"
    ) -> tuple[MeasuredPoint, Records]:
        """One point with its iterations; where nothing could be measured it says why.

        Raises StoppedError, see the class.
        """
        attempt = Attempt(allocation, purpose)
        while True:
            was_fresh = self._is_fresh or self._process is None
            try:
                process = self._process or self._start()[0]
                self._attempt(process, attempt, source)
            except TrainingEndedError as error:
                self._give_up_process(attempt)
                if error.by_itself and attempt.is_steady:
                    break  # it came to its end, and until then it was measured
                if error.by_itself and not was_fresh:
                    continue  # it came to its end among the iterations of many points
                attempt.fail("failed", _reason(error))
            except TrainingSilentError as error:
                self._give_up_process(attempt)
                attempt.fail("failed", str(error))
            break
        is_script = self.ready is not None and self.ready.kind == "script"
        if is_script and attempt.state == "out-of-memory":
            self._end_process()  # a script does not outlive it
        return attempt.point(), attempt.records

    def _attempt(self, process: TrainingProcess, attempt: Attempt, source: Source) -> None:
        """Errors of TrainingProcess.next_event where it ends or is silent."""
        self._is_fresh = False
        allocation = attempt.allocation
        # A cache that grows or shrinks must not find the guard of another one in its way.
        self._limits.set(allocation)
        process.send(Allocate(allocation.cpus, allocation.cache_bytes, source))
        allocated = self._await_allocated(process, attempt)
        if allocated is None:
            return
        enforced = self._limits.set(allocation, self._guard_bytes(allocated.cached_bytes))
        attempt.evidence = {
            "enforced": enforced.to_document(),
            "workers": allocated.workers,
            "threads": allocated.threads,
            "cached_items": allocated.cached_items,
            "cached_bytes": allocated.cached_bytes,
            "process": self.starts,
        }
        cpus = parse_cpu_list(enforced.cpu_list)
        before = cpu_time_of(cpus)
        self._sampler.begin()
        self._collect(process, attempt, allocated)
        evidence = self._sampler.end()
        attempt.evidence["point"] = evidence.to_document()
        if evidence.cpu.used_s is not None:
            used_cpus = evidence.cpu.used_s / evidence.elapsed_s
            others = others_cpus(before, cpu_time_of(cpus), len(cpus), used_cpus)
            attempt.evidence["others_cpus"] = others
        held_bytes = evidence.memory.highest_held_bytes
        if self._baseline_bytes is None and held_bytes is not None:
            # Of the first point, which has the most CPUs: what is held beside the cache.
            self._baseline_bytes = max(held_bytes - allocated.cached_bytes, 0)

    def _await_allocated(self, process: TrainingProcess, attempt: Attempt) -> Allocated | None:
        """None where it cannot take the allocation, which ``attempt`` says then."""
        fill_s = attempt.allocation.cache_bytes / _LEAST_FILL_BYTES_PER_S
        while True:
            event = process.next_event(self._patience.silence_s + fill_s, self._stop)
            if isinstance(event, Allocated):
                return event
            if isinstance(event, Refused):
                attempt.fail("failed", event.message)
                return None
            if isinstance(event, OutOfMemory):
                attempt.fail("out-of-memory", event.message)
                return None

    def _collect(self, process: TrainingProcess, attempt: Attempt, allocated: Allocated) -> None:
        begun_s = time.monotonic()
        collector = Collector(Precision(self._patience.budget_s), self._period(allocated))
        attempt.collector = collector
        while not collector.is_done(time.monotonic() - begun_s):
            event = process.next_event(self._patience.silence_s, self._stop)
            if isinstance(event, Iterations):
                collector.add(event.records)
                attempt.latest = event
            elif isinstance(event, NotFinite):
                attempt.evidence["not_finite_iteration"] = event.iteration
            elif isinstance(event, OutOfMemory):
                attempt.fail("out-of-memory", event.message)
                return

    def _period(self, allocated: Allocated) -> int:
        """Iterations after which times repeat: a burst of all workers, or an epoch."""
        burst = max(allocated.workers or 1, 1)
        epoch = None if self.ready is None else self.ready.epoch_iterations
        return burst if epoch is None else max(min(burst, epoch), 1)

    def _guard_bytes(self, cached_bytes: int) -> int | None:
        if self._baseline_bytes is None:
            return None
        return memory_guard_bytes(self._baseline_bytes, cached_bytes)

    def _give_up_process(self, attempt: Attempt) -> None:
        """Keep what is known of its end: the kernel may have ended it at the memory limit."""
        with contextlib.suppress(ValueError):  # no point had begun
            attempt.evidence["point"] = self._sampler.end().to_document()
        self._end_process()

    def _start(self) -> tuple[TrainingProcess, Ready]:
        process = self._process = TrainingProcess(self._command, self._limits, self._log)
        self._is_fresh = True
        self.starts += 1
        while True:
            event = process.next_event(self._patience.silence_s, self._stop)
            if isinstance(event, Ready):
                return process, event

    def _end_process(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None


def _reason(error: TrainingEndedError) -> str:
    if not error.by_itself:
        return str(error)
    return (
        f"the training ended by itself after {error.iterations} iterations, before their times "
        "were steady: have it train for more epochs"
    )
