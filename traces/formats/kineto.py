"""PyTorch profiler (Kineto) traces -> the network demand of one training iteration.

Importers give bytes and ready times: a transfer's duration on somebody else's fabric is not a
demand, so what computing waited for the network there is taken out of the compute timeline.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from traces.communication_trace import CommunicationFormat, CommunicationImport, ImportOptions
from traces.errors import BadInputError
from traces.formats.communication_notes import notes_on_iterations, notes_on_transfers
from traces.formats.kineto_collectives import WITHOUT_SIZES, find_collectives
from traces.formats.kineto_events import KinetoEvents, Step, read_kineto_events
from traces.formats.kineto_iterations import measure_iterations
from traces.formats.kineto_notes import note_on_waiting, notes_on_collectives, notes_on_trace
from traces.formats.kineto_timeline import launch_times
from traces.formats.usual_iteration import (
    demand_of,
    measured_s,
    median,
    most_common,
    split,
    total_wire_bytes,
)
from traces.model_profile import ModelProfile

_ALLOWED = (
    "a torch.profiler trace of one rank of a distributed job, with profiler.step() called in the "
    "loop and the sizes of collectives in record_param_comms, as recent versions of PyTorch write"
)


def import_kineto(file: Path, model: str | None = None) -> CommunicationImport:
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
    representative = most_common(iterations)
    if not representative:
        raise BadInputError(
            "all of its collectives were issued outside the 'ProfilerStep#N' spans",
            allowed=_ALLOWED,
            file=file,
            key="traceEvents",
        )
    parts = split(representative)
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
        demand=demand_of(parts.sent, median([iteration.compute_s for iteration in representative])),
        provenance="measured",
        source=_source(file, events, len(representative)),
        measured_iteration_s=measured_s(representative),
    )
    notes = (
        *notes_on_collectives(left_out, collectives),
        *notes_on_iterations(iterations, representative),
        note_on_waiting(representative),
        *notes_on_transfers(
            [slot[0] for slot in parts.received],
            [slot[0] for slot in parts.negligible],
            total_wire_bytes([*parts.sent, *parts.negligible]),
        ),
        *notes_on_trace(events, representative, num_gpus),
    )
    return CommunicationImport(profile, iterations, notes)


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


def _is_kineto(head: bytes) -> bool:
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and any(
        key in head for key in (b'"traceEvents"', b'"schemaVersion"', b'"deviceProperties"')
    )


def _read(files: Sequence[Path], options: ImportOptions) -> CommunicationImport:
    return import_kineto(files[0], options.model)


FORMAT = CommunicationFormat("kineto", "a PyTorch profiler trace of one rank", _read, _is_kineto)
