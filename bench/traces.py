"""How fast traces of others are converted, and with how much memory."""

from __future__ import annotations

import datetime
import json
import multiprocessing
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.figures import Figure
from traces.formats.traces import read_jobs
from traces.job_trace_file import write_trace
from traces.trace_format import ReadOptions

PHILLY_JOBS = 117_325
CSV_JOBS = 1_000_000
CSV_MAPPING = """\
columns:
  job: id
  submit_s: {column: submitted, unit: iso}
  num_gpus: gpus
  duration_s: {column: minutes, unit: min}
  user: user
  cpus: cpus
  memory_bytes: {column: memory, unit: GiB}
  state: {column: status, words: {OK: completed, ERROR: failed, KILLED: cancelled}}
"""

_RUNS = 3
_BEGAN = datetime.datetime(2017, 8, 7)
_SPAN_S = 137 * 86_400
_GPUS_OF_SERVER = 8


def measure() -> Iterator[Figure]:
    """Medians of three runs, each in a process of its own, from the file to a trace in Parquet."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "cluster_job_log"
        write_philly_log(file, PHILLY_JOBS, seed=1)
        seconds, memory_gb, note = _measured(file, "philly")
        yield Figure("traces.philly_json_s", seconds, "s", 10.0, "at most", None, note)
        yield Figure("traces.philly_json_gb", memory_gb, "GB", 1.0, "at most", None, note)
        table, mapping = Path(directory) / "jobs.csv", Path(directory) / "columns.yaml"
        write_csv_jobs(table, mapping, CSV_JOBS, seed=1)
        seconds, _, note = _measured(table, "csv", mapping)
        yield Figure("traces.csv_million_s", seconds, "s", 5.0, "at most", None, note)


def _measured(file: Path, format: str, mapping: Path | None = None) -> tuple[float, float, str]:
    """Seconds (the median), peak memory in GB (the most), and a note."""
    runs = []
    for _ in range(_RUNS):
        # A process that is not forked shows its own memory alone.
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            runs.append(pool.apply(_converted, (file, format, mapping)))
    seconds = statistics.median(taken_s for taken_s, _, _ in runs)
    memory_gb = max(memory_bytes for _, memory_bytes, _ in runs) / 1e9
    note = (
        f"{runs[0][2]:,} jobs, {file.stat().st_size / 1e6:.0f} MB made in this schema, to Parquet; "
        f"median of {_RUNS}; peak memory {memory_gb:.2f} GB"
    )
    return seconds, memory_gb, note


def _converted(file: Path, format: str, mapping: Path | None) -> tuple[float, float, int]:
    """Seconds, most memory of this process (bytes), and jobs read."""
    began_s = time.perf_counter()
    trace = read_jobs(file, format, ReadOptions(mapping=mapping))
    write_trace(trace, file.with_suffix(".parquet"))
    taken_s = time.perf_counter() - began_s
    status = Path("/proc/self/status").read_text().splitlines()
    most = next(line for line in status if line.startswith("VmHWM:"))
    return taken_s, int(most.split()[1]) * 1024, trace.read


def write_philly_log(file: Path, jobs: int, seed: int) -> None:
    """Write ``jobs`` made-up jobs laid out as Philly's ``cluster_job_log`` is.

    Sizes, run times and numbers of attempts are drawn so that every cleaning rule has work; they
    are not those of Philly.
    """
    draw = random.Random(seed)  # noqa: S311 - no secrets
    with file.open("w", encoding="utf-8") as stream:
        for number in range(jobs):
            stream.write("[\n" if number == 0 else ",\n")
            stream.write(json.dumps(_philly_job(draw, number), indent=4))
        stream.write("\n]\n")


def _philly_job(draw: random.Random, number: int) -> dict[str, object]:
    submitted = _BEGAN + datetime.timedelta(seconds=draw.randrange(_SPAN_S))
    gpus = draw.choices((0, 1, 2, 3, 4, 8, 16, 32), (1, 70, 8, 1, 8, 9, 2, 1))[0]
    attempts: list[dict[str, object]] = []
    end = submitted
    for _ in range(draw.choices((0, 1, 2, 3, 5), (3, 60, 18, 12, 7))[0]):
        start = end + datetime.timedelta(seconds=int(draw.expovariate(1 / 300)))
        end = start + datetime.timedelta(minutes=int(10 ** draw.uniform(0, 4)))
        attempts.append(
            {
                "start_time": _text(start) if draw.random() < 0.99 else draw.choice((None, "None")),
                "end_time": _text(end) if draw.random() < 0.99 else draw.choice((None, "None")),
                "detail": _servers(draw, gpus),
            }
        )
    return {
        "status": draw.choices(("Pass", "Killed", "Failed"), (60, 25, 15))[0],
        "vc": f"{draw.randrange(15):06x}",
        "jobid": f"application_1506638472019_{number:05d}",
        "attempts": attempts,
        "submitted_time": _text(submitted),
        "user": f"{draw.randrange(320):06x}",
    }


def _servers(draw: random.Random, gpus: int) -> list[dict[str, object]]:
    """The servers that hold ``gpus`` GPUs, as an attempt lists them."""
    servers: list[dict[str, object]] = []
    for first in range(0, gpus, _GPUS_OF_SERVER):
        here = min(_GPUS_OF_SERVER, gpus - first)
        names = [f"gpu{place}" for place in range(here)]
        servers.append({"ip": f"m{draw.randrange(552)}", "gpus": names})
    return servers


def _text(when: datetime.datetime) -> str:
    return when.strftime("%Y-%m-%d %H:%M:%S")


def write_csv_jobs(file: Path, mapping: Path, jobs: int, seed: int) -> None:
    """Write ``jobs`` made-up jobs as a table with quoted fields, and the ``mapping`` of it."""
    mapping.write_text(CSV_MAPPING)
    draw = random.Random(seed)  # noqa: S311 - no secrets
    with file.open("w", encoding="utf-8") as stream:
        stream.write("id,submitted,gpus,minutes,user,cpus,memory,status\n")
        for number in range(jobs):
            submitted = _BEGAN + datetime.timedelta(seconds=draw.randrange(_SPAN_S))
            gpus = draw.choice((0, 1, 1, 1, 2, 4, 8))
            stream.write(
                f"job-{number},{submitted.isoformat()},{gpus},{10 ** draw.uniform(0, 4):.2f},"
                f'"user {draw.randrange(320)}, cluster",{8 * gpus},{62.5 * gpus},'
                f"{draw.choice(('OK', 'ERROR', 'KILLED'))}\n"
            )
