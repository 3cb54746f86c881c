"""What one side says of its jobs and their iterations, checked. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traces.errors import BadInputError, shown

ALL_JOBS = "all jobs"
"""The name of an arm where neither side gives it one."""

JOB_TIMES = ("submit_s", "finish_s", "queue_s", "run_s", "stall_s")
JOB_COUNTS = ("starts",)
ITERATION_TIMES = ("compute_s", "communication_s", "wait_s")
MOST_ROWS = 20_000_000

_EXAMPLES = 3

_Change = Callable[[pd.DataFrame], pd.DataFrame]


@dataclass(frozen=True, eq=False)
class Results:
    """One side. Times in s; ``arm``, ``seed`` and ``job`` are texts, empty where there is none.

    jobs: ``arm``, ``seed``, ``job``, ``jct_s`` (NaN where a job did not end), and as far as it is
    known JOB_TIMES: submission, end, queue_s (before it first ran), run_s (time in which it ran),
    stall_s (in which its GPUs waited for data), and ``starts`` (how often it was started).
    iterations: ``arm``, ``seed``, ``job``, ``iteration`` (from 0), ``iteration_s``, and as far as
    they are known ITERATION_TIMES, of which it consists. notes: what was left out. warnings: why
    what it says may be wrong.
    """

    source: str
    jobs: pd.DataFrame | None = None
    iterations: pd.DataFrame | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def tables(self) -> list[pd.DataFrame]:
        return [table for table in (self.jobs, self.iterations) if table is not None]

    @property
    def measures(self) -> tuple[str, ...]:
        there = (("jct_s", self.jobs), ("iteration_s", self.iterations))
        return tuple(name for name, table in there if table is not None)

    @property
    def arms(self) -> tuple[str, ...]:
        """In the order in which they come."""
        return tuple(dict.fromkeys(str(a) for table in self.tables for a in table["arm"].unique()))

    def some_jobs(self, arms: Sequence[str]) -> tuple[str, ...]:
        """The names of some of their jobs."""
        names = [job for t in self.tables for job in t.loc[t["arm"].isin(arms), "job"].unique()]
        return tuple(str(name) for name in dict.fromkeys(names))[:_EXAMPLES]

    def with_name(self, arm: str) -> Results:
        """The jobs without an arm are those of ``arm``."""
        return self._renamed(lambda table: table.assign(arm=table["arm"].replace("", arm)))

    def as_part(self, name: str) -> Results:
        """One of several files: ``name`` is its arm where it names none, and else its seed."""
        if self.arms == ("",):
            return self.with_name(name)
        return self._renamed(
            lambda table: table.assign(
                seed=[f"{name}/{seed}" if seed else name for seed in table["seed"]]
            )
        )

    def _renamed(self, change: _Change) -> Results:
        return replace(
            self,
            jobs=None if self.jobs is None else change(self.jobs),
            iterations=None if self.iterations is None else change(self.iterations),
        )


def together(source: str, parts: Sequence[Results]) -> Results:
    """Several files as one side."""

    def joined(tables: list[pd.DataFrame | None]) -> pd.DataFrame | None:
        there = [table for table in tables if table is not None]
        return pd.concat(there, ignore_index=True) if there else None

    return Results(
        source,
        joined([part.jobs for part in parts]),
        joined([part.iterations for part in parts]),
        tuple(f"{part.source}: {note}" for part in parts for note in part.notes),
        tuple(warning for part in parts for warning in part.warnings),
    )


def checked_jobs(
    jobs: pd.DataFrame, file: Path, names: dict[str, str] | None = None
) -> pd.DataFrame:
    """``jobs`` with all of its columns, where no time is impossible and no job is there twice.

    The index is the line in the file, or where the file has none the row. names: those of its
    columns in the file, where they are others. Raises BadInputError.
    """
    jobs = _with_texts(jobs)
    checks = _Checks(jobs, file, names or {})
    jct_s = jobs["jct_s"].to_numpy(dtype=float, na_value=np.nan)
    checks.refuse((jct_s <= 0) | np.isinf(jct_s), "jct_s", "a time above 0 s")
    for column in (*JOB_TIMES, *JOB_COUNTS):
        if column in jobs:
            values = jobs[column].to_numpy(dtype=float, na_value=np.nan)
            checks.refuse((values < 0) | np.isinf(values), column, "0 or more")
    checks.refuse_twice(["arm", "seed", "job"])
    return jobs.reset_index(drop=True)


def checked_iterations(
    iterations: pd.DataFrame, file: Path, names: dict[str, str] | None = None
) -> pd.DataFrame:
    """As checked_jobs; iterations without a number are numbered as they come."""
    iterations = _with_texts(iterations)
    checks = _Checks(iterations, file, names or {})
    lengths_s = iterations["iteration_s"].to_numpy(dtype=float, na_value=np.nan)
    checks.refuse(~(np.isfinite(lengths_s) & (lengths_s > 0)), "iteration_s", "a time above 0 s")
    key = ["arm", "seed", "job"]
    if "iteration" not in iterations:
        iterations["iteration"] = iterations.groupby(key, sort=False).cumcount()
    checks.refuse_twice([*key, "iteration"])
    return iterations.reset_index(drop=True)


def _with_texts(table: pd.DataFrame) -> pd.DataFrame:
    texts = {
        name: table[name].astype("string").fillna("").astype(object) if name in table else ""
        for name in ("arm", "seed", "job")
    }
    return table.assign(**texts)


@dataclass(frozen=True, eq=False)
class _Checks:
    table: pd.DataFrame
    file: Path
    names: dict[str, str]

    def refuse(self, wrong: NDArray[np.bool_], column: str, allowed: str) -> None:
        """BadInputError for the first row that is ``wrong``, if any is."""
        if not wrong.any():
            return
        row = int(np.argmax(wrong))
        value = self.table[column].iat[row]
        self._raise(row, f"the value is {shown(value)}", column, allowed)

    def refuse_twice(self, key: list[str]) -> None:
        """BadInputError for the first row that has the key of another one."""
        self.refuse((self.table["job"] == "").to_numpy(dtype=bool), "job", "a name")
        twice = self.table.duplicated(key).to_numpy(dtype=bool)
        if not twice.any():
            return
        row = int(np.argmax(twice))
        found = ", ".join(f"{name} {shown(self.table[name].iat[row])}" for name in key)
        self._raise(row, f"{found} is there twice", "job", "each job once for an arm and seed")

    def _raise(self, row: int, problem: str, column: str, allowed: str) -> None:
        raise BadInputError(
            problem,
            allowed=allowed,
            file=self.file,
            line=int(self.table.index[row]),
            key=self.names.get(column, column),
        )
