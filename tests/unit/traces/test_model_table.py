"""Models are drawn by the jobs' GPUs or durations, and a table that is no good is refused.

The statistical test (see chances.py) fails wrongly in fewer than 1 of 10,000 cases.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.unit.refusal import refusal_of
from tests.unit.traces.chances import assert_counts
from traces.errors import BadInputError
from traces.generators.model_table import ModelTable, read_model_table

HEADER = "num_gpus,model,weight\n"
TABLE = HEADER + "1,resnet50,3\n8,gpt3,1\n1,bert,1\n"


def read(directory: Path, text: str) -> ModelTable:
    file = directory / "models.csv"
    file.write_text(text, encoding="utf-8")
    return read_model_table(file)


def refusal(directory: Path, text: str) -> BadInputError:
    return refusal_of(directory / "models.csv", read, directory, text)


def draw(table: ModelTable, **columns: object) -> list[str]:
    return table.draw(pd.DataFrame(columns), np.random.default_rng(3))


def test_models_are_drawn_by_weight_inside_a_range(tmp_path: Path) -> None:
    num_gpus = np.tile([1, 7, 8, 64], 5000)
    models = np.array(draw(read(tmp_path, TABLE), num_gpus=num_gpus))
    assert set(models[num_gpus >= 8]) == {"gpt3"}
    names, counts = np.unique(models[num_gpus < 8], return_counts=True)
    assert names.tolist() == ["bert", "resnet50"]
    assert_counts(counts, np.array([1.0, 3.0]))


def test_ranges_can_be_of_durations_and_columns_in_any_order(tmp_path: Path) -> None:
    table = read(tmp_path, "model,weight,duration_s\nbert,1,0.5\ngpt3,1,3600\n")
    assert draw(table, duration_s=[0.5, 3599.9, 3600.0]) == ["bert", "bert", "gpt3"]


def test_a_longer_draw_begins_with_the_shorter_one(tmp_path: Path) -> None:
    table = read(tmp_path, TABLE)
    few, more = (draw(table, num_gpus=np.ones(count)) for count in (10, 1000))
    assert few == more[:10]
    assert set(few) == {"resnet50", "bert"}


def test_the_table_says_where_it_is_from(tmp_path: Path) -> None:
    assert str(read(tmp_path, TABLE)).startswith("models by num_gpus of models.csv, SHA-256 ")


@pytest.mark.parametrize("duration_s", [5.0, np.nan])
def test_jobs_below_the_first_range_are_refused(tmp_path: Path, duration_s: float) -> None:
    table = read(tmp_path, "duration_s,model,weight\n60,bert,1\n")
    with pytest.raises(BadInputError) as caught:
        draw(table, duration_s=[60.0, duration_s, duration_s])
    assert caught.value.problem == "2 of 3 jobs have no duration_s of 60 s or more, and so no model"
    assert (caught.value.file, caught.value.key) == (tmp_path / "models.csv", "duration_s")


@pytest.mark.parametrize(
    ("text", "line", "key", "problem"),
    [
        ("", None, None, "there is no row"),
        (HEADER, None, None, "there is no row"),
        ("model,weight\nbert,1\n", 1, None, "the first line has no column of ranges"),
        (
            "num_gpus,duration_s,model,weight\n1,1,bert,1\n",
            *(1, None, "the first line has num_gpus and duration_s"),
        ),
        ("num_gpus,model,share\n1,bert,1\n", 1, None, "the first line has no column 'weight'"),
        (
            "num_gpus,model,weight,user\n1,bert,1,me\n",
            *(1, None, "the first line has the column 'user'"),
        ),
        (HEADER + "1,bert,0\n", 2, "weight", "the value is '0'"),
        (HEADER + "1,bert,inf\n", 2, "weight", "the value is 'inf'"),
        (HEADER + "1,bert,much\n", 2, "weight", "the value is 'much'"),
        (HEADER + "1,bert,1\n0,gpt3,1\n", 3, "num_gpus", "the value is '0'"),
        (HEADER + "1,bert,1\n1e7,gpt3,1\n", 3, "num_gpus", "the value is '1e7'"),
        (HEADER + "1,,1\n", 2, "model", "the value is ''"),
        (HEADER + "1,bert,1\n\n1,bert,2\n", 4, "model", "the value is 'bert'"),
        (HEADER + "1,bert\n", 2, None, "the number of fields is 2"),
    ],
)
def test_a_bad_table_is_refused_where_it_is_bad(
    tmp_path: Path, text: str, line: int | None, key: str | None, problem: str
) -> None:
    error = refusal(tmp_path, text)
    assert (error.line, error.key, error.problem) == (line, key, problem)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="cannot be read"):
        read_model_table(tmp_path / "absent.csv")
