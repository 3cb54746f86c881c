"""PyTorch profiler (Kineto) traces -> the network demand of one training iteration.

Importers give bytes and ready times: a transfer's duration on somebody else's fabric is not a
demand, so what computing waited for the network there is taken out of the compute timeline.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from traces.communication_trace import (
    CommunicationFormat,
    CommunicationImport,
    ImportOptions,
    IterationRecord,
)
from traces.errors import BadInputError
from traces.formats.communication_notes import counted, notes_on_iterations, notes_on_transfers
from traces.formats.kineto_collectives import WITHOUT_SIZES, FoundCollectives, find_collectives
from traces.formats.kineto_events import KinetoEvents, Step, read_kineto_events
from traces.formats.kineto_iterations import measure_iterations
from traces.formats.kineto_notes import (
    note_on_waiting,
    notes_on_collectives,
    notes_on_ranks,
    notes_on_trace,
)
from traces.formats.kineto_ranks import ComparedRanks, RanksOfJob
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


def import_kineto(files: Sequence[Path], options: ImportOptions) -> CommunicationImport:
    """Read the traces of one rank or more (.json, plain or gzip) into a profile with its Demand.

    The demand is that of the first file's rank, and of its most common sequence of collectives:
    medians over the iterations that have it. The last transfer is ``blocking`` where computing goes
    on after it (the optimizer), and so is every transfer that computing stood still for. A blocking
    transfer holds the timeline from the time it is ready; work that the trace overlaps with it then
    comes after it. The traces of other ranks tell how long kernels waited for slower ranks, which
    is computing of the job.

    Raises BadInputError.
    """
    rank = _read_rank(files[0])
    ranks = RanksOfJob(rank.steps, rank.found.collectives, rank.events.nccl_kernels)
    seen = {rank.events.rank: files[0]}
    for file in files[1:]:
        other = _read_rank(file)
        _check_same_job(rank, other, seen)
        ranks.add(other.steps, other.found.collectives, other.events.nccl_kernels)
    compared = ranks.compared()
    events = replace(rank.events, nccl_kernels=compared.kernels)
    iterations = measure_iterations(events, rank.steps, rank.found.collectives)
    return _imported(rank, iterations, compared, options)


@dataclass(frozen=True)
class _Rank:
    """One file. steps: in order of time, apart from each other."""

    file: Path
    events: KinetoEvents
    steps: list[Step]
    found: FoundCollectives


def _read_rank(file: Path) -> _Rank:
    events = read_kineto_events(file)
    launched_s = launch_times(events, [kernel.correlation for kernel in events.nccl_kernels])
    began_s = np.array([kernel.start_s for kernel in events.nccl_kernels], dtype=np.float64)
    kernel_issued_s = np.where(np.isnan(launched_s), began_s, launched_s).tolist()
    found = find_collectives(
        events.records, events.nccl_kernels, kernel_issued_s, events.world_size
    )
    if not found.collectives:
        raise BadInputError(
            _why_nothing_moves(found.left_out), allowed=_ALLOWED, file=file, key="traceEvents"
        )
    return _Rank(file, events, _checked_steps(events, file), found)


def _check_same_job(first: _Rank, other: _Rank, seen: dict[int | None, Path]) -> None:
    """``other`` goes into ``seen``. Raises BadInputError where it is no other rank of the job."""
    sizes = first.events.world_size, other.events.world_size
    if None not in sizes and sizes[0] != sizes[1]:
        raise BadInputError(
            f"is of a job of {sizes[1]} ranks, and {first.file} of one of {sizes[0]}",
            allowed="traces of one job",
            file=other.file,
            key="distributedInfo",
        )
    rank = other.events.rank
    if rank is not None and rank in seen:
        raise BadInputError(
            f"is of rank {rank}, as is {seen[rank]}",
            allowed="one file for each rank",
            file=other.file,
            key="distributedInfo",
        )
    seen[rank] = other.file


def _imported(
    rank: _Rank,
    iterations: Sequence[IterationRecord],
    compared: ComparedRanks,
    options: ImportOptions,
) -> CommunicationImport:
    events, found, file = rank.events, rank.found, rank.file
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
    outside = len(found.collectives) - sum(len(one.collectives) for one in iterations)
    left_out = found.left_out + Counter({"issued outside every 'ProfilerStep#N' span": outside})
    num_gpus = max(events.world_size or 0, *(one.group_size for one in found.collectives))
    profile = ModelProfile(
        model=options.model or _model_name(file),
        num_gpus=num_gpus,
        gpu_type=events.gpu_type,
        demand=demand_of(parts.sent, median([iteration.compute_s for iteration in representative])),
        provenance="measured",
        source=_source(rank, compared.count, len(representative)),
        measured_iteration_s=measured_s(representative),
    )
    notes = (
        *notes_on_collectives(left_out, found),
        *notes_on_iterations(iterations, representative),
        *notes_on_ranks(compared, events.world_size, len(rank.steps)),
        note_on_waiting(representative),
        *notes_on_transfers(
            [slot[0] for slot in parts.received],
            [slot[0] for slot in parts.negligible],
            total_wire_bytes([*parts.sent, *parts.negligible]),
        ),
        *notes_on_trace(events, representative, num_gpus),
    )
    return CommunicationImport(profile, tuple(iterations), notes)


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


def _source(first: _Rank, num_ranks: int, num_iterations: int) -> str:
    events = first.events
    rank = "" if events.rank is None else f", rank {events.rank}"
    if events.rank is not None and events.world_size is not None:
        rank += f" of {events.world_size}"
    nccl = "" if events.nccl_version is None else f", NCCL {events.nccl_version}"
    others = "" if num_ranks == 1 else f", beside those of {counted(num_ranks - 1, 'other rank')}"
    return (
        f"PyTorch profiler (Kineto) trace {first.file.name}{rank}{nccl}{others}, "
        f"{counted(num_iterations, 'iteration')}"
    )


def _is_kineto(head: bytes) -> bool:
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and any(
        key in head for key in (b'"traceEvents"', b'"schemaVersion"', b'"deviceProperties"')
    )


FORMAT = CommunicationFormat(
    "kineto",
    "PyTorch profiler traces of one rank or more, one file a rank",
    import_kineto,
    _is_kineto,
    one_file_per_rank=True,
)
