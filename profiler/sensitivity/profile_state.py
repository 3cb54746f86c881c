"""What an interrupted profiling leaves, so that it goes on where it was."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from profiler.sensitivity.measured_point import MeasuredPoint, point_from_document
from traces.errors import BadInputError
from traces.run_directory import read_json, write_json

ITERATIONS = pa.schema(
    [
        ("point", pa.int64()),
        ("cpus", pa.float64()),
        ("cache_bytes", pa.int64()),
        ("purpose", pa.string()),
        ("iteration", pa.int64()),
        ("is_warmup", pa.bool_()),
        ("wait_s", pa.float64()),
        ("copy_s", pa.float64()),
        ("compute_s", pa.float64()),
        ("iteration_s", pa.float64()),
    ]
)
"""One row an iteration, in their order. point: row of points.parquet. is_warmup: does not count."""

_TIMES = ("wait_s", "copy_s", "compute_s", "iteration_s")
_ALLOWED = "the state of a profiling, as Roundelay left it; or another directory"


class ProfileState:
    """The points that were measured, in a directory that grows by one point at a time.

    identity.json says of what profiling they are. points.jsonl has a line a point, and is what
    counts: each is written in one piece and kept safe before the next point begins. The iterations
    of a point are in a file of their own, written before its line.
    """

    def __init__(self, directory: Path, identity: Mapping[str, object]) -> None:
        """Begin, or go on with what is there.

        identity: model, data, options, machine: all that makes two points comparable, as plain
        data. Raises BadInputError where what is there has another one, naming what differs, or is
        damaged. A last line that was not written to its end, as when the machine stopped, is
        dropped: see ``dropped_bytes``.
        """
        self._directory = directory
        self._points_file = directory / "points.jsonl"
        directory.mkdir(parents=True, exist_ok=True)
        _check_identity(directory / "identity.json", identity)
        self.dropped_bytes = self._drop_torn_line()
        self._points = list(self._read_points())

    @property
    def points(self) -> tuple[MeasuredPoint, ...]:
        """In the order in which they were measured."""
        return tuple(self._points)

    def append(self, point: MeasuredPoint, records: NDArray[np.float64]) -> None:
        """Keep a point. records: (iterations, 4), s: waiting, copying, computing, all of it."""
        number = len(self._points)
        file = self._iterations_file(number)
        partial = file.with_suffix(".partial")
        pyarrow.parquet.write_table(_iterations_table(number, point, records), partial)
        partial.replace(file)
        line = json.dumps(point.to_document(), allow_nan=False) + "\n"
        with self._points_file.open("a", encoding="utf-8") as stream:
            stream.write(line)
            stream.flush()
            os.fsync(stream.fileno())
        self._points.append(point)

    def iterations(self) -> Iterator[pa.Table]:
        """Of each point its rows of ITERATIONS. Raises BadInputError where a file is damaged."""
        for number in range(len(self._points)):
            file = self._iterations_file(number)
            try:
                yield pyarrow.parquet.read_table(file, schema=ITERATIONS)
            except (OSError, pa.ArrowException) as error:
                reason = str(error).splitlines()[0]
                raise BadInputError(
                    f"cannot be read: {reason}", allowed=_ALLOWED, file=file
                ) from None

    def _iterations_file(self, number: int) -> Path:
        return self._directory / f"iterations-{number:04}.parquet"

    def _drop_torn_line(self) -> int:
        """Cut off what follows the last line's end; how many bytes that were."""
        if not self._points_file.is_file():
            return 0
        written = self._points_file.read_bytes()
        whole = written.rfind(b"\n") + 1
        os.truncate(self._points_file, whole)
        return len(written) - whole

    def _read_points(self) -> Iterator[MeasuredPoint]:
        if not self._points_file.is_file():
            return
        lines = self._points_file.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            try:
                document: Any = json.loads(line)
            except ValueError as error:
                raise BadInputError(
                    f"is not JSON: {error}", allowed=_ALLOWED, file=self._points_file, line=number
                ) from None
            yield point_from_document(document, self._points_file, number)


def _check_identity(file: Path, identity: Mapping[str, object]) -> None:
    """That the one in ``file`` is ``identity``; write it where there is none."""
    if not file.exists():
        partial = file.with_suffix(".partial")
        write_json(partial, identity)
        partial.replace(file)
        return
    kept = read_json(file)
    if not isinstance(kept, dict):
        raise BadInputError("is no object", allowed=_ALLOWED, file=file)
    # As JSON, where a tuple is a list.
    wanted = json.loads(json.dumps(identity))
    for key in dict.fromkeys((*wanted, *kept)):
        if kept.get(key) != wanted.get(key):
            raise BadInputError(
                f"was begun with {json.dumps(kept.get(key))}, and not "
                f"{json.dumps(wanted.get(key))}",
                allowed="to go on with what it was begun with; or another directory",
                file=file,
                key=key,
            )


def _iterations_table(number: int, point: MeasuredPoint, records: NDArray[np.float64]) -> pa.Table:
    count = len(records)
    iteration = np.arange(count)
    return pa.table(
        {
            "point": np.full(count, number),
            "cpus": np.full(count, point.allocation.cpus),
            "cache_bytes": np.full(count, point.allocation.cache_bytes),
            "purpose": [point.purpose] * count,
            "iteration": iteration,
            "is_warmup": iteration < point.warmup_iterations,
            **{name: records[:, column] for column, name in enumerate(_TIMES)},
        },
        schema=ITERATIONS,
    )
