"""PyTorch profiler (Kineto) traces -> the network demand of one training iteration.

Importers give bytes and ready times: a transfer's duration on somebody else's fabric is not a
demand, so what computing waited for the network there is taken out of the compute timeline.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from traces.demand import Demand, Transfer
from traces.errors import BadInputError
from traces.formats.kineto_collectives import WITHOUT_SIZES, find_collectives, pattern_of
from traces.formats.kineto_events import KinetoEvents, Step, read_kineto_events
from traces.formats.kineto_iterations import (
    CollectiveRecord,
    IterationRecord,
    measure_iterations,
)
from traces.formats.kineto_notes import (
    notes_on_collectives,
    notes_on_iterations,
    notes_on_trace,
    notes_on_transfers,
)
from traces.formats.kineto_timeline import launch_times
from traces.model_profile import ModelProfile

__all__ = ["CollectiveRecord", "IterationRecord", "KinetoImport", "import_kineto"]

# The smallest transfers of an iteration stay out of its demand up to this part of its bytes:
# at an emulator's scaled rates they are less than a packet or two, and cannot be told from noise.
NEGLIGIBLE_PART = 0.005

_ALLOWED = (
    "a torch.profiler trace of one rank of a distributed job, with profiler.step() called in the "
    "loop and the sizes of collectives in record_param_comms, as recent versions of PyTorch write"
)


@dataclass(frozen=True)
class KinetoImport:
    """A profile, the iterations that it was made from, and what was left out or assumed."""

    profile: ModelProfile
    iterations: tuple[IterationRecord, ...]
    notes: tuple[str, ...]


_Slot = tuple[CollectiveRecord, ...]  # the same collective in each iteration


class _Parts(NamedTuple):
    """The collectives of the usual iteration: what makes the demand, and what does not.

    sent: in order of ready times.
    """

    sent: list[_Slot]
    negligible: list[_Slot]
    received: list[_Slot]


def import_kineto(file: Path, model: str | None = None) -> KinetoImport:
    """Read the trace of one rank (.json, plain or gzip) into a profile with its Demand.

    The demand is that of the most common sequence of collectives: medians over the iterations that
    have it. The last transfer is ``blocking`` where computing goes on after it (the optimizer), and
    so is every transfer that computing stood still for. A blocking transfer holds the timeline from
    the time it is ready; work that the trace overlaps with it then comes after it.

    model: the profile's name for it; the file's name by default. Raises BadInputError.
    """
    events = read_kineto_events(file)
    launched_s = launch_times(events, [kernel.correlation for kernel in events.nccl_kernels])
    began_s = np.array([kernel.start_s for kernel in events.nccl_kernels], dtype=np.float64)
    kernel_issued_s = np.where(np.isnan(launched_s), began_s, launched_s).tolist()
    collectives, left_out = find_collectives(events.records, events.nccl_kernels, kernel_issued_s)
    if not collectives:
        raise BadInputError(
            _why_nothing_moves(left_out), allowed=_ALLOWED, file=file, key="traceEvents"
        )
    iterations = measure_iterations(events, _checked_steps(events, file), collectives)
    representative = _most_common(iterations)
    if not representative:
        raise BadInputError(
            "all of its collectives were issued outside the 'ProfilerStep#N' spans",
            allowed=_ALLOWED,
            file=file,
            key="traceEvents",
        )
    parts = _split(representative)
    if not parts.sent:
        raise BadInputError(
            "its rank only receives", allowed=_ALLOWED, file=file, key="traceEvents"
        )
    outside = len(collectives) - sum(len(iteration.collectives) for iteration in iterations)
    left_out += Counter({"issued outside every 'ProfilerStep#N' span": outside})
    num_gpus = max(events.world_size or 0, *(one.group_size for one in collectives))
    profile = ModelProfile(
        model=model or _model_name(file),
        num_gpus=num_gpus,
        gpu_type=events.gpu_type,
        demand=_demand(parts.sent, _median([iteration.compute_s for iteration in representative])),
        provenance="measured",
        source=_source(file, events, len(representative)),
        measured_iteration_s=_median([iteration.duration_s for iteration in representative]),
    )
    notes = (
        *notes_on_collectives(left_out, collectives),
        *notes_on_iterations(iterations, representative),
        *notes_on_transfers(
            [slot[0] for slot in parts.received],
            [slot[0] for slot in parts.negligible],
            _wire_bytes([*parts.sent, *parts.negligible]),
        ),
        *notes_on_trace(events, representative, num_gpus),
    )
    return KinetoImport(profile, iterations, notes)


def _checked_steps(events: KinetoEvents, file: Path) -> list[Step]:
    steps = sorted(events.steps, key=lambda step: step.start_s)
    if not steps:
        raise BadInputError(
            "has no 'ProfilerStep#N' spans, so its iterations are not known",
            allowed=_ALLOWED,
            file=file,
            key="traceEvents",
        )
    for before, after in pairwise(steps):
        # Times in the file are rounded to nanoseconds; a step may seem to begin before the last.
        if after.start_s < before.end_s - 1e-6:
            raise BadInputError(
                f"{after.name} begins before {before.name} ends",
                allowed="the trace of one rank, not several merged into one",
                file=file,
                key="traceEvents",
            )
    return steps


def _why_nothing_moves(left_out: Counter[str]) -> str:
    if not left_out:
        return "has no collectives: a single GPU puts nothing on the network"
    if set(left_out) == {WITHOUT_SIZES}:
        return "has collectives, but no NCCL metadata that says their sizes"
    reasons = ", ".join(f"{reason} ({count})" for reason, count in left_out.most_common(3))
    return f"has no collective that moves bytes: {reasons}"


def _sequence(iteration: IterationRecord) -> tuple[tuple[str, int, str], ...]:
    return tuple((one.name, one.elements, one.dtype) for one in iteration.collectives)


def _most_common(iterations: Sequence[IterationRecord]) -> list[IterationRecord]:
    """The iterations with the most common sequence of collectives.

    Between equals, the later one: data-parallel training rebuilds its buckets after its first
    iteration. Empty only where no iteration has any.
    """
    counts = Counter(_sequence(iteration) for iteration in iterations if iteration.collectives)
    if not counts:
        return []
    last_seen = {_sequence(iteration): iteration.index for iteration in iterations}
    usual = max(counts, key=lambda sequence: (counts[sequence], last_seen[sequence]))
    return [iteration for iteration in iterations if _sequence(iteration) == usual]


def _split(iterations: Sequence[IterationRecord]) -> _Parts:
    """Group the collectives of ``iterations``, which have one sequence, by place and by part."""
    slots = list(zip(*(iteration.collectives for iteration in iterations), strict=True))
    received = [slot for slot in slots if slot[0].name == "recv"]
    outgoing = [slot for slot in slots if slot[0].name != "recv"]
    allowance = NEGLIGIBLE_PART * _wire_bytes(outgoing)
    by_size = sorted(outgoing, key=lambda slot: slot[0].wire_bytes)
    running = accumulate(slot[0].wire_bytes for slot in by_size)
    num_negligible = sum(total <= allowance for total in running)
    sent = sorted(by_size[num_negligible:], key=_ready_s)
    return _Parts(sent, by_size[:num_negligible], received)


def _demand(sent: Sequence[_Slot], compute_s: float) -> Demand:
    """Medians over the iterations; ``sent`` is in order of its ready times."""
    return Demand(
        compute_s,
        tuple(
            Transfer(
                ready_s=min(_ready_s(slot), compute_s),
                bytes=slot[0].wire_bytes,
                pattern=pattern_of(slot[0].name),
                # Collectives run in order, so the last one gates the optimizer for all of them.
                blocking=_most([one.compute_waited for one in slot])
                or (slot is sent[-1] and _most([one.work_follows for one in slot])),
                name=slot[0].name,
            )
            for slot in sent
        ),
    )


def _wire_bytes(slots: Sequence[_Slot]) -> float:
    return sum(slot[0].wire_bytes for slot in slots)


def _ready_s(slot: _Slot) -> float:
    return _median([one.ready_s for one in slot])


def _median(values: Sequence[float]) -> float:
    return float(statistics.median(values))


def _most(answers: Sequence[bool]) -> bool:
    return 2 * sum(answers) > len(answers)


def _model_name(file: Path) -> str:
    return file.name.removesuffix(".gz").removesuffix(".json") or file.name


def _source(file: Path, events: KinetoEvents, num_iterations: int) -> str:
    rank = "" if events.rank is None else f", rank {events.rank}"
    if events.rank is not None and events.world_size is not None:
        rank += f" of {events.world_size}"
    nccl = "" if events.nccl_version is None else f", NCCL {events.nccl_version}"
    plural = "" if num_iterations == 1 else "s"
    return (
        f"PyTorch profiler (Kineto) trace {file.name}{rank}{nccl}, "
        f"{num_iterations} iteration{plural}"
    )
