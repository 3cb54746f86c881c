"""trace describe: of one trace, of a part of it, of two."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from tests.unit.harness.cli.conftest import Roundelay
from traces.job_trace import checked_trace
from traces.job_trace_file import write_trace

SYNERGY = "0,alexnet,0,23349,1\n1,gnmt,60,26435,2\n"


def write(file: Path, count: int, gap_s: float = 1.0, user: str = "a") -> Path:
    """``count`` jobs of 2 GPUs and 5 s that come every ``gap_s``."""
    numbers = np.arange(count)
    frame = pd.DataFrame(
        {
            "job": pd.Series(numbers).astype("string"),
            "submit_s": numbers * gap_s,
            "num_gpus": 2,
            "duration_s": 5.0,
            "user": user,
        }
    )
    write_trace(checked_trace(frame, source="a test", format="test"), file)
    return file


def test_one_trace_is_described(roundelay: Roundelay) -> None:
    result = roundelay("trace", "describe", write(Path("jobs"), 11), "--json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    (found,) = document["traces"]
    assert document["distances"] is None
    assert (found["label"], found["jobs"], found["span_s"]) == ("jobs", 11, 10.0)
    assert found["offered_gpus"] == 11.0
    assert found["run_s"]["p50"] == 5.0
    assert found["user"]["largest"][0]["name"] == "a"
    assert found["state"] is None
    for words in ("11 GPUs", "GPUs of a job", "users", "run for at most 5 s"):
        assert words in result.stderr


def test_of_a_share_only_the_first_row_groups_are_read(roundelay: Roundelay) -> None:
    file = write(Path("jobs"), 25_000)
    end = pq.ParquetFile(file).metadata.row_group(2).column(0).data_page_offset
    with file.open("r+b") as stream:
        stream.seek(end + 40)
        stream.write(b"\xff" * 40)
    assert roundelay("trace", "describe", file).exit_code == 2
    result = roundelay("trace", "describe", file, "--share", "1%", "--json")
    assert result.exit_code == 0
    (found,) = json.loads(result.stdout)["traces"]
    assert (found["jobs"], found["share"], found["read"]) == (250, 0.01, 250)
    assert "those of the first 1.00 % of its file" in result.stderr


def test_two_traces_are_set_side_by_side(roundelay: Roundelay) -> None:
    files = write(Path("slow"), 11, gap_s=4.0), write(Path("fast"), 21, user="[b]")
    result = roundelay("trace", "describe", *files, "--json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert [each["label"] for each in document["traces"]] == ["slow", "fast"]
    assert document["distances"]["gap_s"]["wasserstein"] == 3.0
    assert document["distances"]["gap_s"]["ks"] == 1.0
    assert document["distances"]["run_s"]["ks"] == 0.0
    assert (
        "Gap between submissions: at most 1 s is 100 percentage points more frequent in fast than "
        "in slow, where the two are farthest apart, and those of the same rank differ by 3 s on "
        "average (75.0 % of the larger mean)."
    ) in result.stderr
    assert "Run time: both traces have the same distribution." in result.stderr
    assert "[b] (100 % of jobs" in result.stderr


def test_files_of_the_same_name_are_told_by_their_paths(roundelay: Roundelay) -> None:
    Path("other").mkdir()
    files = write(Path("jobs"), 3), write(Path("other/jobs"), 3)
    for words, labels in (
        (files, ["jobs", "other/jobs"]),
        (files[:1] * 2, ["jobs (first)", "jobs (second)"]),
    ):
        document = json.loads(roundelay("trace", "describe", *words, "--json").stdout)
        assert [each["label"] for each in document["traces"]] == labels


def test_names_in_a_file_do_not_steer_the_terminal(roundelay: Roundelay) -> None:
    result = roundelay("trace", "describe", write(Path("jobs"), 3, user="\x1b[31mred"))
    assert "\x1b" not in result.stderr
    assert r"\x1b[31mred" in result.stderr


def test_a_trace_without_run_times_says_so(roundelay: Roundelay) -> None:
    Path("jobs.csv").write_text(SYNERGY, encoding="utf-8")
    result = roundelay("trace", "describe", "jobs.csv", "-o", "page.html")
    assert result.exit_code == 0
    assert "offer a load that is not known" in result.stderr
    assert "It is not known how long jobs run" in Path("page.html").read_text(encoding="utf-8")


def test_the_page_is_one_file_that_is_never_overwritten(roundelay: Roundelay) -> None:
    words = ("trace", "describe", write(Path("jobs"), 30), "-o", "page.html")
    assert roundelay(*words).exit_code == 0
    text = Path("page.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    again = roundelay(*words)
    assert again.exit_code == 2
    assert "page.html: -o: is there already" in again.stderr
    assert Path("page.html").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("words", [("absent",), ("jobs", "absent")])
def test_what_is_no_trace_is_refused(roundelay: Roundelay, words: tuple[str, ...]) -> None:
    write(Path("jobs"), 3)
    result = roundelay("trace", "describe", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "roundelay: absent: cannot be read" in result.stderr
