"""trace generate: what each kind writes, says and refuses."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.unit.harness.cli.conftest import Roundelay
from traces.generators.cassini_jobs import dynamic_trace
from traces.generators.cassini_snapshots import TWO_VGG19, snapshot_trace
from traces.generators.durations import Exponential, PhillyDerived
from traces.generators.job_mix import GPU_MIXES, JobMix, poisson_jobs, static_jobs
from traces.generators.models import ClassSplit
from traces.generators.philly_derived import jobs_per_hour_at, philly_derived
from traces.generators.synergy_deployment import deployment_trace
from traces.job_trace import JobTrace, checked_trace
from traces.job_trace_file import read_trace, write_trace
from traces.sensitivity import builtin_sensitivities

OUT = Path("jobs.parquet")
SYNERGY = builtin_sensitivities("synergy")
HOURLY = ("--jobs", 50, "--durations", "exponential:mean=2h")
POISSON = ("poisson", *HOURLY, "--jobs-per-hour", 30)
HOUR_S = 3600.0


def made(roundelay: Roundelay, *arguments: object) -> JobTrace:
    result = roundelay("trace", "generate", *arguments, "-o", OUT)
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    return read_trace(OUT)


def refused(roundelay: Roundelay, *arguments: object) -> str:
    """The line that is said; nothing is written."""
    result = roundelay("trace", "generate", *arguments, "-o", OUT)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert not OUT.exists()
    return result.stderr


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A trace of ten days with a job in each hour, four at noon."""
    submit_s = np.sort(
        [h * HOUR_S + n for h in range(241) for n in range(4 if h % 24 == 12 else 1)]
    )
    frame = pd.DataFrame(
        {
            "job": [f"source-{n}" for n in range(len(submit_s))],
            "submit_s": submit_s,
            "num_gpus": 2,
            "duration_s": 1800.0,
            "user": "somebody",
        }
    )
    file = tmp_path / "source.parquet"
    began = "2026-01-05T00:00:00"
    write_trace(checked_trace(frame, source="a log", format="made", began=began), file)
    return file


def test_poisson_jobs_are_those_of_their_options(roundelay: Roundelay) -> None:
    trace = made(
        roundelay, *POISSON, "--gpu-mix", "1=7,8=3", "--split", "image=2,speech=1", "--seed", 9
    )
    models = ClassSplit({"image": 2.0, "speech": 1.0}, SYNERGY)
    wanted = poisson_jobs(JobMix(Exponential(7200.0), {1: 0.7, 8: 0.3}, models), 50, 30.0, 9)
    pd.testing.assert_frame_equal(trace.jobs, wanted.jobs)
    assert trace.source == wanted.source


def test_a_load_is_turned_into_a_rate(roundelay: Roundelay) -> None:
    trace = made(roundelay, "poisson", *HOURLY, "--rho", 0.8, "--num-gpus", 64)
    assert trace.source.startswith("Poisson arrivals, 25.6 an hour, ")  # 0.8 x 64 / 2 h


def test_philly_derived_jobs_are_those_of_a_scenario_that_generates_them(
    roundelay: Roundelay,
) -> None:
    arguments = ("--jobs", 50, "--rho", 0.8, "--num-gpus", 64, "--split", "image=20,language=80")
    trace = made(roundelay, "philly-derived", *arguments)
    rate = jobs_per_hour_at(0.8, 64, "gavel")
    split = {"image": 20.0, "language": 80.0}
    wanted = philly_derived(50, rate, "gavel", split, SYNERGY, 1)
    pd.testing.assert_frame_equal(trace.jobs, wanted.jobs)


def test_the_other_kinds_are_those_of_their_generators(roundelay: Roundelay) -> None:
    static = static_jobs(JobMix(PhillyDerived(), GPU_MIXES["single"]), 50, 1)
    wanted = {
        ("static", "--jobs", 50, "--durations", "philly-derived"): static,
        ("dynamic", "--seed", 7): dynamic_trace(7),
        ("dynamic", "--gpus-per-server", 2, "--meeting"): dynamic_trace(1, 2, meets=True),
        ("snapshot", "two-vgg19", "--iterations", 9): snapshot_trace(TWO_VGG19, 1, 9),
        ("synergy-deployment", "--seed", 3): deployment_trace(SYNERGY, "v100", 3),
    }
    for arguments, trace in wanted.items():
        found = made(roundelay, *arguments)
        pd.testing.assert_frame_equal(found.jobs, trace.jobs)
        assert (found.source, found.notes) == (trace.source, trace.notes)
        OUT.unlink()


def test_models_can_come_from_a_table(roundelay: Roundelay, tmp_path: Path) -> None:
    table = tmp_path / "models.csv"
    table.write_text("num_gpus,model,weight\n1,bert,1\n8,gpt3,1\n", encoding="utf-8")
    trace = made(roundelay, *POISSON, "--gpu-mix", "gavel", "--model-table", table)
    wanted = np.where(trace.jobs["num_gpus"] >= 8, "gpt3", "bert")
    assert trace.jobs["model"].tolist() == wanted.tolist()
    assert "models by num_gpus of models.csv, SHA-256 " in trace.source


def test_a_trace_is_resampled_with_its_provenance(roundelay: Roundelay, source: Path) -> None:
    trace = made(roundelay, "empirical", source, "--length", "4 weeks", "--same-hour")
    assert trace.jobs["submit_s"].max() <= 4 * 168 * HOUR_S
    assert set(trace.jobs["user"]) == {"somebody"}
    assert trace.source.startswith("resampled from a log (made), ")
    assert trace.began == "2026-01-05T00:00:00"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--rho", 0.5, "--num-gpus", 4), "2 jobs an hour"),  # 0.5 x 4 GPUs / (2 x 0.5 h)
        (("--jobs-per-hour", 3), "3 jobs an hour"),
        (("--factor", 0.25), "(0.25 of its rate)"),
        ((), "(1 of its rate)"),
        (("--period", "day"), "by the hour of the day"),
        (("--period", "none"), "even"),
    ],
)
def test_a_trace_is_resampled_at_a_rate(
    roundelay: Roundelay, source: Path, options: tuple[object, ...], said: str
) -> None:
    trace = made(roundelay, "empirical", source, "--jobs", 20, *options)
    assert said in trace.source
    assert len(trace.jobs) == 20


def test_json_says_what_travels_in_the_file(roundelay: Roundelay) -> None:
    result = roundelay("trace", "generate", *POISSON, "-o", OUT, "--json")
    document = json.loads(result.stdout)
    trace = read_trace(OUT)
    assert (document["source"], document["jobs"]) == (trace.source, 50)
    assert document["file"] == str(OUT.resolve())


def test_a_person_is_told_what_was_made_and_where(roundelay: Roundelay) -> None:
    result = roundelay("trace", "generate", "snapshot", "pair-90", "-o", OUT)
    lines = result.stderr.splitlines()
    assert lines[0].startswith("2 jobs, submitted within ")
    assert lines[1] == "note: samples per GPU and iteration: vgg19-0 33, vgg16-1 45"
    assert lines[2].startswith("source: CASSINI's snapshot pair-90")
    assert lines[3] == f"trace: {OUT.resolve()}"


def test_the_same_seed_makes_the_same_file(roundelay: Roundelay, source: Path) -> None:
    for kind in (POISSON, ("empirical", source, "--jobs", 50)):
        files = []
        for seed in (4, 4, 5):
            made(roundelay, *kind, "--seed", seed)
            files.append(OUT.read_bytes())
            OUT.unlink()
        assert files[0] == files[1] != files[2]


def test_a_file_that_is_there_stays_as_it_is(roundelay: Roundelay) -> None:
    OUT.write_text("mine")
    result = roundelay("trace", "generate", *POISSON, "-o", OUT)
    assert result.exit_code == 2
    assert "is there already; allowed: a new file" in result.stderr
    assert OUT.read_text() == "mine"


def test_a_place_that_is_not_there_is_refused(roundelay: Roundelay) -> None:
    result = roundelay("trace", "generate", *POISSON, "-o", "absent/jobs.parquet")
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_the_file_belongs_to_the_caller(
    roundelay: Roundelay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUDO_UID", "12345")
    monkeypatch.setenv("SUDO_GID", "23456")
    made(roundelay, *POISSON)
    assert (OUT.stat().st_uid, OUT.stat().st_gid) == (12345, 23456)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "how often jobs arrive is not said; allowed: --jobs-per-hour, or --rho"),
        (("--rho", 0.8), "--rho: of how many GPUs is not said; allowed: --num-gpus beside it"),
        (("--rho", 0.8, "--num-gpus", 8, "--jobs-per-hour", 3), "--rho: stands beside"),
        (("--jobs-per-hour", 3, "--num-gpus", 8), "--num-gpus: changes nothing"),
        (("--jobs-per-hour", 0), "--jobs-per-hour: 0 is out of range"),
        (("--jobs-per-hour", "nan"), "--jobs-per-hour: nan is out of range"),
        (("--rho", "inf", "--num-gpus", 8), "--rho: inf is out of range"),
        (("--jobs-per-hour", 3, "--gpu-mix", "many"), "--gpu-mix: 'many' is no mix of GPUs"),
        (("--jobs-per-hour", 3, "--gpu-mix", "0=1"), "--gpu-mix: '0' is no number of GPUs"),
        (("--jobs-per-hour", 3, "--gpu-mix", "²=1"), "--gpu-mix: '²' is no number of GPUs"),
        (("--jobs-per-hour", 3, "--gpu-mix", "1=1,1=2"), "--gpu-mix: '1=2' is no weight"),
        (("--jobs-per-hour", 3, "--gpu-mix", "1=1e300"), "--gpu-mix: '1=1e300' is no weight"),
        (("--jobs-per-hour", 3, "--gpu-mix", "1=0"), "--gpu-mix: '1=0' is no weight"),
        (("--jobs-per-hour", 3, "--split", "sound=1"), "--split: no profile is of class 'sound'"),
        (("--jobs-per-hour", 3, "--split", "image"), "--split: 'image' is no weight"),
        (("--jobs-per-hour", 3, "--profiles", "synergy"), "--profiles: changes nothing"),
        (("--jobs-per-hour", 3, "--model-table", "absent"), "absent: cannot be read"),
        (
            ("--jobs-per-hour", 3, "--split", "image=1", "--profiles", "absent"),
            "absent: cannot be read",
        ),
        (
            ("--jobs-per-hour", 3, "--split", "image=1", "--model-table", "absent"),
            "--model-table: stands beside --split",
        ),
        (("--jobs-per-hour", 3, "--durations", "soon"), "--durations: 'soon' is no distribution"),
        (("--jobs-per-hour", 1e-9), "submit_s: job 'job-0' has"),  # after the end of time
    ],
)
def test_bad_options_are_refused_in_one_line(
    roundelay: Roundelay, options: tuple[object, ...], said: str
) -> None:
    line = refused(roundelay, "poisson", *HOURLY, *options)
    assert said in line
    assert "; allowed: " in line


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "where the trace ends is not said; allowed: --length or --jobs"),
        (("--length", "4"), "--length: '4' is not a number with a unit"),
        (("--length", "0 s"), "--length: '0 s' is no time"),
        (("--length", "1e12 s"), "jobs would arrive"),
        (("--jobs", 5, "--factor", 2, "--jobs-per-hour", 3), "--jobs-per-hour: stands beside"),
        (("--jobs", 5, "--rho", 1), "--rho: of how many GPUs is not said"),
        (("--jobs", 5, "--factor", 1e-9), "job 'job-"),
    ],
)
def test_bad_options_of_a_resampling_are_refused_in_one_line(
    roundelay: Roundelay, source: Path, options: tuple[object, ...], said: str
) -> None:
    line = refused(roundelay, "empirical", source, *options)
    assert said in line
    assert "; allowed: " in line


def test_a_source_that_is_no_good_is_refused_with_its_name(
    roundelay: Roundelay, tmp_path: Path
) -> None:
    short = tmp_path / "short.parquet"
    write_trace(static_jobs(JobMix(Exponential(60.0), {1: 1.0}), 5, 1), short)
    line = refused(roundelay, "empirical", short, "--jobs", 5)
    assert f"{short}: the jobs come within 0 h, less than the 168 h that repeat" in line
    other = tmp_path / "notes.txt"
    other.write_text("no jobs\n")
    assert "its format is not known" in refused(roundelay, "empirical", other, "--jobs", 5)
