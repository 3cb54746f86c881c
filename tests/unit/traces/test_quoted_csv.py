"""CSV with quoted fields: what a row is, which line it has, and what is refused with its line."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.refusal import refusal_of
from traces.errors import BadInputError
from traces.formats.csv_table import CsvTable
from traces.formats.quoted_csv import read_quoted_csv

WANTED = ("a", "c")


def read(directory: Path, text: str | bytes, **options: object) -> CsvTable:
    file = directory / "jobs.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_quoted_csv(file, WANTED, **options)  # type: ignore[arg-type]


def refusal(directory: Path, text: str | bytes, **options: object) -> BadInputError:
    return refusal_of(directory / "jobs.csv", read, directory, text, **options)


def test_wanted_columns_are_read_and_others_are_said(tmp_path: Path) -> None:
    table = read(tmp_path, "c,b,a\n1,2,3\n4,5,6\n")
    assert table.rows["a"].tolist() == ["3", "6"]
    assert table.rows["c"].tolist() == ["1", "4"]
    assert table.lines.tolist() == [2, 3]
    assert table.notes == ("columns that are not read: b",)


def test_what_stands_in_quotation_marks_is_text(tmp_path: Path) -> None:
    table = read(tmp_path, '"a",b,c\n"x, y",1,"say ""no"""\n"two\nlines",,""\n\nz,1,2\n')
    assert table.rows["a"].tolist() == ["x, y", "two\nlines", "z"]
    assert table.rows["c"].tolist() == ['say "no"', "", "2"]
    assert table.lines.tolist() == [2, 3, 6]
    assert table.blank_lines == 1


@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", ",\n", ",\r\n"])
@pytest.mark.parametrize("last", ["", "\n", "\r\n\r\n"])
def test_forms_of_lines(tmp_path: Path, start: str, ending: str, last: str) -> None:
    rows = ("a,b,c", '1,2,"3"', "4,5,6")
    table = read(tmp_path, start + ending.join(rows) + last)
    assert table.rows["a"].tolist() == ["1", "4"]
    assert table.rows["c"].tolist() == ["3", "6"]


def test_another_separator_and_given_names(tmp_path: Path) -> None:
    table = read(tmp_path, "1\t2\t3,4\n", separator="\t", names=["a", "b", "c"])
    assert table.rows["c"].tolist() == ["3,4"]
    assert table.lines.tolist() == [1]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", None, "there is no row"),
        ("a,b,c\n", None, "there is no row"),
        ("a,b\n1,2\n", 1, "the column 'c' is not there"),
        ("a,b,c,c\n1,2,3,4\n", 1, "the column 'c' stands twice"),
        (
            "a" * 200_000 + ",b\n1,2\n",
            1,
            "the first row cannot be read: field larger than field limit (131072)",
        ),
        ("a,b,c\n1,2,3\n\n1,2\n", 4, "the number of fields is 2"),
        ('a,b,c\n"1\n2",2,3\n1,2,3,4\n', 4, "the number of fields is 4"),
        ("a,b,c\n1,2,3,,\n", 2, "the number of fields is 5"),
        (b"a,b,c\n1,2,\xff\n", 2, "is not UTF-8 text"),
        ("a,b,c\n1,2,\x00\n", 2, "has the character '\\x00'"),
        ("a,b,c\n1,2\r,3\n", 2, "has the character '\\r'"),
    ],
)
def test_a_bad_table_is_refused_by_line(
    tmp_path: Path, text: str | bytes, line: int | None, problem: str
) -> None:
    error = refusal(tmp_path, text)
    assert (error.line, error.problem) == (line, problem)


@pytest.mark.parametrize(
    ("row", "line"),
    [('5" disk,2,3', 3), ('"1"x,2,3', 3), ('1, "2",3', 3), ('"1,2,3', 3), ('1,2,"\n3', 3)],
)
def test_a_stray_quotation_mark_is_refused_by_line(tmp_path: Path, row: str, line: int) -> None:
    error = refusal(tmp_path, f'a,b,c\n"1",2,3\n{row}\n')
    assert error.line == line
    assert error.problem.startswith("a quotation mark stands where")


def test_a_share_ends_with_a_whole_row(tmp_path: Path) -> None:
    text = "a,b,c\n" + '"1\n2",2,3\n' * 100
    for percent in range(20, 60):
        table = read(tmp_path, text, share=percent / 100)
        assert percent - 3 < len(table.rows) < percent + 3
        assert set(table.rows["a"]) == {"1\n2"}


FIELDS = st.text(alphabet='x,"\n ;', max_size=5)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(FIELDS, FIELDS, FIELDS), min_size=1, max_size=6))
def test_what_another_program_writes_is_read(
    tmp_path: Path, rows: list[tuple[str, str, str]]
) -> None:
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows([("a", "b", "c"), *rows])
    table = read(tmp_path, stream.getvalue())
    assert table.rows["a"].tolist() == [row[0] for row in rows]
    assert table.rows["c"].tolist() == [row[2] for row in rows]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet='a,"\n\r ', max_size=20))
def test_rows_and_lines_stay_together(tmp_path: Path, text: str) -> None:
    file = tmp_path / "jobs.csv"
    file.write_bytes(("a,b,c\n" + text).encode())
    try:
        table = read_quoted_csv(file, WANTED)
    except BadInputError:
        return
    assert len(table.rows) == len(list(filter(None, csv.reader(io.StringIO(text, newline="")))))
