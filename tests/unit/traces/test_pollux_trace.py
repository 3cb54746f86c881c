"""Pollux' and Sia's workloads as traces: their work from measured trainings, or a refusal."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.unit.traces.damage import check_read_or_refused, damaged
from traces.errors import BadInputError
from traces.formats.pollux_trace import read_pollux_trace
from traces.job_trace import JobTrace
from traces.trace_format import ReadOptions

REAL_FILES = Path(__file__).parents[4] / "shared" / "data" / "pollux"

HEADER = "name,time,application,num_replicas,batch_size\n"
ROWS = "ncf-0,35,ncf,1,64\nbert-1,154.5,bert,16,12\nncf-2,154.5,ncf,2,32\n"
EPOCHS = "progress,iteration,metric,grad_sqr,grad_var\n{0},{0},0.3,2,4\n{1},{1},0.5,1,8\n"


def artifact(directory: Path) -> Path:
    """An artifact in ``directory``, and where a workload of it lies."""
    for application, batch, iterations in (("ncf", 32, 20), ("ncf", 64, 12), ("bert", 12, 480)):
        folder = directory / "traces" / application
        folder.mkdir(parents=True, exist_ok=True)
        text = EPOCHS.format(iterations // 2, iterations)
        (folder / f"validation-{batch}.csv").write_text(text)
    (directory / "traces" / "ncf" / "placements.csv").write_text("")
    workloads = directory / "workloads"
    workloads.mkdir(exist_ok=True)
    return workloads / "workload-1.csv"


def read(directory: Path, text: str, share: float = 1.0) -> JobTrace:
    file = artifact(directory)
    file.write_text(text)
    return read_pollux_trace(file, ReadOptions(share=share))


def refusal(directory: Path, text: str) -> BadInputError:
    with pytest.raises(BadInputError) as caught:
        read(directory, text)
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        HEADER + ROWS,
        "\ufeff" + (HEADER + ROWS).replace("\n", "\r\n"),
        (HEADER + ROWS).replace("\n", ",\n"),
    ],
)
def test_iterations_are_those_of_the_training_with_the_batch(tmp_path: Path, text: str) -> None:
    trace = read(tmp_path, text)
    jobs = trace.jobs
    assert jobs["job"].tolist() == ["ncf-0", "bert-1", "ncf-2"]
    assert jobs["submit_s"].tolist() == [35.0, 154.5, 154.5]
    assert jobs["model"].tolist() == ["ncf", "bert", "ncf"]
    assert jobs["num_gpus"].tolist() == [1, 16, 2]
    assert jobs["iterations"].tolist() == [12.0, 480.0, 20.0]
    assert jobs["duration_s"].isna().all()
    assert trace.notes == (
        "iterations are those measured in traces/APPLICATION/validation-BATCH.csv",
    )


def test_trainings_may_lie_another_folder_up(tmp_path: Path) -> None:
    folder = artifact(tmp_path).parent / "newtrace"
    folder.mkdir()
    (folder / "workload-1.csv").write_text(HEADER + ROWS)
    assert read_pollux_trace(folder / "workload-1.csv").read == 3


def test_a_workload_without_trainings_is_refused_with_the_remedy(tmp_path: Path) -> None:
    file = tmp_path / "one" / "two" / "three" / "workload-1.csv"
    file.parent.mkdir(parents=True)
    file.write_text(HEADER + ROWS)
    with pytest.raises(BadInputError) as caught:
        read_pollux_trace(file)
    assert caught.value.file == file
    assert "no measured trainings are near" in caught.value.problem
    assert "beside a copy of its folder traces" in caught.value.allowed


@pytest.mark.parametrize("application", ["gpt", ".", "..", "../traces/ncf", "ncf/../bert"])
def test_an_application_without_trainings_is_refused(tmp_path: Path, application: str) -> None:
    error = refusal(tmp_path, f"{HEADER}{ROWS}a,200,{application},1,64\n")
    assert (error.line, error.key) == (5, "application")
    assert error.problem == f"the value is {application!r}"
    assert error.allowed == f"one with measured trainings in {tmp_path / 'traces'}"


def test_a_batch_without_a_training_is_refused_with_those_that_have_one(tmp_path: Path) -> None:
    error = refusal(tmp_path, f"{HEADER}{ROWS}a,200,ncf,1,48\n")
    assert (error.line, error.key, error.problem) == (5, "batch_size", "the value is '48'")
    assert error.allowed == "32, 64"


def test_a_damaged_training_is_refused_by_its_own_name(tmp_path: Path) -> None:
    file = artifact(tmp_path)
    file.write_text(HEADER + ROWS)
    training = tmp_path / "traces" / "bert" / "validation-12.csv"
    training.write_text(EPOCHS.format(20, 10))
    with pytest.raises(BadInputError) as caught:
        read_pollux_trace(file)
    assert (caught.value.file, caught.value.line, caught.value.key) == (training, 3, "progress")


@pytest.mark.parametrize(
    ("row", "key", "problem"),
    [
        ("ncf-0,200,ncf,1,64", "name", "the value is 'ncf-0'"),
        ("a,-1,ncf,1,64", "time", "job 'a' has -1 s"),
        ("a,None,ncf,1,64", "time", "the value is 'None'"),
        ("a,200,ncf,0,64", "num_replicas", "the value is '0'"),
        ("a,200,ncf,1,", "batch_size", "the value is ''"),
    ],
)
def test_a_bad_row_is_refused_by_line_and_column(
    tmp_path: Path, row: str, key: str, problem: str
) -> None:
    error = refusal(tmp_path, f"{HEADER}{ROWS}\n{row}\n")
    assert (error.line, error.key, error.problem) == (6, key, problem)


def test_a_share_has_whole_jobs(tmp_path: Path) -> None:
    assert read(tmp_path, HEADER + ROWS, share=0.8).read == 2


@settings(max_examples=40)
@given(data=damaged((HEADER + ROWS).encode()))
def test_damage_is_refused_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    file = artifact(tmp_path_factory.getbasetemp())
    check_read_or_refused(read_pollux_trace, file, data)


@pytest.mark.data
def test_the_real_workloads() -> None:
    files = sorted((REAL_FILES / "workloads").glob("*.csv"))
    if not files:
        pytest.skip("the real traces are not beside this checkout")
    assert len(files) == 8
    iterations: dict[str, set[float]] = {}
    for file in files:
        trace = read_pollux_trace(file)
        assert len(trace.jobs) == trace.read == 160
        for model, of_jobs in trace.jobs.groupby("model")["iterations"]:
            iterations.setdefault(str(model), set()).update(of_jobs)
    # As in ElasticFlow's traces of the same applications with these batches.
    assert iterations == {
        "bert": {480},
        "cifar10": {2011, 3178},
        "deepspeech2": {1423, 2264},
        "imagenet": {23972, 42123},
        "ncf": {1548},
        "yolov3": {14577},
    }
