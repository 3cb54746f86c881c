"""The files that commands in the documentation name: small ones, made here."""

from __future__ import annotations

import datetime
import gzip
import json
import shutil
from pathlib import Path

from tests.documentation import ROOT
from tests.unit.builders import make_profile
from tests.unit.harness.cli.test_demand_fit import counter
from tests.unit.harness.report.iterations_run import write_run
from tests.unit.harness.report.rounds_run import write_both_sides
from tests.unit.traces.formats.kineto_trace import Trace, overlapped
from tests.unit.traces.test_chakra import TRAINING
from tests.unit.traces.test_chakra import write as write_chakra
from tests.unit.traces.test_trace_formats import HELIOS
from traces.formats.csv_mapping import example_mapping
from traces.formats.traces import read_jobs
from traces.job_trace_file import write_trace
from traces.model_profile import write_profile

_OWN_JOBS = (
    "id,submitted,gpus,started,finished,memory,owner,status\n"
    "7,2024-07-01T10:00:00,4,2024-07-01T11:00:00,2024-07-01T12:00:00,16,ann,OK\n"
)


def make_documented_files(place: Path) -> None:
    """All of them, in ``place``, by the names that the documentation has."""
    shutil.copytree(ROOT / "examples", place / "examples")
    _make_traces(place)
    _make_demands(place)
    _make_runs(place / "runs")
    _make_tables(place)


def _make_traces(place: Path) -> None:
    (place / "philly.csv").write_text(_philly())
    (place / "cluster_log.csv").write_text(HELIOS)
    (place / "jobs.csv").write_text(_OWN_JOBS)
    (place / "mapping.yaml").write_text(example_mapping())
    for name in ("jobs", "poisson"):
        write_trace(read_jobs(place / "philly.csv"), place / f"{name}.parquet")


def _philly() -> str:
    """Three weeks of jobs, one every two hours."""
    began = datetime.datetime(2017, 10, 9)
    times = [began + datetime.timedelta(hours=2 * number) for number in range(250)]
    rows = [
        f"{time},{600 + 40 * number},{1 << number % 4},{600 * (1 << number % 4)},vc{number % 3}"
        for number, time in enumerate(times)
    ]
    return "\n".join(("timestamp,duration,num_gpus,gpu_time,cluster", *rows)) + "\n"


def _make_demands(place: Path) -> None:
    trace = Trace()
    for number in range(3):
        overlapped(trace, number, 100.0 * number)
    (place / "trace.json.gz").write_bytes(gzip.compress(json.dumps(trace.document()).encode()))
    for file in write_chakra(place, TRAINING):
        file.rename(place / file.name.replace("job", "all_reduce"))
    counter(place)
    write_profile(make_profile(), place / "resnet50.json")


def _make_runs(place: Path) -> None:
    for name in ("both", "measured", "predicted", "emulated-1", "emulated-2"):
        write_run(place / name)
    write_both_sides(place / "deploy")
    (place / "rates" / "points").mkdir(parents=True)
    shutil.copy(place / "deploy" / "simulated" / "jobs.parquet", place / "rates" / "points")
    (place / "network").mkdir()
    write_profile(make_profile(), place / "network" / "profile.json")


def _make_tables(place: Path) -> None:
    measured, predicted = _table(1.0), _table(1.01)
    for arm, factor in (("fifo", 1.0), ("srtf", 0.7)):
        for folder, by in (("results", 1.0), ("simulated", 1.01)):
            (place / folder / arm).mkdir(parents=True)
            (place / folder / arm / "job.csv").write_text(_table(by * factor))
    (place / "physical.csv").write_text(measured)
    (place / "simulated.csv").write_text(predicted)
    (place / "shockwave").mkdir()
    for arm in ("allox", "shockwave"):
        (place / "shockwave" / f"{arm}_physical.csv").write_text(measured)
        (place / "shockwave" / f"{arm}_simulation.csv").write_text(predicted)


def _table(factor: float) -> str:
    """Completion times of 40 jobs; of the prediction 1 % longer."""
    rows = [f"{job},{factor * (600 + 50 * job):.3f}" for job in range(40)]
    return "\n".join(("job,jct_s", *rows)) + "\n"
