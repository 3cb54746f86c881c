"""Philly's log of jobs: Synergy's rules, one by one and against its loop; what is refused."""

from __future__ import annotations

import datetime
import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from bench.traces import write_philly_log
from tests.unit.refusal import refusal_of
from tests.unit.traces.damage import check_read_or_refused, damaged
from traces.errors import BadInputError
from traces.formats.philly import RULES, read_philly
from traces.formats.traces import read_jobs
from traces.job_trace import JobTrace
from traces.trace_format import ReadOptions

BEGAN = datetime.datetime(2017, 10, 7, 1, 0, 0)
TWO_HOURS_MIN = 120
SECOND = 23  # the line where the job after ``long_enough()`` begins


def at(minutes: float) -> str:
    return str(BEGAN + datetime.timedelta(minutes=minutes))


def attempt(start: object, end: object, gpus: int = 1) -> dict[str, Any]:
    """From ``start`` to ``end`` (minutes, or as they stand), on servers of eight GPUs."""
    detail = [
        {"ip": f"m{first}", "gpus": [f"gpu{place}" for place in range(min(8, gpus - first))]}
        for first in range(0, gpus, 8)
    ]
    times = [at(time) if isinstance(time, int | float) else time for time in (start, end)]
    return {"start_time": times[0], "end_time": times[1], "detail": detail}


def job(name: str, *attempts: dict[str, Any], submitted: float = 0, **other: Any) -> dict[str, Any]:
    return {
        "status": "Pass",
        "vc": "ee9e8c",
        "jobid": name,
        "attempts": list(attempts),
        "submitted_time": at(submitted),
        "user": "ce2f4c",
    } | other


def read(
    directory: Path, jobs: list[Any] | str | bytes, share: float = 1.0, **rules: bool
) -> JobTrace:
    file = directory / "cluster_job_log"
    text = json.dumps(jobs, indent=1) if isinstance(jobs, list) else jobs
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    switched = {name.replace("_", "-"): on for name, on in rules.items()}
    return read_philly(file, ReadOptions(switched, share))


def refusal(directory: Path, jobs: list[Any] | str | bytes, **rules: bool) -> BadInputError:
    return refusal_of(directory / "cluster_job_log", read, directory, jobs, **rules)


def long_enough(**other: Any) -> dict[str, Any]:
    return job("sound", attempt(1, 1 + TWO_HOURS_MIN), **other)


def test_what_the_log_says_of_a_job_is_kept(tmp_path: Path) -> None:
    later = job("b", attempt(61, 91, 8), attempt(100, 200, 16), submitted=60, status="Killed")
    earlier = job("a", attempt(2, 50), submitted=1.5, vc=None, user=None, status="Failed")
    trace = read(tmp_path, [later, earlier])
    assert trace.jobs["job"].tolist() == ["a", "b"]
    assert trace.jobs["submit_s"].tolist() == [0.0, 58.5 * 60]
    assert trace.jobs["num_gpus"].tolist() == [1, 16]
    assert trace.jobs["duration_s"].tolist() == [48 * 60, 130 * 60]
    assert trace.jobs["executed_s"].tolist() == trace.jobs["duration_s"].tolist()
    assert trace.jobs["queue_s"].tolist() == [30.0, 60.0]
    assert trace.jobs["attempts"].tolist() == [1, 2]
    assert trace.jobs["state"].tolist() == ["failed", "cancelled"]
    assert trace.jobs["user"].fillna("").tolist() == ["", "ce2f4c"]
    assert trace.jobs["virtual_cluster"].fillna("").tolist() == ["", "ee9e8c"]
    assert trace.jobs["line"].tolist() == [62, 2]
    assert trace.began == "2017-10-07T01:01:30"
    assert (trace.format, trace.read, trace.reordered, trace.notes) == ("philly", 2, 1, ())
    assert (dict(trace.left_out), dict(trace.changed)) == ({}, {})


NOTHING = attempt(10, 10)
RULE_CASES: dict[str, tuple[list[dict[str, Any]], dict[str, int], dict[str, int]]] = {
    "never started": ([job("x")], {"drop-without-attempts": 1}, {}),
    "still running": (
        [job("x", attempt(0, 90), attempt(90, None))],
        {"drop-without-times": 1},
        {},
    ),
    "without a start": ([job("x", attempt("None", 90))], {"drop-without-times": 1}, {}),
    "without an earlier end": (
        [job("x", attempt(0, ""), attempt(9, 90))],
        {},
        {"drop-without-times": 1},
    ),
    "too many GPUs": ([job("x", attempt(0, 90, 17))], {"drop-above-16-gpus": 1}, {}),
    "too many GPUs before": (
        [job("x", attempt(0, 90, 24), attempt(90, 180, 2))],
        {},
        {"drop-above-16-gpus": 1},
    ),
    "ran for no time": ([job("x", attempt(0, 90), NOTHING)], {"drop-without-duration": 1}, {}),
    "ended before": ([job("x", attempt(90, 0))], {"drop-without-duration": 1}, {}),
    "ended before, then ran": (
        [job("x", attempt(9, 0), NOTHING, attempt(9, 90))],
        {},
        {"drop-without-duration": 1},
    ),
    "odd GPUs": ([job("x", attempt(0, 90, 3))], {}, {"round-gpus-to-1": 1}),
    "no GPUs": ([job("x", attempt(0, 90, 0))], {}, {"round-gpus-to-1": 1}),
    "too short": ([job("x", attempt(0, 31))], {"drop-short": 1}, {}),
    "short twice": ([job("x", attempt(0, 20), attempt(20, 40))], {}, {}),
    "too long": ([job("x", attempt(0, 5000), attempt(5000, 10_000))], {"drop-long": 1}, {}),
    "changed, and left out after all": (
        [job("x", attempt(0, 90, 24), attempt(90, 91, 3))],
        {"drop-short": 1},
        {},
    ),
    "the first rule counts": (
        [job("x", attempt(None, None, 32)), job("y", attempt(0, 1, 3), attempt(5, 4, 32))],
        {"drop-without-times": 1, "drop-above-16-gpus": 1},
        {},
    ),
}


@pytest.mark.parametrize("case", list(RULE_CASES))
def test_each_rule_is_counted(tmp_path: Path, case: str) -> None:
    jobs, left_out, changed = RULE_CASES[case]
    trace = read(tmp_path, [*jobs, long_enough()])
    assert (dict(trace.left_out), dict(trace.changed)) == (left_out, changed)
    assert trace.read == len(jobs) + 1 == len(trace.jobs) + sum(left_out.values())


def test_an_attempt_that_is_passed_over_adds_no_time(tmp_path: Path) -> None:
    jobs = [job("x", attempt(0, 90, 24), attempt(0, None), attempt(90, 20), attempt(100, 150, 2))]
    trace = read(tmp_path, jobs)
    assert trace.jobs["duration_s"].tolist() == [50 * 60]
    assert trace.jobs["num_gpus"].tolist() == [2]
    assert trace.jobs["attempts"].tolist() == [4]


def test_a_rule_that_is_off_keeps_what_a_trace_can_hold(tmp_path: Path) -> None:
    jobs = [
        job("wide", attempt(0, 90, 32)),
        job("odd", attempt(0, 90, 3)),
        job("short", attempt(0, 1)),
        job("long", attempt(0, 20_000)),
        job("again", NOTHING, attempt(0, 90), NOTHING),
        job("none", attempt(0, 90, 0)),
    ]
    off = ("drop_above_16_gpus", "drop_without_duration", "round_gpus_to_1", "drop_short")
    trace = read(tmp_path, jobs, drop_long=False, **dict.fromkeys(off, False))
    assert trace.jobs["num_gpus"].tolist() == [32, 3, 1, 1, 1]
    assert trace.jobs["duration_s"].tolist() == [5400, 5400, 60, 1_200_000, 5400]
    assert trace.left_out == {"drop-without-gpus": 1}


@pytest.mark.parametrize(
    ("rule", "wrong", "key"),
    [
        ("drop_without_attempts", job("x"), "[1].attempts"),
        (
            "drop_without_times",
            job("x", attempt(0, 1), attempt(0, None)),
            "[1].attempts[1].end_time",
        ),
        ("drop_without_duration", job("x", attempt(9, 3)), "[1].attempts[0].end_time"),
    ],
)
def test_without_its_rule_a_job_that_a_trace_cannot_hold_is_refused(
    tmp_path: Path, rule: str, wrong: dict[str, Any], key: str
) -> None:
    error = refusal(tmp_path, [long_enough(), wrong], **{rule: False})
    assert (error.line, error.key) == (SECOND, key)
    assert error.problem.startswith("job 'x' ")


def test_without_the_rules_on_gpus_a_job_without_any_is_refused(tmp_path: Path) -> None:
    jobs = [long_enough(), job("x", attempt(0, 90, 0))]
    error = refusal(tmp_path, jobs, round_gpus_to_1=False, drop_without_gpus=False)
    assert (error.line, error.key) == (SECOND, "attempts[-1].detail")
    assert error.problem == "job 'x' has 0 GPUs"


def test_a_start_before_the_submission_is_no_wait(tmp_path: Path) -> None:
    trace = read(tmp_path, [job("a", attempt(0, 90), submitted=5), long_enough()])
    assert trace.jobs["queue_s"].fillna(-1).tolist() == [60.0, -1.0]
    assert trace.changed == {"clear-negative-queue": 1}
    error = refusal(tmp_path, [job("a", attempt(0, 90), submitted=5)], clear_negative_queue=False)
    assert (error.line, error.key) == (2, "attempts[0].start_time")


def test_ids_that_are_equal_are_refused(tmp_path: Path) -> None:
    error = refusal(tmp_path, [long_enough(), long_enough()])
    assert (error.line, error.key) == (SECOND, "jobid")


def test_a_log_of_which_no_job_is_kept_is_refused(tmp_path: Path) -> None:
    for jobs in ([], [job("x")]):
        assert refusal(tmp_path, jobs).problem == "there is no job"


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"status": "Done"}, "status"),
        ({"status": 3}, "status"),
        ({"jobid": ""}, "jobid"),
        ({"jobid": None}, "jobid"),
        ({"user": 7}, "user"),
        ({"user": "half a \ud800"}, "user"),
        ({"jobid": "\udfff"}, "jobid"),
        ({"vc": ["a"]}, "vc"),
        ({"submitted_time": None}, "submitted_time"),
        ({"submitted_time": "2017-10-07 01:11:39 PDT"}, "submitted_time"),
        ({"submitted_time": "2017-13-07 01:11:39"}, "submitted_time"),
        ({"attempts": None}, "attempts"),
        ({"attempts": [3]}, "attempts[0]"),
        ({"attempts": [attempt(1, 99), attempt("soon", 99)]}, "attempts[1].start_time"),
        ({"attempts": [attempt(1, "2017-10-07T01:11:39Z")]}, "attempts[0].end_time"),
        ({"attempts": [attempt(1, 9) | {"end_time": 4}]}, "attempts[0].end_time"),
        ({"attempts": [attempt(1, 9) | {"detail": None}]}, "attempts[0].detail"),
        ({"attempts": [attempt(1, 9) | {"detail": ["m1"]}]}, "attempts[0].detail[0]"),
        ({"attempts": [attempt(1, 9) | {"detail": [{"ip": "m1"}]}]}, "attempts[0].detail[0].gpus"),
    ],
)
def test_a_wrong_value_is_refused_by_line_and_key(
    tmp_path: Path, changes: dict[str, Any], key: str
) -> None:
    error = refusal(tmp_path, [long_enough(), job("x", attempt(0, 90)) | changes])
    assert (error.line, error.key) == (SECOND, f"[1].{key}")


def test_an_absent_key_is_refused(tmp_path: Path) -> None:
    wrong = long_enough()
    del wrong["submitted_time"]
    error = refusal(tmp_path, [wrong])
    assert (error.key, error.problem) == ("[0].submitted_time", "there is none")


def test_byte_order_mark_carriage_returns_and_one_line_are_fine(tmp_path: Path) -> None:
    jobs = [long_enough(), job("x", attempt(0, 90))]
    wanted = read(tmp_path, jobs).jobs.drop(columns="line")
    for text in (
        "\ufeff" + json.dumps(jobs),
        json.dumps(jobs, indent=1).replace("\n", "\r\n"),
        "\n" + json.dumps(jobs) + " \n",
    ):
        assert read(tmp_path, text).jobs.drop(columns="line").equals(wanted)


def test_a_packed_log_is_read_and_told(tmp_path: Path) -> None:
    packed = gzip.compress(json.dumps([long_enough()]).encode())
    assert len(read(tmp_path, packed).jobs) == 1
    assert read_jobs(tmp_path / "cluster_job_log").format == "philly"
    assert refusal(tmp_path, packed[:-20]).problem == "the packed file ends too early"
    with pytest.raises(BadInputError, match="a part of a packed file cannot be read"):
        read(tmp_path, packed, share=0.5)


def test_a_share_has_the_jobs_that_begin_in_it(tmp_path: Path) -> None:
    jobs = [job(f"{number:02}", attempt(number, number + 90)) for number in range(40)]
    trace = read(tmp_path, jobs, 0.25)
    assert (trace.read, trace.share) == (10, 0.25)
    assert " of its first 25.000% " in trace.source


def synergy_job(log_job: dict[str, Any]) -> tuple[str, int, float] | None:
    """Synergy's loop over the attempts of a job: id, GPUs, seconds; None where it makes none."""
    seconds = 0.0
    for number, each in enumerate(log_job["attempts"]):
        if each["start_time"] in (None, "None") or each["end_time"] in (None, "None"):
            continue
        start, end = map(datetime.datetime.fromisoformat, (each["start_time"], each["end_time"]))
        ran_s = (end - start).total_seconds()
        gpus = sum(len(server["gpus"]) for server in each["detail"])
        if gpus > 16:
            continue
        if gpus not in (1, 2, 4, 8, 16):
            gpus = 1
        if ran_s <= 0:
            continue
        seconds += ran_s
        last = number == len(log_job["attempts"]) - 1
        if last and 10**1.5 * 60 < seconds < 10**4 * 60:
            return log_job["jobid"], gpus, seconds
    return None


@pytest.mark.parametrize("seed", [1, 2])
def test_the_jobs_are_those_of_synergys_loop(tmp_path: Path, seed: int) -> None:
    file = tmp_path / "cluster_job_log"
    write_philly_log(file, 700, seed)
    made = json.loads(file.read_text())
    draw = random.Random(seed)
    for each in made:  # sizes that change from attempt to attempt, and ends before starts
        for one in each["attempts"]:
            if draw.random() < 0.1:
                one["detail"] = attempt(0, 1, draw.choice((0, 1, 3, 16, 17)))["detail"]
            if draw.random() < 0.1:
                one["start_time"], one["end_time"] = one["end_time"], one["start_time"]
    file.write_text(json.dumps(made))
    trace = read_philly(file)
    wanted = {found for each in made if (found := synergy_job(each))}
    jobs = trace.jobs
    assert set(zip(jobs["job"], jobs["num_gpus"], jobs["duration_s"], strict=True)) == wanted
    assert 300 < len(jobs) == trace.read - sum(trace.left_out.values()) < 600
    never = {"drop-without-gpus", "clear-negative-queue"}
    assert {*trace.left_out, *trace.changed} == {rule.name for rule in RULES} - never


FIXTURE = json.dumps([job("a", attempt(0, 90, 9), attempt(90, None)), long_enough()]).encode()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damaged(FIXTURE))
def test_a_damaged_log_is_read_or_refused(tmp_path: Path, data: bytes) -> None:
    check_read_or_refused(read_philly, tmp_path / "cluster_job_log", data)
