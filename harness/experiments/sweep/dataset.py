"""The directory of a sweep: one Parquet dataset, a file a finished point, that calls add to."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from harness.experiments.sweep.plan import SweepPlan
from harness.experiments.sweep.work import Failure, Outcome
from traces.errors import BadInputError
from traces.run_directory import give_to_caller, prepare_directory, read_json, write_json

_DEFINITION = "sweep.json"
_POINTS = "points"
_FAILED = "failed"
_UNFINISHED = "."
"""Begins the name of a file that is being written. Readers of datasets pass over such files."""

_WORDS = {
    "scenario": "of another scenario",
    "results": "of the other kind, simulated or emulated",
    "version": "of another version of Roundelay",
    "keys": "over other keys, or of values of another type",
    "scenario_sha256": "of the scenario, or a file that it names, as it was before a change",
}


def failure_name(point: str) -> str:
    """Where a sweep's directory says why ``point`` failed when it was last tried."""
    return f"{_FAILED}/{point}.txt"


class SweepDirectory:
    """Where results are kept. Made by :func:`open_sweep`, which holds it for one call alone."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def finished(self) -> set[str]:
        """The ids of the points that have a file."""
        return {file.stem for file in self._points.glob("[!.]*.parquet")}

    def keep(self, outcome: Outcome) -> None:
        """Store rows whole or not at all, or why there are none."""
        failed = self.directory / failure_name(outcome.point.id)
        if outcome.table is not None:
            file = self._file(outcome.point.id)
            partial = file.with_name(f"{_UNFINISHED}{file.name}")
            partial.write_bytes(outcome.table)
            partial.replace(file)
            failed.unlink(missing_ok=True)
        elif outcome.failure is not None:
            failed.parent.mkdir(exist_ok=True)
            failed.write_text(_failure_text(outcome, outcome.failure), encoding="utf-8")

    def read(self, points: Sequence[str], columns: Sequence[str]) -> list[dict[str, Any]]:
        """The rows of finished ``points``. Raises BadInputError where a file is damaged."""
        files = [str(self._file(point)) for point in points]
        if not files:
            return []
        try:
            rows: list[dict[str, Any]] = (
                ds.dataset(files, format="parquet").to_table(columns=list(columns)).to_pylist()
            )
        except (OSError, pa.ArrowException) as error:
            raise BadInputError(
                f"cannot be read: {str(error).splitlines()[0]}",
                allowed="files that 'roundelay sweep' wrote; remove the one that is damaged",
                file=self._points,
            ) from None
        return rows

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """summary.json, which ``--json`` prints."""
        write_json(self.directory / "summary.json", summary)

    @property
    def _points(self) -> Path:
        return self.directory / _POINTS

    def _file(self, point: str) -> Path:
        return self._points / f"{point}.parquet"


@contextlib.contextmanager
def open_sweep(directory: Path, plan: SweepPlan, scenario_text: str) -> Iterator[SweepDirectory]:
    """Begin or go on with the sweep in ``directory``, which no other call may write meanwhile.

    Raises BadInputError where that is another sweep's, or where another call writes it.
    """
    definition = directory / _DEFINITION
    began = definition.is_file()
    made = directory if began else prepare_directory(directory)
    sweep = SweepDirectory(directory)
    with _held(directory):
        if began:
            _check_same(definition, plan.definition)
        else:
            write_json(definition, plan.definition)
        (directory / "scenario.yaml").write_text(scenario_text, encoding="utf-8")
        (directory / _POINTS).mkdir(exist_ok=True)
        for unfinished in (directory / _POINTS).glob(f"{_UNFINISHED}*"):
            unfinished.unlink()
        try:
            yield sweep
        finally:
            give_to_caller(made)


@contextlib.contextmanager
def _held(directory: Path) -> Iterator[None]:
    """A lock on the directory itself, which the kernel gives up with the process."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise BadInputError(
            "another sweep writes to this directory", allowed="one at a time", file=directory
        ) from None
    try:
        yield
    finally:
        os.close(descriptor)


def _check_same(file: Path, definition: Mapping[str, Any]) -> None:
    found = read_json(file)
    for name, words in _WORDS.items():
        if not isinstance(found, dict) or found.get(name) != definition[name]:
            raise BadInputError(
                f"holds results {words}", allowed="another directory", file=file.parent
            )


def _failure_text(outcome: Outcome, failure: Failure) -> str:
    point = outcome.point
    values = "".join(f"{key}: {value}\n" for key, value in point.values.items())
    return f"{failure.reason}\n\n{values}seed: {point.seed}\n\n{failure.text}\n"
