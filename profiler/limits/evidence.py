"""Gathers, over one measured point, what the kernel and the GPU tell of it."""

from __future__ import annotations

import contextlib
import os
import threading
import time

from emulator.limits.cpu_list import format_cpu_list
from profiler.limits.gpu_counters import GpuCounters, GpuSample, clock_reason_names
from profiler.limits.gpu_evidence import GpuEvidence, gpu_evidence
from profiler.limits.group_files import memory_split_of, pressure_of
from profiler.limits.kernel_text import MemorySplit
from profiler.limits.point_evidence import (
    PointEvidence,
    Reading,
    cpu_evidence,
    memory_evidence,
    point_evidence,
    pressure_evidence,
    storage_evidence,
)
from profiler.limits.point_limits import PointLimits
from profiler.limits.process_totals import read_proportional_memory, read_totals
from traces.errors import MissingCapabilityError

_INTERVAL_S = 0.2
_MOST_SAMPLES = 4096
"""Of the GPU; of a longer point every second one is kept, so that memory stays bounded."""


class EvidenceSampler:
    """``begin`` and ``end`` around a point, as often as there are points; ``close`` at last."""

    def __init__(self, limits: PointLimits) -> None:
        self._limits = limits
        self._gpu: GpuCounters | None = None
        self._no_gpu = "the training uses no GPU"
        self._before: Reading | None = None
        self._sampling: _Sampling | None = None

    def watch_gpu(self, uuid: str | None) -> None:
        """Sample a GPU from the next point on; where that cannot be, points say why.

        uuid: of the one that the training uses; None where it does not tell, for the only one.
        """
        self.close()
        try:
            self._gpu = GpuCounters(uuid)
        except MissingCapabilityError as error:
            self._no_gpu = str(error)

    @property
    def gpu_uuid(self) -> str | None:
        """Of the GPU that is sampled, as NVML has it; None where none is."""
        return None if self._gpu is None else self._gpu.uuid

    def begin(self) -> None:
        """The point begins now; one that has not ended is given up."""
        if self._sampling is not None:
            self._sampling.close()
        self._before = self._read()
        self._sampling = _Sampling(self._limits, self._gpu)

    def end(self) -> PointEvidence:
        """The point ends now, while its processes still run; what it was. ValueError without a
        beginning."""
        before, sampling = self._before, self._sampling
        if before is None or sampling is None:
            raise ValueError("no point has begun")
        self._before = self._sampling = None
        after = self._read()
        sampling.close()
        missing_limits = self._limits.available.missing
        cpu, no_cpu = cpu_evidence(before, after, self._cpus_allowed(), missing_limits.get("cpu"))
        memory, no_memory = memory_evidence(
            before,
            after,
            sampling.split,
            sampling.highest_held_bytes,
            read_proportional_memory(self._limits.processes),
            missing_limits.get("memory"),
        )
        read_bytes, no_storage = storage_evidence(before, after)
        reasons = no_cpu | no_memory | {"storage_read_bytes": no_storage}
        reasons["pressure.stalled"] = "the kernel does not count it (CONFIG_PSI, psi=1)"
        gpu = self._gpu_evidence(sampling.gpu_samples)
        reasons["gpu"] = self._no_gpu
        if self._gpu is not None:
            reasons |= {f"gpu.{name}": why for name, why in self._gpu.refused.items()}
        return point_evidence(
            after.at_s - before.at_s,
            cpu,
            memory,
            pressure_evidence(before, after),
            read_bytes,
            gpu,
            reasons,
        )

    def close(self) -> None:
        """Stop to watch the GPU. A point that has not ended is given up."""
        if self._sampling is not None:
            self._sampling.close()
            self._before = self._sampling = None
        if self._gpu is not None:
            self._gpu.close()
            self._gpu = None

    def _read(self) -> Reading:
        scope, pressure = pressure_of(self._limits.places)
        return Reading(
            time.monotonic(),
            self._limits.usage(),
            read_totals(self._limits.processes),
            scope,
            pressure,
            self._limits.threads_put_back,
        )

    def _cpus_allowed(self) -> str | None:
        allowed: set[int] = set()
        for pid in self._limits.processes():
            with contextlib.suppress(ProcessLookupError):
                allowed |= os.sched_getaffinity(pid)
        return format_cpu_list(allowed) if allowed else None

    def _gpu_evidence(self, samples: list[GpuSample]) -> GpuEvidence | None:
        if self._gpu is None:
            return None
        return gpu_evidence(self._gpu.name, self._gpu.uuid, samples, clock_reason_names)


class _Sampling:
    """A thread that samples, until it is closed: first at once, at last when it is closed."""

    def __init__(self, limits: PointLimits, gpu: GpuCounters | None) -> None:
        self.split: MemorySplit | None = None
        """The last."""
        self.highest_held_bytes: int | None = None
        self.gpu_samples: list[GpuSample] = []
        self._limits = limits
        self._gpu = gpu
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="evidence", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        self._sample()
        while not self._closed.wait(_INTERVAL_S):
            self._sample()
        self._sample()

    def _sample(self) -> None:
        if self._gpu is not None:
            self.gpu_samples.append(self._gpu.sample())
            if len(self.gpu_samples) > _MOST_SAMPLES:
                del self.gpu_samples[1::2]
        self.split = memory_split_of(self._limits.places)
        if self.split is not None:
            self.highest_held_bytes = max(self.split.held_bytes, self.highest_held_bytes or 0)
