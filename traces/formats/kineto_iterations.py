"""Places the collectives of a trace in its iterations, on the GPU's compute timeline."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from traces.communication_trace import CollectiveRecord, IterationRecord
from traces.formats.kineto_collectives import Collective
from traces.formats.kineto_events import KinetoEvents, Step
from traces.formats.kineto_timeline import (
    Exposure,
    FloatArray,
    Spans,
    StepClock,
    data_ready_times,
    find_exposure,
    gpu_work,
    previous_ends,
    step_clocks,
)

# Computing waited for a collective if it stood still for at least this part of its life.
WAITED_PART = 0.5


@dataclass(frozen=True)
class _Life:
    """A collective by the GPU's clock. end_s is NaN where the trace joins no kernel to it."""

    start_s: float
    ready_s: float
    end_s: float
    released_work: bool


def measure_iterations(
    events: KinetoEvents, steps: Sequence[Step], collectives: Sequence[Collective]
) -> tuple[IterationRecord, ...]:
    """One record per step, with the ``collectives`` that the host issued in its span.

    steps: in order of time, apart from each other. collectives: in order of issue; those outside
    every step are in no record.
    """
    work = gpu_work(events)
    kernels = Spans(
        np.array([kernel.start_s for kernel in events.nccl_kernels], dtype=np.float64),
        np.array([kernel.end_s for kernel in events.nccl_kernels], dtype=np.float64),
    )
    streams = np.array([kernel.stream for kernel in events.nccl_kernels], dtype=np.int64)
    host_waits = Spans(np.asarray(events.wait_start_s), np.asarray(events.wait_end_s))
    exposure = find_exposure(work, host_waits, kernels)
    issued_s = np.array([collective.issued_s for collective in collectives], dtype=np.float64)
    data_ready_s = data_ready_times(work, issued_s)
    stream_free_s = previous_ends(kernels, streams)
    begins_s = [step.start_s for step in steps]
    members: list[list[tuple[Collective, _Life]]] = [[] for _ in steps]
    for collective, ready_s in zip(collectives, data_ready_s.tolist(), strict=True):
        place = bisect_right(begins_s, collective.issued_s) - 1
        if place >= 0 and collective.issued_s < steps[place].end_s:
            life = _life(collective, ready_s, kernels, stream_free_s, exposure)
            members[place].append((collective, life))
    clocks = step_clocks(steps, work)
    return tuple(
        _iteration(index, step, clock, exposure, mine)
        for index, (step, clock, mine) in enumerate(zip(steps, clocks, members, strict=True))
    )


def _life(
    collective: Collective,
    data_ready_s: float,
    kernels: Spans,
    stream_free_s: FloatArray,
    exposure: Exposure,
) -> _Life:
    """Its kernel's start is when its data were ready, unless it queued behind another collective.

    A queue of collectives is the doing of the fabric that was measured.
    """
    if not collective.kernels:
        return _Life(data_ready_s, data_ready_s, np.nan, released_work=False)
    mine = list(collective.kernels)
    start_s = float(kernels.start_s[mine].min())
    queued = bool(stream_free_s[mine[0]] > data_ready_s)
    return _Life(
        start_s,
        min(start_s, data_ready_s) if queued else start_s,
        float(kernels.end_s[mine].max()),
        bool(exposure.waited_for[mine].any()),
    )


def _iteration(
    index: int,
    step: Step,
    clock: StepClock,
    exposure: Exposure,
    members: Sequence[tuple[Collective, _Life]],
) -> IterationRecord:
    end_s = clock.origin_s + clock.duration_s
    compute_s = clock.duration_s - exposure.between(clock.origin_s, end_s)
    records = []
    for collective, life in members:
        stood_still_s = exposure.between(life.ready_s, life.end_s)
        ready_s = life.ready_s - clock.origin_s - exposure.between(clock.origin_s, life.ready_s)
        records.append(
            CollectiveRecord(
                name=collective.operation,
                start_s=life.start_s - clock.origin_s,
                ready_s=min(max(ready_s, 0.0), compute_s),
                elements=collective.elements,
                dtype=collective.dtype,
                bytes=collective.buffer_bytes,
                wire_bytes=collective.wire_bytes,
                group_size=collective.group_size,
                compute_waited=life.released_work
                and stood_still_s >= WAITED_PART * (life.end_s - life.ready_s),
                # Not "last_work_s >= end_s": an end that is not known compares false.
                work_follows=not clock.last_work_s < life.end_s,
            )
        )
    return IterationRecord(index, step.name, clock.duration_s, compute_s, tuple(records))
