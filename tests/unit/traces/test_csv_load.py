"""Plain CSV of times and bytes: what is read of it, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from tests.unit.traces.damage import damaged
from traces.errors import BadInputError
from traces.formats.csv_load import Counting, read_csv_load
from traces.load_series import LoadSeries


def read(directory: Path, text: str, counting: Counting | None = None) -> LoadSeries:
    file = directory / "load.csv"
    file.write_text(text)
    return read_csv_load(file, counting)


def test_readings_of_a_counter_become_bytes_of_intervals(tmp_path: Path) -> None:
    series = read(
        tmp_path, "received_bytes,time_ms,sent_bytes\n7,100,50\n7,101,80\n9,103,80\n12,104,200\n"
    )
    assert series.edges_s == pytest.approx([0.0, 0.001, 0.003, 0.004])
    assert series.sent_bytes.tolist() == [30.0, 0.0, 120.0]
    assert series.received_bytes is not None
    assert series.received_bytes.tolist() == [0.0, 2.0, 3.0]
    assert series.notes == (
        "bytes are taken as cumulative, for no row has less than the one before",
    )


def test_a_reading_that_is_missing_makes_one_longer_interval(tmp_path: Path) -> None:
    series = read(tmp_path, "time_s,sent_bytes\n0,5\n1,\n2,25\n3,26\n", Counting.CUMULATIVE)
    assert series.edges_s.tolist() == [0.0, 2.0, 3.0]
    assert series.sent_bytes.tolist() == [20.0, 1.0]
    assert (series.num_gaps, series.notes) == (0, ())


def test_a_counter_that_went_back_is_a_gap_and_said(tmp_path: Path) -> None:
    series = read(tmp_path, "time_s,sent_bytes\n0,5\n1,9\n2,3\n3,4\n", Counting.CUMULATIVE)
    assert series.sent_bytes.tolist() == pytest.approx([4.0, np.nan, 1.0], nan_ok=True)
    assert series.notes == ("intervals in which the counter went back, taken as gaps: 1",)


def test_bytes_of_intervals_are_those_since_the_row_before(tmp_path: Path) -> None:
    series = read(tmp_path, "time_s,sent_bytes\n1,9\n2,5\n3,\n4,0\n7,2\n8,4\n")
    assert series.edges_s.tolist() == [0.0, 1.0, 2.0, 3.0, 5.0, 6.0, 7.0]
    expected = [5.0, np.nan, 0.0, np.nan, 2.0, 4.0]
    assert series.sent_bytes.tolist() == pytest.approx(expected, nan_ok=True)
    assert series.num_gaps == 2
    assert series.notes == (
        "bytes are taken as interval, for some rows have less than the one before",
        "gaps where rows are missing: 1",
    )


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("sent_bytes\n1\n2\n", 1, "0 columns of times"),
        ("time_s,time_ms,sent_bytes\n1,1,1\n", 1, "2 columns of times"),
        ("time_s,bytes\n1,1\n", 1, "no column 'sent_bytes'"),
        ("time_s,sent_bytes\n1,1\n", None, "there is one row"),
        ("time_s,sent_bytes\n1,1\n1,2\n", 3, "the value is '1'"),
        ("time_s,sent_bytes\n1,1\n2,-2\n", 3, "the value is '-2'"),
        ("time_s,sent_bytes\n1,1\ninf,2\n", 3, "the value is 'inf'"),
        ("time_s,sent_bytes\n1,1\n2,x\n", 3, "the value is 'x'"),
        ("time_s,sent_bytes\n1,1\n2,\n", 3, "the value is ''"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    tmp_path: Path, text: str, line: int | None, problem: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        read(tmp_path, text)
    assert problem in caught.value.problem
    assert (caught.value.file, caught.value.line) == (tmp_path / "load.csv", line)


@settings(max_examples=40)
@given(data=damaged(b"time_s,sent_bytes,received_bytes\n0,10,1\n1,20,2\n2,15,3\n3,40,\n4,50,9\n"))
def test_damage_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.mktemp("damaged") / "load.csv"
    file.write_bytes(data)
    try:
        series = read_csv_load(file)
    except BadInputError as error:
        assert error.file == file  # noqa: PT017 - reading is right, too
    else:
        assert len(series.edges_s) == len(series.sent_bytes) + 1
