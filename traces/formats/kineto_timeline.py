"""When a trace's GPU computed, when it stood still for the network, and when data were ready.

The rule behind all of it: GPU work waits for the network where its stream was free, the host had
launched it, and it began only once a collective had ended. Other gaps are the host's own time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from traces.formats.kineto_events import KinetoEvents, Step

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Spans(NamedTuple):
    """Spans of time, s; two arrays of shape (number of spans,)."""

    start_s: FloatArray
    end_s: FloatArray


class GpuWork(NamedTuple):
    """Computing on the GPU: arrays of shape (number of kernels,), in order of ``issued_s``.

    launch_s: when the host launched it, NaN where the trace does not say.
    issued_s: the same, or the start where the trace does not say.
    """

    spans: Spans
    launch_s: FloatArray
    issued_s: FloatArray
    stream: IntArray


class StepClock(NamedTuple):
    """One iteration by the GPU's clock.

    origin_s: when it began: the host's begin of the step, plus what the GPU was behind the host.
    last_work_s: when the last of its work began on the GPU; minus infinity where there is none.
    """

    origin_s: float
    duration_s: float
    last_work_s: float


@dataclass(frozen=True)
class Exposure:
    """Where computing stood still for the network.

    spans: apart from each other and ascending.
    waited_for: per NCCL kernel, whether some work began because that kernel had ended.
    """

    spans: Spans
    waited_for: NDArray[np.bool_]

    def between(self, start_s: float, end_s: float) -> float:
        """Seconds of standing still in [start_s, end_s]; 0 where that is empty."""
        return max(0.0, self._until(end_s) - self._until(start_s))

    @cached_property
    def _total_s(self) -> FloatArray:
        return np.cumsum(self.spans.end_s - self.spans.start_s)

    def _until(self, time_s: float) -> float:
        begun = int(np.searchsorted(self.spans.start_s, time_s))
        if not begun:
            return 0.0
        return float(self._total_s[begun - 1] - max(0.0, self.spans.end_s[begun - 1] - time_s))


def launch_times(events: KinetoEvents, correlations: Sequence[int]) -> FloatArray:
    """When the host launched the GPU activities of these correlation ids, s; NaN if unknown."""
    wanted = np.asarray(correlations, dtype=np.int64)
    known = np.asarray(events.call_correlation, dtype=np.int64)
    if not len(known):
        return np.full(len(wanted), np.nan)
    order = np.argsort(known, kind="stable")
    place = np.clip(np.searchsorted(known[order], wanted), 0, len(known) - 1)
    found = known[order][place] == wanted
    return np.where(found, np.asarray(events.call_s)[order][place], np.nan)


def gpu_work(events: KinetoEvents) -> GpuWork:
    """The computing in ``events``, with the time of each launch."""
    start_s = np.asarray(events.work_start_s, dtype=np.float64)
    launch_s = launch_times(events, events.work_correlation)
    issued_s = np.where(np.isnan(launch_s), start_s, launch_s)
    order = np.argsort(issued_s, kind="stable")
    spans = Spans(start_s[order], np.asarray(events.work_end_s, dtype=np.float64)[order])
    stream = np.asarray(events.work_stream, dtype=np.int64)[order]
    return GpuWork(spans, launch_s[order], issued_s[order], stream)


def find_exposure(work: GpuWork, host_waits: Spans, network: Spans) -> Exposure:
    """Where work, or a host call that waits for the GPU, stood still for the ``network``.

    network: the NCCL kernels.
    """
    free_s = np.fmax(work.launch_s, previous_ends(work.spans, work.stream))
    wanted_s = np.concatenate([free_s, _host_waits_after_work(work, host_waits)])
    got_s = np.concatenate([work.spans.start_s, host_waits.end_s])
    waited_for = np.zeros(len(network.end_s), dtype=np.bool_)
    if not len(network.end_s):
        return Exposure(Spans(np.empty(0), np.empty(0)), waited_for)
    by_end = np.argsort(network.end_s, kind="stable")
    ends_s = network.end_s[by_end]
    last_ended = np.searchsorted(ends_s, got_s, side="right") - 1
    released_s = np.where(last_ended >= 0, ends_s[np.maximum(last_ended, 0)], -np.inf)
    waited = released_s > wanted_s
    waited_for[by_end[last_ended[waited]]] = True
    waits = Spans(wanted_s[waited], released_s[waited])
    return Exposure(_overlap_without(waits, network, work.spans), waited_for)


def previous_ends(spans: Spans, stream: IntArray) -> FloatArray:
    """Per span, when the one before it on its stream ended, s; NaN for the first of a stream."""
    order = np.lexsort((spans.start_s, stream))
    same = stream[order][1:] == stream[order][:-1]
    ends_s = np.full(len(order), np.nan)
    ends_s[order[1:]] = np.where(same, spans.end_s[order][:-1], np.nan)
    return ends_s


def _host_waits_after_work(work: GpuWork, host_waits: Spans) -> FloatArray:
    """When each host wait was left with nothing but the network to wait for, s."""
    ends_s = np.sort(work.spans.end_s)
    last = np.searchsorted(ends_s, host_waits.end_s, side="right") - 1
    last_end_s = np.concatenate([ends_s, [-np.inf]])[last]
    return np.asarray(np.maximum(host_waits.start_s, last_end_s))


def _overlap_without(waits: Spans, network: Spans, work: Spans) -> Spans:
    """The spans in ``waits`` and in ``network`` but not in ``work``."""
    counted = [(waits, (1, 0, 0)), (network, (0, 1, 0)), (work, (0, 0, 1))]
    edges_s = np.concatenate([edge for spans, _ in counted for edge in spans])
    changes = np.concatenate(
        [
            np.tile(np.array(change, dtype=np.int8) * sign, (len(spans.start_s), 1))
            for spans, change in counted
            for sign in (1, -1)
        ]
    )
    order = np.argsort(edges_s, kind="stable")
    open_spans = np.cumsum(changes[order], axis=0, dtype=np.int32)[:-1]
    start_s, end_s = edges_s[order][:-1], edges_s[order][1:]
    in_waits, in_network, in_work = open_spans.T > 0
    exposed = in_waits & in_network & ~in_work & (end_s > start_s)
    return Spans(start_s[exposed], end_s[exposed])


def step_clocks(steps: Sequence[Step], work: GpuWork) -> tuple[StepClock, ...]:
    """The GPU's clock of each step, by the work that the host issued in it.

    The host runs ahead of a busy GPU: then a step's work begins and ends later than the host's
    span, and its length is the GPU's.
    """
    stream_free_s = previous_ends(work.spans, work.stream)
    could_begin_s = np.where(np.isnan(stream_free_s), work.spans.start_s, stream_free_s)
    clocks = []
    for step in steps:
        first, after = np.searchsorted(work.issued_s, (step.start_s, step.end_s))
        origin_s, end_s, last_work_s = step.start_s, step.end_s, -np.inf
        if after > first:
            origin_s += max(0.0, float(could_begin_s[first] - work.issued_s[first]))
            end_s = float(work.spans.end_s[first:after].max())
            last_work_s = float(work.spans.start_s[first:after].max())
        duration_s = max(step.end_s - step.start_s, end_s - origin_s)
        clocks.append(StepClock(origin_s, duration_s, last_work_s))
    return tuple(clocks)


def data_ready_times(work: GpuWork, issued_s: FloatArray) -> FloatArray:
    """When the data of collectives issued at ``issued_s`` were ready, s.

    A collective takes what the work issued before it leaves behind (its stream waits for an event
    recorded there), so it is ready once that work has ended.
    """
    latest_end_s = np.maximum.accumulate(np.concatenate([[-np.inf], work.spans.end_s]))
    return np.asarray(np.maximum(issued_s, latest_end_s[np.searchsorted(work.issued_s, issued_s)]))
