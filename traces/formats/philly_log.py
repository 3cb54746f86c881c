"""The document ``cluster_job_log`` of msr-fiddle/philly-traces as tables, checked.

A JSON array of jobs with the keys status, vc, jobid, attempts, submitted_time and user. An attempt
has start_time, end_time and detail: the servers that it ran on, each with the list of its GPUs. A
job may have no attempts. Times have no zone; those of an attempt may be null, ``"None"`` or empty.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traces.errors import BadInputError, shown
from traces.formats.instants import CLOCK_TIME, clock_seconds
from traces.formats.json_array import Element, stream_objects

STATES = {"Pass": "completed", "Killed": "cancelled", "Failed": "failed"}

_ABSENT = ("", "None")


@dataclass(frozen=True, eq=False)
class PhillyLog:
    """Jobs and their attempts, both in the order of the file.

    jobs: index 0 to n-1; ``job``, ``user``, ``virtual_cluster``, ``state``, ``submit_s``,
        ``attempts`` (how many) and ``line``.
    job_of: for each attempt its job's index. start_s, end_s: NaN where there is none. gpus: on all
        its servers. Times are in s from 1970 without regard to zones.
    """

    file: Path
    jobs: pd.DataFrame
    job_of: NDArray[np.int64]
    start_s: NDArray[np.float64]
    end_s: NDArray[np.float64]
    gpus: NDArray[np.int64]

    @property
    def first_attempt(self) -> NDArray[np.int64]:
        """For each job, where its attempts begin."""
        number: NDArray[np.int64] = self.jobs["attempts"].to_numpy()
        return np.asarray(np.cumsum(number) - number)

    def refuse(self, wrong: NDArray[np.bool_], key: str, problem: str, allowed: str) -> None:
        """Raise BadInputError for the ``key`` of the first attempt that is ``wrong``, if any is."""
        if not wrong.any():
            return
        attempt = int(np.argmax(wrong))
        job = int(self.job_of[attempt])
        place = f"[{job}].attempts[{attempt - self.first_attempt[job]}].{key}"
        raise BadInputError(
            f"job {self.jobs['job'].iat[job]!r} has {problem}",
            allowed=allowed,
            file=self.file,
            line=int(self.jobs["line"].to_numpy()[job]),
            key=place,
        )


def read_philly_log(file: Path, share: float = 1.0) -> PhillyLog:
    """The log ``file``, or what begins in its first ``share``.

    Raises BadInputError with the line where the job begins and the key, as jq would address it.
    """
    columns = _Columns()
    for place, element in enumerate(stream_objects(file, share)):
        try:
            _read_job(columns, element)
        except _WrongValueError as wrong:
            raise BadInputError(
                wrong.problem,
                allowed=wrong.allowed,
                file=file,
                line=element.line,
                key=f"[{place}].{wrong.key}",
            ) from None
    jobs = pd.DataFrame(
        {
            "job": pd.Series(columns.job, dtype="string"),
            "user": pd.Series(columns.user, dtype="string"),
            "virtual_cluster": pd.Series(columns.virtual_cluster, dtype="string"),
            "state": pd.Series(columns.state, dtype="string"),
            "submit_s": _times_s(columns.submitted),
            "attempts": np.array(columns.attempts, dtype="int64"),
            "line": np.array(columns.line, dtype="int64"),
        }
    )
    log = PhillyLog(
        file=file,
        jobs=jobs,
        job_of=np.repeat(np.arange(len(jobs)), jobs["attempts"]),
        start_s=_times_s(columns.start),
        end_s=_times_s(columns.end),
        gpus=np.array(columns.gpus, dtype="int64"),
    )
    for key, texts, times_s in (
        ("start_time", columns.start, log.start_s),
        ("end_time", columns.end, log.end_s),
    ):
        given = np.array([text is not None for text in texts], dtype=bool)
        log.refuse(given & np.isnan(times_s), key, "no such time", f"{CLOCK_TIME}, or null")
    no_time = jobs["submit_s"].isna().to_numpy()
    if no_time.any():
        job = int(np.argmax(no_time))
        raise BadInputError(
            f"the value is {columns.submitted[job]!r}",
            allowed=CLOCK_TIME,
            file=file,
            line=columns.line[job],
            key=f"[{job}].submitted_time",
        )
    return log


def _times_s(texts: list[str | None]) -> NDArray[np.float64]:
    return clock_seconds(pd.Series(texts, dtype="object"))


@dataclass
class _Columns:
    """Of the jobs: job to line; of the attempts: start, end (None where absent) and gpus."""

    job: list[str] = field(default_factory=list)
    user: list[str | None] = field(default_factory=list)
    virtual_cluster: list[str | None] = field(default_factory=list)
    state: list[str] = field(default_factory=list)
    submitted: list[str | None] = field(default_factory=list)
    attempts: list[int] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    start: list[str | None] = field(default_factory=list)
    end: list[str | None] = field(default_factory=list)
    gpus: list[int] = field(default_factory=list)


class _WrongValueError(Exception):
    """What stands at the path ``where`` (keys, and places in lists) is none of ``allowed``."""

    def __init__(self, value: object, allowed: str, *where: str | int) -> None:
        self.problem = "there is none" if value is _NOTHING else f"the value is {shown(value)}"
        self.allowed = allowed
        self.key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where)
        self.key = self.key.removeprefix(".")


_NOTHING = object()


def _read_job(columns: _Columns, element: Element) -> None:
    job = element.value
    state = STATES.get(_text(job, "status"))
    if state is None:
        raise _WrongValueError(job["status"], ", ".join(STATES), "status")
    attempts = _list(job, "attempts")
    columns.job.append(_text(job, "jobid"))
    columns.user.append(_text_or_none(job, "user"))
    columns.virtual_cluster.append(_text_or_none(job, "vc"))
    columns.state.append(state)
    columns.submitted.append(_text(job, "submitted_time"))
    columns.attempts.append(len(attempts))
    columns.line.append(element.line)
    for number, attempt in enumerate(attempts):
        columns.start.append(_text_or_none(attempt, "start_time", "attempts", number))
        columns.end.append(_text_or_none(attempt, "end_time", "attempts", number))
        gpus = 0
        for place, server in enumerate(_list(attempt, "detail", "attempts", number)):
            gpus += len(_list(server, "gpus", "attempts", number, "detail", place))
        columns.gpus.append(gpus)


def _value(values: object, key: str, *where: str | int) -> object:
    if not isinstance(values, dict):
        raise _WrongValueError(values, "an object", *where)
    return values.get(key, _NOTHING)


def _text(values: object, key: str, *where: str | int) -> str:
    value = _value(values, key, *where)
    if not isinstance(value, str) or value in _ABSENT or not _is_unicode(value):
        raise _WrongValueError(value, "a text in Unicode", *where, key)
    return value


def _text_or_none(values: object, key: str, *where: str | int) -> str | None:
    value = _value(values, key, *where)
    if value is None or value in _ABSENT:
        return None
    if not isinstance(value, str) or not _is_unicode(value):
        raise _WrongValueError(value, "a text in Unicode, or null", *where, key)
    return value


def _is_unicode(text: str) -> bool:
    """Whether ``text`` is more than JSON's escapes of half a character, such as ``\\ud800``."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _list(values: object, key: str, *where: str | int) -> list[object]:
    value = _value(values, key, *where)
    if not isinstance(value, list):
        raise _WrongValueError(value, "a list", *where, key)
    return value
