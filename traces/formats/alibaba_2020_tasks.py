"""What the tasks of a job have together, for all jobs of a table at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class TasksOfJobs:
    """Tasks, each of one of ``jobs`` jobs. job_of: shape (tasks,), -1 for those of no job.

    All results have the shape (jobs,), and are absent where no task of the job has a value.
    """

    job_of: NDArray[np.intp]
    jobs: int

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of the tasks' values, of shape (tasks,), NaN where a task has none."""
        known = (self.job_of >= 0) & ~np.isnan(values)
        sums = np.bincount(self.job_of[known], values[known], minlength=self.jobs)
        has_value = np.bincount(self.job_of[known], minlength=self.jobs) > 0
        return np.where(has_value, sums, np.nan)

    def least(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The least of the tasks' values, of shape (tasks,), NaN where a task has none."""
        known = (self.job_of >= 0) & ~np.isnan(values)
        least = np.full(self.jobs, np.nan)
        np.fmin.at(least, self.job_of[known], values[known])
        return least

    def joined(self, words: pd.Series) -> pd.Series:
        """The tasks' different words in order, joined by ``+``. words: shape (tasks,), or null."""
        code_of, names = pd.factorize(words, sort=True)
        known = (self.job_of >= 0) & (code_of >= 0)
        pairs = np.unique(self.job_of[known] * len(names) + code_of[known])
        jobs, codes = np.divmod(pairs, max(len(names), 1))
        different = np.asarray(names, dtype=object)[codes].tolist()
        begins = np.flatnonzero(np.diff(jobs, prepend=-1))
        ends = np.append(begins, len(jobs))[1:]
        joined = np.full(self.jobs, None, dtype=object)
        joined[jobs[begins]] = [
            "+".join(different[begin:end])
            for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
        ]
        return pd.Series(joined, dtype="string")
