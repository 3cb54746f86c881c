"""AICB's CSV: what each rank of a Megatron or DeepSpeed job does, one row an operation.

A log has times in milliseconds, as AICB measured them; a workload, from which AICB runs, has none
for communication, and computing in nanoseconds where AIOB gave it. ``msg_size`` is the full buffer
of every collective (log_analyzer/utils.py, workload_applyer.py of aliyun/aicb), each operation
begins when the one before has ended, and 'epoch_end' ends an iteration, with its whole duration.
What of that duration no row accounts for is the host's, and so computing; it lies in equal parts
between the operations.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from traces.communication_trace import (
    CommunicationFormat,
    CommunicationImport,
    ImportOptions,
    IterationRecord,
)
from traces.formats.aicb_rows import ALLOWED, RANKS, AicbRows, Row
from traces.formats.communication_notes import counted
from traces.formats.group_sizes import GroupSizes
from traces.formats.rank_program import (
    Operation,
    ProgramFacts,
    RankProgram,
    import_program,
    spread_evenly,
)

_POINT_TO_POINT = {"isend": "send", "irecv": "recv"}
_PIPELINE = "pp_group"
_PARALLEL = ("tp_group", "dp_group", _PIPELINE)


def import_aicb(file: Path, options: ImportOptions) -> CommunicationImport:
    """Read a log or a workload of AICB (plain or gzip). Raises BadInputError.

    Groups are called as in the file, such as ``ep_group``. A group whose size some rows do not
    say has the size that others say, for which the file is read twice.
    """
    survey = _survey(AicbRows(file, options))
    sizes = GroupSizes(survey.known(), options, file)
    reader = AicbRows(file, options)
    left_out: Counter[str] = Counter()
    iterations: list[IterationRecord] = []
    rows: list[Row] = []
    for row in reader.rows():
        if row.kind == "epoch_end":
            iterations.append(_iteration(rows, row, len(iterations), sizes, left_out))
            rows.clear()
        else:
            rows.append(row)
    if not iterations:
        iterations.append(_iteration(rows, None, 0, sizes, left_out))
        reader.notes.append("no row ends an iteration: all of the file is taken as one")
    elif rows:
        left_out["of an iteration without its end"] += sum(
            row.kind != "computation" for row in rows
        )
    num_gpus = reader.num_ranks or _num_gpus(survey, sizes, reader.notes)
    sizes.check_all_used()
    is_log = any(iteration.duration_s for iteration in iterations)
    kind = "log" if is_log else "workload"
    if is_log:
        reader.notes.append(
            "what of an iteration's duration no row accounts for is computing, in equal parts "
            "between the operations"
        )
    num_unsaid = survey.num_unsaid()
    if num_unsaid:
        unsaid = f"{counted(num_unsaid, 'row')} without the size of the group"
        reader.notes.append(f"{unsaid}: taken from the other rows of that group")
    facts = ProgramFacts(
        num_gpus=max(num_gpus, *options.group_sizes.values(), 1),
        provenance="measured" if is_log else "reconstructed",
        source=f"AICB {kind} {file.name}, {counted(len(iterations), 'iteration')}",
        left_out=left_out,
        notes=tuple(reader.notes),
    )
    return import_program(iterations, facts, file, options, ALLOWED)


def _iteration(
    rows: Sequence[Row],
    end: Row | None,
    index: int,
    sizes: GroupSizes,
    left_out: Counter[str],
) -> IterationRecord:
    program = RankProgram(sizes)
    measured_s = 0.0
    for row in rows:
        measured_s += row.elapsed_s or 0.0
        if row.kind == "computation":
            program.compute(row.elapsed_s or 0.0)
        else:
            name = _POINT_TO_POINT.get(row.kind, row.kind)
            program.communicate(
                Operation(name, row.size_bytes, row.group, row.group_size, line=row.line)
            )
    left_out.update(program.left_out)
    duration_s = None if end is None else end.elapsed_s
    iteration = program.iteration(index, f"epoch {index}", duration_s)
    if duration_s is None:
        return iteration
    return spread_evenly(iteration, max(0.0, duration_s - measured_s))


@dataclass
class _Survey:
    """What all rows of a file say of groups.

    told: sizes, by group. unsaid: rows that do not say the size, by group.
    """

    told: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    unsaid: Counter[str] = field(default_factory=Counter)
    has_stages: bool = False

    def known(self) -> dict[str, int]:
        """The sizes of the groups of which all rows that say one say the same."""
        return {group: min(sizes) for group, sizes in self.told.items() if len(sizes) == 1}

    def num_unsaid(self) -> int:
        """How many rows have their size from others."""
        return sum(count for group, count in self.unsaid.items() if group in self.known())


def _survey(reader: AicbRows) -> _Survey:
    survey = _Survey()
    for row in reader.rows():
        if row.group_size is None:
            survey.unsaid[row.group] += 1
        else:
            survey.told[row.group].add(row.group_size)
        survey.has_stages |= row.group == _PIPELINE and row.kind in _POINT_TO_POINT
    return survey


def _num_gpus(survey: _Survey, sizes: GroupSizes, notes: list[str]) -> int:
    """Of the job: the product of its parallel groups."""
    largest = {group: max(told) for group, told in survey.told.items()}
    if survey.has_stages:
        # A send says 1 for the size of the pipeline, which has two stages at least.
        largest[_PIPELINE] = max(sizes.size_of(_PIPELINE) or 1, 2)
    parallel = {group: largest[group] for group in _PARALLEL if largest.get(group, 1) > 1}
    product = " x ".join(f"{group} {size}" for group, size in parallel.items()) or "one group"
    notes.append(f"the file does not say how many GPUs the job has: taken as {product}")
    return max(math.prod(parallel.values()), *largest.values(), 1)


def _is_aicb(head: bytes) -> bool:
    text = head.decode(errors="replace").removeprefix("\ufeff")
    lines = [line for line in text.splitlines()[:2] if not RANKS.fullmatch(line.strip())]
    return bool(lines) and lines[0].startswith("comm_type,comm_group")


def _read(files: Sequence[Path], options: ImportOptions) -> CommunicationImport:
    return import_aicb(files[0], options)


FORMAT = CommunicationFormat(
    "aicb",
    "a log or workload of AICB (CSV)",
    _read,
    _is_aicb,
    options=frozenset({"--partial", "--group-size", "--compute"}),
)
