"""What a person may hand over, what is read of it, and what is refused with which words."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.fidelity.inputs.read import read_results
from harness.fidelity.inputs.results import Results
from tests.unit.builders import iteration_row
from traces.errors import BadInputError
from traces.formats.muri_trace import RESULT_COLUMNS
from traces.results import IterationRow
from traces.rounds_results import JOBS, STEPS
from traces.run_directory import table

BATSIM = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,"
    "success,final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,"
    "stretch,allocated_resources,consumed_energy,metadata\n"
)


def written(file: Path, text: str) -> str:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return str(file)


def read(name: object) -> Results:
    return read_results(str(name), "reference")


def jobs_of(results: Results) -> pd.DataFrame:
    assert results.jobs is not None
    return results.jobs


def test_a_csv_of_jobs(tmp_path: Path) -> None:
    text = "seed,jct_s,arm,job,queue_s,color\n1,10,a,x,2,red\n2,,a,x,,blue\n"
    found = read(written(tmp_path / "a.csv", text))
    jobs = jobs_of(found)
    assert jobs[["arm", "seed", "job"]].to_numpy().tolist() == [["a", "1", "x"], ["a", "2", "x"]]
    assert jobs["jct_s"].isna().tolist() == [False, True]
    assert jobs["queue_s"].iloc[0] == 2
    assert found.iterations is None
    assert found.notes == ("columns that are not read: color",)


def test_a_csv_of_iterations_and_of_both(tmp_path: Path) -> None:
    rows = "job,iteration_s\na,0.1\na,0.2\nb,0.3\n"
    found = read(written(tmp_path / "a.csv", rows))
    assert found.measures == ("iteration_s",)
    assert found.iterations is not None
    assert found.iterations["iteration"].tolist() == [0, 1, 0]
    both = read(written(tmp_path / "b.csv", "job,jct_s,iteration_s\na,100,0.1\nb,200,\n"))
    assert both.measures == ("jct_s", "iteration_s")
    assert both.iterations is not None
    assert len(both.iterations) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("job,jct_s\na,1\nb,0\n", "a.csv:3: jct_s: the value is .*0.0.*above 0 s"),
        ("job,jct_s\na,1\n\nb,-5\n", "a.csv:4: jct_s: the value is .*-5.0"),
        ("job,jct_s\na,nan\n", "a.csv:2: jct_s: the value is 'nan'"),
        ("job,jct_s\na,inf\n", "a.csv:2: jct_s: the value is"),
        ("job,jct_s\na,ten\n", "a.csv:2: jct_s: the value is 'ten'"),
        ("job,jct_s\na,1\nb,1\na,2\n", "a.csv:4: job: .*'a' is there twice"),
        ("job,jct_s\n,1\n", "a.csv:2: job: the value is ''"),
        ("job,jct_s\na,1,2\n", "a.csv:2: the number of fields is 3"),
        ("job,jct_s\n", "there is no row"),
        ("job,jct_s,run_s\na,1,-1\n", "a.csv:2: run_s: the value is .*-1.0"),
        ("job,iteration_s\na,1\na,0\n", "a.csv:3: iteration_s: the value is"),
        ("job,iteration,iteration_s\na,1,1\na,1,2\n", "a.csv:3: job: .*is there twice"),
        ("name,time\na,1\n", "a.csv:1: the columns are name, time; allowed: a run directory"),
    ],
)
def test_bad_csv(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadInputError, match=words):
        read(written(tmp_path / "a.csv", text))


def parquet(file: Path, **columns: object) -> str:
    pq.write_table(pa.table(columns), file)
    return str(file)


def test_a_parquet_of_jobs(tmp_path: Path) -> None:
    file = parquet(tmp_path / "a.parquet", job=["a", "b", "c"], jct_s=[1.5, None, 3.0],
                   seed=[1, 1, 2], counted=[True, True, False])  # fmt: skip
    found = read(file)
    assert jobs_of(found)["seed"].tolist() == ["1", "1"]
    assert jobs_of(found)["jct_s"].isna().tolist() == [False, True]
    assert found.notes == ("rows that do not count (warm-up or outside of the window): 1",)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"job": ["a", "b"], "jct_s": [1.0, float("nan")]}, "jct_s: the value is NaN"),
        ({"job": ["a", "b"], "jct_s": [1.0, -1.0]}, "a.parquet:2: jct_s: the value is"),
        ({"job": ["a", "a"], "jct_s": [1.0, 2.0]}, "is there twice"),
        ({"job": ["a"], "jct_s": ["1"]}, "jct_s: the column is of the type string"),
        ({"id": ["a"], "jct_s": [1.0]}, "lacks a column"),
    ],
)
def test_bad_parquet(tmp_path: Path, columns: dict[str, list[object]], words: str) -> None:
    with pytest.raises(BadInputError, match=words):
        read(parquet(tmp_path / "a.parquet", **columns))


def test_a_damaged_parquet_and_what_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(BadInputError, match="cannot be read"):
        read(tmp_path / "a.parquet")
    (tmp_path / "a.pickle").write_bytes(b"\x80\x04\x95\xff")
    with pytest.raises(BadInputError, match="neither Parquet nor UTF-8"):
        read(tmp_path / "a.pickle")
    with pytest.raises(BadInputError, match="no such file"):
        read(tmp_path / "absent")


def muri_row(job: int, submit_s: float, start_s: float, end_s: float, ran_s: float) -> str:
    row = dict.fromkeys(RESULT_COLUMNS, 0.0) | {
        "job_id": job, "num_gpu": 1, "submit_time": submit_s, "start_time": start_s,
        "end_time": end_s, "JCT": end_s - submit_s, "real_executed_time": ran_s,
    }  # fmt: skip
    return ",".join(str(row[name]) for name in RESULT_COLUMNS)


def test_results_of_muri_by_a_pattern_whose_star_is_the_arm(tmp_path: Path) -> None:
    for policy, end_s in (("SRTF", 50.0), ("SRSF", 60.0)):
        lines = [",".join(RESULT_COLUMNS), muri_row(7, 10, 20, end_s, 15)]
        written(tmp_path / policy / "job.csv", "\n".join(lines) + "\n")
    jobs = jobs_of(read(tmp_path / "*" / "job.csv"))
    assert jobs["arm"].tolist() == ["SRSF", "SRTF"]
    assert jobs["jct_s"].tolist() == [50.0, 40.0]
    assert jobs["queue_s"].tolist() == [10.0, 10.0]
    assert jobs["run_s"].tolist() == [15.0, 15.0]


def test_a_pattern_of_nothing_or_of_several_stars(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no file is named like that"):
        read(tmp_path / "*.csv")
    with pytest.raises(BadInputError, match="several"):
        read(tmp_path / "*" / "*.csv")


def test_a_summary_of_pollux(tmp_path: Path) -> None:
    document = {
        "jcts": {"w-1": {"a": 60, "b": 90}, "w-2": {"a": 30}},
        "avgs": {"w-1": 75, "w-2": 30},
    }
    jobs = jobs_of(read(written(tmp_path / "summary.json", json.dumps(document))))
    assert jobs["job"].tolist() == ["w-1/a", "w-1/b", "w-2/a"]
    assert jobs["jct_s"].tolist() == [60, 90, 30]
    document["jcts"]["w-2"]["a"] = 0
    with pytest.raises(BadInputError, match=r"jcts\.w-2\.a: the value is 0"):
        read(written(tmp_path / "summary.json", json.dumps(document)))


def test_jobs_of_batsim(tmp_path: Path) -> None:
    rows = (
        "1,w0,p,0,1,100,1,COMPLETED_SUCCESSFULLY,10,50,60,10,60,1.2,0-3,0,{}\n"
        "2,w0,p,5,1,100,0,COMPLETED_WALLTIME_REACHED,20,100,120,15,115,1.15,0,0,{}\n"
    )
    found = read(written(tmp_path / "out_jobs.csv", BATSIM + rows))
    jobs = jobs_of(found)
    assert jobs["job"].tolist() == ["1", "2"]
    assert jobs["jct_s"].iloc[0] == 60
    assert jobs["jct_s"].isna().tolist() == [False, True]
    assert (jobs["queue_s"].iloc[0], jobs["run_s"].iloc[0]) == (10, 50)
    assert found.notes == ("jobs that were killed or rejected, and did not end: 1",)
    several = read(written(tmp_path / "b.csv", BATSIM + rows.replace("2,w0", "1,w1")))
    assert jobs_of(several)["job"].tolist() == ["w0!1", "w1!1"]
    with pytest.raises(BadInputError, match=r"c.csv:2: turnaround_time"):
        read(written(tmp_path / "c.csv", BATSIM + rows.replace("10,60,1.2", "10,-60,1.2")))


def test_what_gavel_prints(tmp_path: Path) -> None:
    text = (
        "INFO Number of completed jobs: 3\nJob 9: 1.0\nJob completion times:\nJob 0: 11.149\n"
        "Job 1 (high priority): 22.296\nJob 0: 11.149\nAverage job completion time: 16.7 seconds\n"
        "Job 2: 5.000\n"
    )
    jobs = jobs_of(read(written(tmp_path / "gavel.log", text)))
    assert dict(zip(jobs["job"], jobs["jct_s"], strict=True)) == {"0": 11.149, "1": 22.296}
    with pytest.raises(BadInputError, match=r"log:6: job 0 has another time than on line 4"):
        read(written(tmp_path / "gavel.log", text.replace("Job 0: 11.149\nAv", "Job 0: 12.0\nAv")))
    with pytest.raises(BadInputError, match="no job stands below"):
        read(written(tmp_path / "other.log", "nothing\n"))


def run_of_iterations(place: Path, *lengths_s: float) -> Path:
    place.mkdir(parents=True)
    rows = [iteration_row("a", number, length) for number, length in enumerate(lengths_s)]
    rows.append(iteration_row("a", len(rows), 9.0, counted=False))
    table(rows, IterationRow).to_parquet(place / "iterations.parquet")
    return place


def test_a_run_directory_of_iterations_and_its_two_sides(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run_of_iterations(run / "emulated", 0.2, 0.3)
    run_of_iterations(run / "simulated", 0.25)
    reference, prediction = read(run), read_results(str(run), "prediction")
    assert reference.iterations is not None
    assert prediction.iterations is not None
    assert reference.iterations["iteration_s"].tolist() == [0.2, 0.3]
    assert prediction.iterations["iteration_s"].tolist() == [0.25]
    parts = reference.iterations[["compute_s", "communication_s", "wait_s"]].sum(axis=1)
    assert parts.tolist() == pytest.approx([0.2, 0.3])
    assert "do not count" in reference.notes[0]


def test_repeats_by_a_pattern_are_seeds(tmp_path: Path) -> None:
    for number in (1, 2):
        run_of_iterations(tmp_path / f"emulated-{number}", 0.2)
    found = read(tmp_path / "emulated-*")
    assert found.arms == ("a",)
    assert found.iterations is not None
    assert found.iterations["seed"].tolist() == ["1", "2"]


def test_a_run_directory_of_rounds(tmp_path: Path) -> None:
    job = {
        "arm": "tune", "seed": 1, "job": "0", "submit_s": 5.0, "start_s": 15.0, "finish_s": 105.0,
        "jct_s": 100.0, "attained_s": 80.0, "leases": 2, "counted": True,
    }  # fmt: skip
    waiting = job | {"job": "1", "start_s": None, "finish_s": None, "jct_s": None}
    warm = job | {"job": "2", "counted": False}
    pq.write_table(pa.Table.from_pylist([job, waiting, warm], JOBS), tmp_path / "jobs.parquet")
    step = {"arm": "tune", "seed": 1, "job": "0", "stall_s": 3.0}
    steps = [step | {"server": server} for server in (0, 0, 1)]
    pq.write_table(pa.Table.from_pylist(steps, STEPS), tmp_path / "iterations.parquet")
    jobs = jobs_of(read(tmp_path))
    assert jobs["job"].tolist() == ["0", "1"]
    assert jobs["jct_s"].isna().tolist() == [False, True]
    first = jobs.iloc[0]
    assert (first["queue_s"], first["run_s"], first["starts"], first["stall_s"]) == (10, 80, 2, 4.5)


def test_what_is_no_run_directory(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"there is no iterations\.parquet"):
        read(tmp_path)
