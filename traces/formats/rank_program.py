"""What one rank does in an iteration, one operation after the other, and the import made of it.

Most formats of communication tell no more than this: no kernel that runs beside another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from traces.communication_trace import (
    CollectiveRecord,
    CommunicationImport,
    ImportOptions,
    IterationRecord,
)
from traces.errors import BadInputError
from traces.formats.collectives import MOVES_NOTHING, operation_of, wire_factor
from traces.formats.communication_notes import (
    notes_on_groups,
    notes_on_iterations,
    notes_on_left_out,
    notes_on_transfers,
)
from traces.formats.group_sizes import GroupSizes
from traces.formats.usual_iteration import (
    demand_of,
    measured_s,
    median,
    most_common,
    split,
    total_wire_bytes,
)
from traces.model_profile import ModelProfile, Provenance

MAX_OPERATIONS = 2_000_000
MAX_SIZE_BYTES = 2**63 - 1
MAX_TIME_S = 1e12

POINT_TO_POINT = frozenset({"send", "recv"})
_PAIR = 2


@dataclass(frozen=True)
class Operation:
    """A collective, a send or a receive, as a file tells it.

    name: in any spelling. size_bytes: of the full buffer, or of one worker's shard of it.
    group_size: None to ask for the size of ``group``; a send and a receive need neither.
    compute_waits: what comes next in the program waits for its end. work_follows: something later
        does. line: where it stands, for errors.
    """

    name: str
    size_bytes: float
    group: str
    group_size: int | None = None
    is_shard: bool = False
    compute_waits: bool = True
    work_follows: bool = True
    line: int | None = None


class RankProgram:
    """Builds the record of one iteration, in the order in which the rank does its operations.

    left_out: operations that move nothing or whose bytes on the wire are not known, by reason.
    """

    def __init__(self, sizes: GroupSizes) -> None:
        self.compute_s = 0.0
        self.left_out: Counter[str] = Counter()
        self._sizes = sizes
        self._collectives: list[CollectiveRecord] = []

    def compute(self, duration_s: float) -> None:
        """The rank computes."""
        self.compute_s += duration_s

    def communicate(self, operation: Operation) -> None:
        """The rank begins ``operation``, which goes into the record or is counted as left out.

        Raises BadInputError where the size of the group is needed and not known.
        """
        name = operation_of(operation.name)
        reason = _why_nothing_moves_in(operation, name)
        if name is None or reason is not None:
            self.left_out[reason or operation.name] += 1
            return
        size: int | None = _PAIR if name in POINT_TO_POINT else operation.group_size
        if size is None:
            size = self._sizes.size_of(operation.group, operation.line)
        if size is None:
            self.left_out[f"the size of its group {operation.group!r} is not told"] += 1
            return
        if size < _PAIR:
            self.left_out[f"'{operation.name}' in a group of one worker moves nothing"] += 1
            return
        buffer_bytes = operation.size_bytes * (size if operation.is_shard else 1)
        self._collectives.append(
            CollectiveRecord(
                name=name,
                ready_s=self.compute_s,
                bytes=buffer_bytes,
                wire_bytes=buffer_bytes * wire_factor(name, size),
                group_size=size,
                compute_waited=operation.compute_waits,
                work_follows=operation.work_follows,
            )
        )

    def iteration(self, index: int, name: str, duration_s: float | None = None) -> IterationRecord:
        """The record of what the rank has done."""
        return IterationRecord(index, name, duration_s, self.compute_s, tuple(self._collectives))


def _why_nothing_moves_in(operation: Operation, name: str | None) -> str | None:
    """In words why it is none whose bytes on the wire can be counted; None if it is one."""
    if name in MOVES_NOTHING:
        return f"'{operation.name}' moves no data"
    if name is None:
        return f"'{operation.name}' is not a collective whose bytes on the wire are known"
    return f"'{operation.name}' of no bytes moves nothing" if operation.size_bytes == 0 else None


def spread_evenly(iteration: IterationRecord, compute_s: float) -> IterationRecord:
    """``iteration`` with ``compute_s`` more of computing.

    In equal parts: before each of its collectives and after the last.
    """
    part_s = compute_s / (len(iteration.collectives) + 1)
    later = tuple(
        replace(one, ready_s=one.ready_s + place * part_s)
        for place, one in enumerate(iteration.collectives, start=1)
    )
    return replace(iteration, compute_s=iteration.compute_s + compute_s, collectives=later)


@dataclass(frozen=True)
class ProgramFacts:
    """What the files say besides the iterations.

    left_out: operations that are in no iteration, by reason. notes: what else was assumed.
    """

    num_gpus: int
    provenance: Provenance
    source: str
    left_out: Counter[str]
    notes: tuple[str, ...] = ()


def import_program(
    iterations: Sequence[IterationRecord],
    facts: ProgramFacts,
    file: Path,
    options: ImportOptions,
    allowed: str,
) -> CommunicationImport:
    """The profile of the most common iteration: medians over all that are like it.

    Raises BadInputError, with ``allowed``, where no iteration sends anything, and where a person
    says how long an iteration computes though the file says it.
    """
    computed, notes = _with_computing(iterations, file, options)
    representative = most_common(computed)
    if not representative:
        raise BadInputError(_why_nothing_moves(facts.left_out), allowed=allowed, file=file)
    parts = split(representative)
    if not parts.sent:
        raise BadInputError("its rank only receives", allowed=allowed, file=file)
    profile = ModelProfile(
        model=options.model or _model_name(file),
        num_gpus=facts.num_gpus,
        demand=demand_of(parts.sent, median([one.compute_s for one in representative])),
        provenance=facts.provenance,
        source=facts.source,
        measured_iteration_s=measured_s(representative),
    )
    return CommunicationImport(
        profile,
        tuple(computed),
        (
            *notes_on_left_out(facts.left_out),
            *notes_on_iterations(computed, representative),
            *notes_on_transfers(
                [slot[0] for slot in parts.received],
                [slot[0] for slot in parts.negligible],
                total_wire_bytes([*parts.sent, *parts.negligible]),
            ),
            *notes_on_groups(representative, facts.num_gpus),
            *facts.notes,
            *notes,
        ),
    )


def _with_computing(
    iterations: Sequence[IterationRecord], file: Path, options: ImportOptions
) -> tuple[list[IterationRecord], list[str]]:
    tells_computing = any(iteration.compute_s > 0 for iteration in iterations)
    if options.compute_s is None:
        silent = "no computing is told: every transfer is ready at once, or when the one before "
        how = "it has ended; --compute says how long an iteration computes"
        return list(iterations), [] if tells_computing else [silent + how]
    if tells_computing:
        raise BadInputError(
            "tells itself how long an iteration computes",
            allowed="no --compute",
            file=file,
            key="--compute",
        )
    note = "the computing that was given lies in equal parts between the transfers"
    return [spread_evenly(one, options.compute_s) for one in iterations], [note]


def _why_nothing_moves(left_out: Counter[str]) -> str:
    if not left_out:
        return "has no collective that moves bytes"
    reasons = ", ".join(f"{reason} ({count})" for reason, count in left_out.most_common(3))
    return f"has no collective that moves bytes: {reasons}"


def _model_name(file: Path) -> str:
    return file.name.removesuffix(".gz").rpartition(".")[0] or file.name
