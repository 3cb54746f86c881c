"""A trace survives its file; a part of it can be read; a damaged one is refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.traces.damage import damaged
from tests.unit.traces.test_job_trace import checked, frame
from traces.errors import BadInputError
from traces.job_trace import JobTrace
from traces.job_trace_file import read_trace, write_trace


def whole_trace() -> JobTrace:
    jobs = frame(
        submit_s=[0.1, 1 / 3, 0.0],
        duration_s=[math.nan, 1e-3, 1e12],
        model=["vgg19", None, "é"],
        user=[None, "u", None],
        virtual_cluster=["v", "w", None],
    )
    return checked(jobs, read=4, notes=("one left out: 1", "é"))


@pytest.mark.parametrize("trace", [whole_trace(), checked(frame(line=...))])
def test_a_trace_survives_its_file(tmp_path: Path, trace: JobTrace) -> None:
    write_trace(trace, tmp_path / "t.parquet")
    again = read_trace(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(again.jobs, trace.jobs, check_exact=True)
    for field in ("source", "format", "read", "reordered", "notes"):
        assert getattr(again, field) == getattr(trace, field)


def test_two_lines_of_pandas_read_the_jobs(tmp_path: Path) -> None:
    write_trace(whole_trace(), tmp_path / "t.parquet")
    jobs = pd.read_parquet(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(jobs, whole_trace().jobs)


def file_refusal(file: Path) -> BadInputError:
    with pytest.raises(BadInputError) as caught:
        read_trace(file)
    assert caught.value.file == file
    assert "\n" not in str(caught.value)
    return caught.value


def rewrite(file: Path, metadata: dict[bytes, bytes], jobs: pd.DataFrame | None = None) -> None:
    """Write a trace's file with this metadata added, and other jobs where they are given."""
    write_trace(whole_trace(), file)
    table = pq.read_table(file)
    if jobs is not None:
        table = pa.Table.from_pandas(jobs, preserve_index=False).replace_schema_metadata(
            table.schema.metadata
        )
    pq.write_table(table.replace_schema_metadata(table.schema.metadata | metadata), file)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    write_trace(whole_trace(), file)
    data = file.read_bytes()
    for broken in (b"", b"PAR1 and nothing more", data[: len(data) // 2], data[:-1]):
        file.write_bytes(broken)
        assert file_refusal(file).problem.startswith("cannot be read: ")
    assert file_refusal(tmp_path).problem.startswith("cannot be read: ")
    assert file_refusal(tmp_path / "absent").problem.startswith("cannot be read: ")


def test_one_changed_byte_of_a_column_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    write_trace(whole_trace(), file)
    data = bytearray(file.read_bytes())
    data[data.index(np.float64(1 / 3).tobytes())] ^= 1
    file.write_bytes(data)
    assert file_refusal(file).problem.startswith("cannot be read: ")


def test_parquet_that_is_no_trace_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    frame().to_parquet(file)
    assert file_refusal(file).problem == "does not say where its jobs come from"


@pytest.mark.parametrize(
    ("document", "key"),
    [
        (b"", None),
        (b"[]", None),
        (b"{}", "schema_version"),
        (
            b'{"schema_version": 2, "source": "s", "format": "f", "read": 1, "reordered": 0,'
            b' "notes": []}',
            "schema_version",
        ),
        (
            b'{"schema_version": 1, "source": "s", "format": "f", "read": -1, "reordered": 0,'
            b' "notes": []}',
            "read",
        ),
        (
            b'{"schema_version": 1, "source": "s", "format": "f", "read": "1", "reordered": 0,'
            b' "notes": []}',
            "read",
        ),
        *(
            (
                b'{"schema_version": 1, "source": "s", "format": "f", "read": 1, "reordered": 0,'
                b' "notes": [], "began": "%b"}' % began,
                "began",
            )
            for began in (b"yesterday", b"0001-01-01T00:00:00+14:00")
        ),
    ],
)
def test_damaged_metadata_are_refused(tmp_path: Path, document: bytes, key: str | None) -> None:
    rewrite(tmp_path / "t.parquet", {b"roundelay_job_trace": document})
    assert file_refusal(tmp_path / "t.parquet").key == key


def test_an_index_that_pandas_stored_is_a_column_like_any_other(tmp_path: Path) -> None:
    jobs = whole_trace().jobs
    table = pa.Table.from_pandas(jobs.set_index("line"))
    rewrite(tmp_path / "t.parquet", table.schema.metadata, jobs)
    assert pd.read_parquet(tmp_path / "t.parquet").index.name == "line"
    pd.testing.assert_frame_equal(read_trace(tmp_path / "t.parquet").jobs, jobs)


def test_a_file_without_a_column_is_refused(tmp_path: Path) -> None:
    rewrite(tmp_path / "t.parquet", {}, whole_trace().jobs.drop(columns="num_gpus"))
    assert file_refusal(tmp_path / "t.parquet").problem == "lacks the column 'num_gpus'"


def test_a_bad_value_of_a_file_is_refused_without_the_line_of_its_source(tmp_path: Path) -> None:
    rewrite(tmp_path / "t.parquet", {}, whole_trace().jobs.assign(num_gpus=[1, 0, 1]))
    error = file_refusal(tmp_path / "t.parquet")
    assert (error.line, error.key, error.problem) == (None, "num_gpus", "job 'a' has 0 GPUs")


def test_a_file_out_of_order_is_put_in_order_and_counted(tmp_path: Path) -> None:
    trace = whole_trace()
    assert trace.reordered == 1
    rewrite(tmp_path / "t.parquet", {}, trace.jobs.iloc[::-1])
    again = read_trace(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(again.jobs, trace.jobs)
    assert again.reordered == 1 + 2


def test_of_a_part_it_is_not_said_what_was_done_to_all(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    jobs = frame(submit_s=[1.0, 0.0, 2.0])
    write_trace(checked(jobs, read=5, left_out={"drop-short": 2}, changed={"round": 1}), file)
    part = read_trace(file, 0.5)
    assert part.jobs["job"].tolist() == ["b", "a"]
    assert (part.read, part.reordered, part.share) == (2, 0, 0.5)
    assert (dict(part.left_out), dict(part.changed)) == ({}, {})
    assert part.notes == (
        "what was left out, changed and reordered is counted for the whole file only",
    )
    assert read_trace(file).left_out == {"drop-short": 2}
    write_trace(checked(frame()), file)
    assert read_trace(file, 0.5).notes == ()


@settings(max_examples=40)
@given(st.data())
def test_whatever_is_damaged_is_refused_as_bad_input(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    file = tmp_path_factory.getbasetemp() / "damaged.parquet"
    write_trace(whole_trace(), file)
    file.write_bytes(data.draw(damaged(file.read_bytes())))
    try:
        trace = read_trace(file)
    except BadInputError as error:
        refused = error.file
    else:
        assert len(trace.jobs) == 3
        return
    assert refused == file
