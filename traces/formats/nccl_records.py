"""The records of NCCL's Inspector plugin (JSON lines), checked.

Format: plugins/profiler/inspector of NVIDIA/nccl. Up to v4.2 each record has its communicator in
``header``; from v4.3 on only the ``dump_stats`` before a batch of them has it. Times are there if
NCCL_INSPECTOR_DUMP_VERBOSE=1 was set, and are microseconds since 1970.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, NoReturn

from traces.communication_trace import ImportOptions
from traces.errors import BadInputError
from traces.formats.group_sizes import MAX_WORKERS
from traces.formats.rank_program import MAX_OPERATIONS, MAX_SIZE_BYTES
from traces.formats.text_lines import Line, stream_lines

ALLOWED = (
    "the log of one process as NCCL's Inspector writes it (JSON lines); or --partial for what is "
    "there of it"
)

_MAX_TIME_US = 10**18
_MAX_NAME_CHARS = 60
_MARK = "dump_stats"


class NcclOperation(NamedTuple):
    """A collective, or a send or receive, of one rank.

    size_bytes: what NCCL's call was given: of a gather and of a reduce-scatter, that of a shard.
    serial: counts the operations of one kind, 'coll' or 'p2p', of the communicator.
    start_us: since 1970; None where the record does not say. duration_us: of its kernels.
    to_itself: a rank sends to itself, which no network sees.
    """

    name: str
    communicator: str
    group_size: int
    size_bytes: int
    serial: int
    start_us: int | None
    duration_us: int
    kind: str
    to_itself: bool
    line: int


class _Communicator(NamedTuple):
    id: str
    rank: int
    num_ranks: int


class NcclRecords:
    """Reads the operations of a file.

    dropped: by communicator, the records that the plugin lost. notes: what else was left out.
    """

    def __init__(self, file: Path, options: ImportOptions) -> None:
        self.dropped: dict[str, int] = {}
        self.notes: list[str] = []
        self._file = file
        self._options = options
        self._communicator: _Communicator | None = None

    def operations(self) -> Iterator[NcclOperation]:
        """Yield them in the order of the file. Raises BadInputError with the line and the key."""
        for line in stream_lines(self._file, ALLOWED):
            if line.number > MAX_OPERATIONS:
                self._refuse("there are too many records", line)
            record = self._record(line)
            if record is None:
                return
            communicator = self._of_record(record, line)
            if _MARK in record:
                self._take_mark(record, communicator, line)
            for kind in ("coll", "p2p"):
                if (values := record.get(f"{kind}_perf")) is not None:
                    yield self._operation(kind, values, communicator, line)

    def _record(self, line: Line) -> dict[str, object] | None:
        """None for a line that is cut off, where that is wanted."""
        try:
            record = json.loads(line.text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            if self._options.partial and not line.whole:
                self.notes.append(f"line {line.number} is cut off, and left out")
                return None
            reason = (
                error.msg if isinstance(error, json.JSONDecodeError) else "no value that can be"
            )
            self._refuse(f"is not sound JSON: {reason}", line)
        if not isinstance(record, dict):
            self._refuse("is not an object", line)
        return record

    def _of_record(self, record: Mapping[str, object], line: Line) -> _Communicator:
        """The communicator that the record names, or the one of its batch."""
        header = record.get("header")
        if header is None and _MARK not in record and self._communicator is not None:
            return self._communicator
        if not isinstance(header, dict):
            self._refuse("says no communicator, nor does a record before it", line, "header")
        communicator = _Communicator(
            sys.intern(str(header.get("id"))[:_MAX_NAME_CHARS]),
            self._whole(header, "rank", line, MAX_WORKERS),
            self._whole(header, "n_ranks", line, MAX_WORKERS),
        )
        if communicator.num_ranks < 1:
            self._refuse("is less than one", line, "n_ranks")
        return communicator

    def _take_mark(
        self, record: Mapping[str, object], communicator: _Communicator, line: Line
    ) -> None:
        self._communicator = communicator
        stats = record[_MARK]
        if not isinstance(stats, dict):
            self._refuse("is not an object", line, _MARK)
        lost = sum(
            self._whole(stats, f"{kind}_dropped_total", line, MAX_SIZE_BYTES)
            for kind in ("coll", "p2p")
            if f"{kind}_dropped_total" in stats
        )
        if lost:
            self.dropped[communicator.id] = max(lost, self.dropped.get(communicator.id, 0))

    def _operation(
        self, kind: str, values: object, communicator: _Communicator, line: Line
    ) -> NcclOperation:
        if not isinstance(values, dict):
            self._refuse("is not an object", line, f"{kind}_perf")
        name = values.get(kind)
        if not isinstance(name, str):
            self._refuse("is no name", line, kind)
        return NcclOperation(
            name=sys.intern(name[:_MAX_NAME_CHARS]),
            communicator=communicator.id,
            group_size=communicator.num_ranks,
            size_bytes=self._whole(values, f"{kind}_msg_size_bytes", line, MAX_SIZE_BYTES),
            serial=self._whole(values, f"{kind}_sn", line, MAX_SIZE_BYTES),
            start_us=self._start_us(kind, values, line),
            duration_us=self._whole(values, f"{kind}_exec_time_us", line, _MAX_TIME_US),
            kind=kind,
            to_itself=values.get("p2p_peer") == communicator.rank,
            line=line.number,
        )

    def _start_us(self, kind: str, values: Mapping[str, object], line: Line) -> int | None:
        """When its first kernel began; when it was issued where no kernel has a time."""
        times = values.get("event_trace_ts")
        if times is None:
            return None
        if not isinstance(times, dict):
            self._refuse("is not an object", line, "event_trace_ts")
        kernels = times.get("kernel_events", [])
        if not isinstance(kernels, list) or not all(isinstance(one, dict) for one in kernels):
            self._refuse("is no list of objects", line, "kernel_events")
        began_us = [
            self._whole(one, "kernel_start_ts", line, _MAX_TIME_US)
            for one in kernels
            if one.get("kernel_start_ts")
        ]
        issued_us = self._whole(times, f"{kind}_start_ts", line, _MAX_TIME_US)
        return min(began_us, default=issued_us)

    def _whole(self, values: Mapping[str, object], key: str, line: Line, largest: int) -> int:
        value = values.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= largest:
            self._refuse(f"is no whole number from 0 to {largest:,}", line, key)
        return value

    def _refuse(self, problem: str, line: Line, key: str | None = None) -> NoReturn:
        raise BadInputError(problem, allowed=ALLOWED, file=self._file, line=line.number, key=key)


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")
