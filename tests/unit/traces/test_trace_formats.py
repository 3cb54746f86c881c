"""A trace's format is told from its content, and what is none is refused with the known ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from traces.errors import BadInputError
from traces.formats.traces import TRACE_FORMATS, read_jobs
from traces.job_trace import write_trace

SYNERGY = "0,alexnet,8,23349,1\n1,gnmt,126,26435,1\n"
PHILLY = "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,1,66.0,11cb48\n"
MURI = (
    "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time,"
    "resource_time_0,resource_time_1,resource_time_2,priority\n"
    "0,8,0,10,gpt2,4,4370,91000,437,0.6,419,49,0\n"
)
TEXTS = {"synergy": SYNERGY, "philly-csv": PHILLY, "muri": MURI}


def write(directory: Path, text: str | bytes) -> Path:
    file = directory / "jobs"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def refusal(file: Path, format: str | None = None) -> BadInputError:
    with pytest.raises(BadInputError) as caught:
        read_jobs(file, format)
    assert caught.value.file == file
    return caught.value


@pytest.mark.parametrize("name", list(TEXTS))
@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_text_format_is_told_from_the_first_line(
    tmp_path: Path, name: str, start: str, end: str
) -> None:
    trace = read_jobs(write(tmp_path, start + TEXTS[name].replace("\n", end)))
    assert trace.format == name
    assert len(trace.jobs) == TEXTS[name].count("\n") - (name != "synergy")


def test_blank_lines_before_jobs_do_not_hide_a_format(tmp_path: Path) -> None:
    assert read_jobs(write(tmp_path, "\r\n\n" + SYNERGY)).format == "synergy"


def test_a_trace_of_our_own_is_told_and_keeps_the_format_of_its_source(tmp_path: Path) -> None:
    write_trace(read_jobs(write(tmp_path, MURI)), tmp_path / "own")
    for format in (None, "roundelay"):
        again = read_jobs(tmp_path / "own", format)
        assert again.format == "muri"
        assert again.source.startswith("jobs, SHA-256 ")


def test_each_format_can_be_named(tmp_path: Path) -> None:
    assert set(TRACE_FORMATS) == {*TEXTS, "roundelay"}
    for name, text in TEXTS.items():
        assert read_jobs(write(tmp_path, text), name).format == name


def test_the_named_format_is_the_one_that_is_read(tmp_path: Path) -> None:
    assert refusal(write(tmp_path, SYNERGY), "muri").allowed == MURI.partition("\n")[0]
    assert refusal(write(tmp_path, PHILLY), "roundelay").problem.startswith("cannot be read: ")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "job_id,model,arrival_s,iterations,gpus\n",
        "0,1,8,23349,1\n",  # a number for a model
        "0,alexnet,8,many,1\n",
        "0,alexnet,8,23349,1,1\n",
        "0,alexnet,8,23349\n",
        PHILLY.replace("cluster", "vc"),
        b"\xff\xfe\x00\x01",
        b"\x1f\x8b\x08\x00",
        "time,job_id,num_gpu,submit_time\n",
    ],
)
def test_another_format_is_refused_with_the_known_ones(tmp_path: Path, text: str | bytes) -> None:
    error = refusal(write(tmp_path, text))
    assert error.problem == "its format is not known"
    for name in TRACE_FORMATS:
        assert name in error.allowed


def test_an_unknown_name_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    error = refusal(write(tmp_path, SYNERGY), "gavel")
    assert error.problem == "'gavel' is no format of traces"
    for name in TRACE_FORMATS:
        assert name in error.allowed


def test_a_bad_row_of_a_known_format_is_refused_by_its_reader(tmp_path: Path) -> None:
    error = refusal(write(tmp_path, SYNERGY + "2,gnmt,1,1,none\n"))
    assert (error.line, error.key) == (3, "gpus")
    assert refusal(write(tmp_path, SYNERGY.encode() + b"2,\xff,1,1,1\n")).line == 3


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "absent"):
        for format in (None, *TRACE_FORMATS):
            assert refusal(place, format).problem.startswith("cannot be read: ")
