"""Models by a joint distribution: their weights by the jobs' GPUs, or by their durations.

A CSV file whose first line names three columns in any order: ``model``, ``weight``, and either
``num_gpus`` or ``duration_s``, which is the least of a range that reaches up to the next one::

    num_gpus,model,weight
    1,resnet50,3
    1,bert,1
    8,gpt3,1

Three of four jobs with 1 to 7 GPUs train resnet50 here, and all with 8 or more gpt3.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traces.errors import BadInputError
from traces.formats.csv_table import CsvTable, read_named_columns
from traces.job_trace import JOB_COLUMNS, MAX_GPUS, MAX_TIME_S

RANGES = {"num_gpus": MAX_GPUS, "duration_s": MAX_TIME_S}
"""What the ranges may be of, and the most that it can be."""

_MOST_WEIGHT = 1e9
_HEADER = f"a first line with the columns model, weight, and one of {' and '.join(RANGES)}"


@dataclass(frozen=True, eq=False)
class ModelTable:
    """Weights of models by range.

    column: what the ranges are of, one of RANGES. least: (ranges,), ascending.
    models: (ranges,) names. chances: (ranges,) cumulative, up to 1.
    file, source: where the table is, and with its SHA-256.
    """

    column: str
    least: NDArray[np.float64]
    models: tuple[NDArray[np.str_], ...]
    chances: tuple[NDArray[np.float64], ...]
    file: Path
    source: str

    def __str__(self) -> str:
        return f"models by {self.column} of {self.source}"

    def draw(self, jobs: pd.DataFrame, random: np.random.Generator) -> list[str]:
        """(jobs,) models. Raises BadInputError where a job is below the first range."""
        value = jobs[self.column].to_numpy(dtype=np.float64)
        outside = ~(value >= self.least[0])  # also of what is not known
        if outside.any():
            unit = JOB_COLUMNS[self.column].unit
            raise BadInputError(
                f"{np.count_nonzero(outside):,} of {len(jobs):,} jobs have no {self.column} of "
                f"{self.least[0]:g} {unit} or more, and so no model",
                allowed="a first range that all jobs reach",
                file=self.file,
                key=self.column,
            )
        of_range = np.searchsorted(self.least, value, side="right") - 1
        drawn = random.random(len(jobs))
        models = np.empty(len(jobs), dtype=object)
        for index, (names, chances) in enumerate(zip(self.models, self.chances, strict=True)):
            inside = of_range == index
            models[inside] = names[np.searchsorted(chances, drawn[inside], side="right")]
        return [str(model) for model in models]


def read_model_table(file: Path) -> ModelTable:
    """The table in ``file``. Raises BadInputError with line and column."""
    table = read_named_columns(file, ("model", "weight"), tuple(RANGES))
    columns = [column for column in RANGES if column in table.rows.columns]
    if len(columns) != 1 or table.unread:
        problem = (
            f"the first line has the column {table.unread[0]!r}"
            if table.unread
            else f"the first line has {' and '.join(columns) or 'no column of ranges'}"
        )
        raise BadInputError(problem, allowed=_HEADER, file=file, line=1)
    column = columns[0]
    least, weight = _numbers(table, column, RANGES[column]), _numbers(table, "weight", _MOST_WEIGHT)
    model = table.words("model").to_numpy(dtype=str)
    twice = pd.DataFrame({"least": least, "model": model}).duplicated().to_numpy()
    table.refuse(twice, "model", "each model once in a range")
    edges = np.unique(least)
    inside = [least == edge for edge in edges]
    shares = [np.cumsum(weight[of_range]) / weight[of_range].sum() for of_range in inside]
    for share in shares:
        share[-1] = 1.0  # whatever was rounded
    return ModelTable(
        column=column,
        least=edges,
        models=tuple(model[of_range] for of_range in inside),
        chances=tuple(shares),
        file=file,
        source=table.source,
    )


def _numbers(table: CsvTable, column: str, most: float) -> NDArray[np.float64]:
    values = table.numbers(column)
    table.refuse(~((values > 0) & (values <= most)), column, f"a number above 0, at most {most:g}")
    return values
