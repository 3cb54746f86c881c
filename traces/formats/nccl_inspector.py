"""The log of NCCL's Inspector plugin of one process -> the demand of one training iteration.

The log has no marks of iterations: one is the shortest sequence of operations that repeats to the
end of the log. It knows nothing of computing either: that is the time in which no operation ran,
and what was computed beside one is taken to come after it. On the fabric that was traced the
demand so takes the time that was measured. Messages of less than 8 KiB are not in a log, unless
NCCL_INSPECTOR_DUMP_MIN_SIZE_BYTES was set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from traces.communication_trace import (
    CommunicationFormat,
    CommunicationImport,
    ImportOptions,
    IterationRecord,
)
from traces.errors import BadInputError
from traces.formats.communication_notes import counted
from traces.formats.group_sizes import GroupSizes
from traces.formats.nccl_records import ALLOWED, NcclOperation, NcclRecords
from traces.formats.rank_program import Operation, ProgramFacts, RankProgram, import_program
from traces.formats.repeating_sequence import repeating_end

_SHARDS = frozenset({"AllGather", "AllGatherV", "ReduceScatter"})
# What repeats has to be most of the log: else its end is something else than training.
_LEAST_SHARE = 0.5
_WITH_TIMES = "a log with times: set NCCL_INSPECTOR_DUMP_VERBOSE=1"


def import_nccl_inspector(file: Path, options: ImportOptions) -> CommunicationImport:
    """Read the log of one process (JSON lines, plain or gzip). Raises BadInputError."""
    reader = NcclRecords(file, options)
    found = list(reader.operations())
    left_out: Counter[str] = Counter()
    to_itself = sum(one.to_itself for one in found)
    if to_itself:
        left_out["a rank sends to itself"] += to_itself
    ordered = _in_order([one for one in found if not one.to_itself], file)
    repetitions, before = _repetitions(ordered, file)
    has_times = all(one.start_us is not None for one in ordered)
    ends_us = [*(following[0].start_us for following in repetitions[1:]), None]
    if has_times:
        # Nobody knows when the last one ends.
        left_out["of the last iteration, whose end is not known"] += len(repetitions.pop())
    iterations: list[IterationRecord] = []
    for index, (own, end_us) in enumerate(zip(repetitions, ends_us, strict=False)):
        program = RankProgram(GroupSizes({}, options, file))
        _run(program, own, end_us)
        duration_s = _between_s(own[0].start_us, end_us)
        iterations.append(program.iteration(index, f"repetition {index}", duration_s))
        left_out.update(program.left_out)
    if before:
        left_out["before what repeats"] += before
    dropped = sum(reader.dropped.values())
    if dropped:
        reader.notes.append(
            f"{counted(dropped, 'record')} lost by the plugin, whose ring was full: "
            "NCCL_INSPECTOR_DUMP_COLL_RING_SIZE makes it larger"
        )
    reader.notes.append(
        f"an iteration is the {counted(len(repetitions[0]), 'operation')} that repeat: the log has "
        "no marks of iterations"
    )
    if has_times:
        reader.notes.append(
            "computing is the time in which no operation ran: what was computed beside one comes "
            "after it in the demand"
        )
    facts = ProgramFacts(
        num_gpus=max(one.group_size for one in ordered),
        provenance="measured",
        source=f"NCCL Inspector log {file.name}, {counted(len(iterations), 'iteration')}",
        left_out=left_out,
        notes=tuple(reader.notes),
    )
    return import_program(iterations, facts, file, options, ALLOWED)


def _in_order(operations: Sequence[NcclOperation], file: Path) -> list[NcclOperation]:
    """By their times; without times by their serial numbers, if all count as one."""
    if not operations:
        raise BadInputError("has no operations", allowed=ALLOWED, file=file)
    without_time = next((one for one in operations if one.start_us is None), None)
    if without_time is None:
        return sorted(operations, key=lambda one: (one.start_us or 0, one.serial))
    counters = {(one.communicator, one.kind) for one in operations}
    if len(counters) > 1:
        raise BadInputError(
            f"does not say when it ran, and {len(counters)} kinds of operations or communicators "
            "count for themselves",
            allowed=_WITH_TIMES,
            file=file,
            line=without_time.line,
            key="event_trace_ts",
        )
    return sorted(operations, key=lambda one: one.serial)


def _repetitions(
    operations: Sequence[NcclOperation], file: Path
) -> tuple[list[Sequence[NcclOperation]], int]:
    """The parts of the end that are alike, and how many operations come before them."""
    kinds = [(one.name, one.size_bytes, one.communicator) for one in operations]
    period, times = repeating_end(kinds)
    before = len(operations) - period * times
    if period * times < _LEAST_SHARE * len(operations):
        raise BadInputError(
            "no sequence of operations repeats to the end of the log, so its iterations are not "
            "known",
            allowed="a log of two iterations or more that ends with one",
            file=file,
            line=operations[-1].line,
        )
    starts = range(before, len(operations), period)
    return [operations[start : start + period] for start in starts], before


def _run(program: RankProgram, operations: Sequence[NcclOperation], end_us: int | None) -> None:
    """Do ``operations``, and compute while none runs; until ``end_us``."""
    free_us: int | None = None
    for one in operations:
        program.compute(_between_s(free_us, one.start_us) or 0.0)
        program.communicate(
            Operation(
                one.name,
                one.size_bytes,
                one.communicator,
                one.group_size,
                is_shard=one.name in _SHARDS,
                line=one.line,
            )
        )
        if one.start_us is not None:
            free_us = max(free_us or 0, one.start_us + one.duration_us)
    program.compute(_between_s(free_us, end_us) or 0.0)


def _between_s(start_us: int | None, end_us: int | None) -> float | None:
    """How long it is from one to the other, at least 0; None where one is not known."""
    return None if start_us is None or end_us is None else max(0, end_us - start_us) * 1e-6


def _is_nccl_inspector(head: bytes) -> bool:
    first = head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0]
    keys = (b'"coll_perf"', b'"p2p_perf"', b'"dump_stats"', b'"inspector_output_format_version"')
    return first.startswith(b"{") and any(key in first for key in keys)


def _read(files: Sequence[Path], options: ImportOptions) -> CommunicationImport:
    return import_nccl_inspector(files[0], options)


FORMAT = CommunicationFormat(
    "nccl-inspector",
    "the log of NCCL's Inspector plugin of one process (JSON lines)",
    _read,
    _is_nccl_inspector,
    options=frozenset({"--partial", "--compute"}),
)
