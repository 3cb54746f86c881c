"""A trace's format is told from its content, and what is none is refused with the known ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.refusal import refusal_of
from traces.errors import BadInputError
from traces.formats.traces import TRACE_FORMATS, read_jobs
from traces.job_trace_file import write_trace
from traces.trace_format import ReadOptions

SYNERGY = "0,alexnet,8,23349,1\n1,gnmt,126,26435,1\n"
PHILLY = "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,1,66.0,11cb48\n"
MURI = (
    "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time,"
    "resource_time_0,resource_time_1,resource_time_2,priority\n"
    "0,8,0,10,gpt2,4,4370,91000,437,0.6,419,49,0\n"
)
TIRESIAS = (
    "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n0,1,0,9,vgg19,164,30\n"
)
ELASTICFLOW = (
    "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration\n"
    "0,3715485,2011,cifar10,3719996,4096,1,5644\n"
)
POLLUX = "name,time,application,num_replicas,batch_size\nncf-0,35,ncf,1,32768\n"
HELIOS = (
    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
    "7,u1,vc1,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-09 18:41:03,2,0\n"
)
ACME = (
    "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,"
    "queue,gpu_time\n7,u1,1,8,128,SFT,COMPLETED,2023-03-01 00:23:58+08:00,"
    "2023-03-01 00:24:11+08:00,2023-03-01 01:09:04+08:00,2693,13,21544.0\n"
)
GAVEL = "A3C\tpython3 main.py --amsgrad True\trl\t--max-steps\t0\t690\t1\t1\t-1.000000\t0\n"
SHOCKWAVE = "A3C\tpython3 main.py\trl\t--max-steps\t0\t690\t1\tgns\t1\t-1.000000\t1418\t0\n"
PHILLY_LOG = (
    '[\n{"status": "Pass", "vc": "ee9e8c", "jobid": "application_1", "attempts": [{"start_time": '
    '"2017-10-07 01:12:09", "end_time": "2017-10-07 03:13:23", "detail": [{"ip": "m47", "gpus": '
    '["gpu0"]}]}], "submitted_time": "2017-10-07 01:11:39", "user": "ce2f4c"}]\n'
)
OPENB = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
    "deletion_time,scheduled_time\n"
    "openb-pod-0017,88000,327680,8,1000,,Burstable,Succeeded,9437497,10769854,9437497\n"
)
SPOT = (
    "job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,"
    "job_type\n239255,13,A10,20,1,1,0,2764799,HP\n"
)
SLURM = (
    "JobID|User|State|Submit|Start|ElapsedRaw|AllocTRES|\n"
    "7|ann|COMPLETED|2024-03-01T10:00:00|2024-03-01T10:05:00|60|cpu=8,gres/gpu=2|\n"
)
KUBERNETES = (
    '{"apiVersion": "v1", "kind": "List", "items": [\n{"apiVersion": "v1", "kind": "Pod", '
    '"metadata": {"name": "a", "namespace": "b", "creationTimestamp": "2024-03-01T10:00:00Z"}, '
    '"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}]}, "status": '
    '{"phase": "Succeeded", "startTime": "2024-03-01T10:00:05Z", "containerStatuses": [{"state": '
    '{"terminated": {"finishedAt": "2024-03-01T11:00:05Z"}}}]}}]}\n'
)
OWN_CSV = "job,submit_s,num_gpus,duration_s\na,0,1,60\n"
TEXTS = {
    "synergy": SYNERGY,
    "philly": PHILLY_LOG,
    "philly-csv": PHILLY,
    "muri": MURI,
    "tiresias": TIRESIAS,
    "elasticflow": ELASTICFLOW,
    "pollux": POLLUX,
    "helios": HELIOS,
    "acme": ACME,
    "alibaba-2023": OPENB,
    "alibaba-2026": SPOT,
    "slurm": SLURM,
    "kubernetes": KUBERNETES,
    "csv": OWN_CSV,
    "gavel": GAVEL,
    "shockwave": SHOCKWAVE,
}
WITHOUT_HEADER = ("synergy", "gavel", "shockwave")


@pytest.fixture(autouse=True)
def trainings(tmp_path: Path) -> None:
    """Those of Pollux' workload."""
    folder = tmp_path / "traces" / "ncf"
    folder.mkdir(parents=True)
    (folder / "validation-32768.csv").write_text(
        "progress,iteration,metric,grad_sqr,grad_var\n194285,1548,0.3,2,4\n"
    )


def write(directory: Path, text: str | bytes) -> Path:
    file = directory / "jobs"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def refusal(file: Path, format: str | None = None) -> BadInputError:
    return refusal_of(file, read_jobs, file, format)


@pytest.mark.parametrize("name", list(TEXTS))
@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_text_format_is_told_from_the_first_line(
    tmp_path: Path, name: str, start: str, end: str
) -> None:
    trace = read_jobs(write(tmp_path, start + TEXTS[name].replace("\n", end)))
    assert trace.format == name
    assert len(trace.jobs) == TEXTS[name].count("\n") - (name not in WITHOUT_HEADER)


def test_blank_lines_before_jobs_do_not_hide_a_format(tmp_path: Path) -> None:
    assert read_jobs(write(tmp_path, "\r\n\n" + SYNERGY)).format == "synergy"


def test_a_trace_of_our_own_is_told_and_keeps_the_format_of_its_source(tmp_path: Path) -> None:
    write_trace(read_jobs(write(tmp_path, MURI)), tmp_path / "own")
    for format in (None, "roundelay"):
        again = read_jobs(tmp_path / "own", format)
        assert again.format == "muri"
        assert again.source.startswith("jobs, SHA-256 ")


def test_each_format_can_be_named(tmp_path: Path) -> None:
    assert set(TRACE_FORMATS) == {*TEXTS, "roundelay", "alibaba-2020"}  # the last is a directory
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
    error = refusal(write(tmp_path, SYNERGY), "slurmy")
    assert error.problem == "'slurmy' is no format of traces"
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


def test_a_mapping_is_refused_for_a_format_that_has_no_use_for_it(tmp_path: Path) -> None:
    options = ReadOptions(mapping=tmp_path / "columns.yaml")
    for name, text in TEXTS.items():
        if not TRACE_FORMATS[name].takes_mapping:
            with pytest.raises(BadInputError, match="has no use for a mapping"):
                read_jobs(write(tmp_path, text), name, options)
