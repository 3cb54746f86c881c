"""A small run of rounds as the verbs leave it: two arms, two seeds, known times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from traces.rounds_results import JOBS, ROUNDS
from traces.run_directory import write_json

HOUR_S = 3600.0
ROUND_S = 300.0
NUM_GPUS = 8
SEEDS = (1, 2)
COUNT = 40
MEAN_S = 10 * HOUR_S
FIGURES = 9
"""Of a run that was simulated alone."""

MODELS = ("alexnet", "lstm")

# With proportional, a job takes twice the time of each model and length that it takes with tune.
ARMS = {"proportional": 2.0, "tune": 1.0}

SLOWER = 1.25
"""How much longer than simulated a job takes emulated."""

ENFORCED_CPUS = 4.0
LEASE_S = 50 * HOUR_S


def interval(value: float, low: float | None = None, high: float | None = None) -> dict[str, Any]:
    return {"value": value, "low": low, "high": high, "seeds": len(SEEDS)}


def jobs_document(**changes: Any) -> dict[str, Any]:
    return {
        "read": COUNT,
        "reordered": 0,
        "notes": [],
        "refused": [],
        "ran": COUNT,
        "counted": COUNT,
        "counted_and_finished": COUNT,
        "states": {"finished": COUNT},
    } | changes


def seed_document(seed: int, mean_s: float, **changes: Any) -> dict[str, Any]:
    times = {"count": COUNT, "mean": mean_s, "p50": mean_s, "p99": mean_s, "p99_9": mean_s}
    return {
        "seed": seed,
        "source": f"made-up jobs, seed {seed}",
        "jobs": jobs_document(),
        "load": 0.9,
        "jct_s": {"all": times, "short": times, "long": None},
        "waited_mean_s": mean_s / 4,
        "makespan_s": 80 * HOUR_S,
        "gpu_utilisation": 0.5,
        "leases_per_job": 1.25,
        "rounds": 1000,
        "decisions": 100,
        "end_s": 100 * HOUR_S,
        "mechanism": {},
    } | changes


def arm(name: str, mean_s: float, **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "cluster": [
            {
                "count": 1,
                "gpus": NUM_GPUS,
                "cpus": 24.0,
                "memory_bytes": 500e9,
                "storage_bytes_per_s": None,
                "gpu_type": "v100",
            }
        ],
        "policy": "fifo",
        "mechanism": name,
        "placement": "best-fit",
        "round_s": ROUND_S,
        "priority_after_s": None,
        "simulation": {"completion": "exact", "speeds": "matrix", "restart": 0.0},
        "workload": {"generate": {"jobs": COUNT, "load": 0.9}, "split": {"image": 1.0}},
        "measure": {"first": 0, "count": None, "short": 4 * HOUR_S},
        "jct_mean_s": interval(mean_s, mean_s * 0.9, mean_s * 1.1),
        "jct_p99_s": interval(mean_s * 3),
        "short_jct_mean_s": interval(mean_s / 2),
        "long_jct_mean_s": None,
        "speedup": interval(1.0, 1.0, 1.0),
        "runs": [seed_document(seed, mean_s) for seed in SEEDS],
    } | changes


def summary(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "rounds",
        "scenario": "small",
        "description": "Two ways to share a server.",
        "seeds": list(SEEDS),
        "interrupted": False,
        "arms": [
            arm("proportional", 20 * HOUR_S),
            arm("tune", 10 * HOUR_S, speedup=interval(2.0, 1.75, 2.25)),
        ],
    } | changes


def job_rows(arms: dict[str, float] = ARMS) -> pd.DataFrame:
    """Jobs of both models with 1, 2 and 3 GPUs, from half an hour to 20 hours long."""
    number = np.arange(COUNT)
    alone_s = HOUR_S * (number + 1) / 2
    parts = [
        pd.DataFrame(
            {
                "arm": name,
                "seed": seed,
                "job": [f"job-{i}" for i in number],
                "model": [MODELS[i % 2] for i in number],
                "num_gpus": number % 3 + 1,
                "iterations": 100.0,
                "alone_s": alone_s,
                "submit_s": number * HOUR_S,
                "start_s": number * HOUR_S,
                "finish_s": number * HOUR_S + alone_s * slowness,
                "jct_s": alone_s * slowness,
                "attained_s": alone_s,
                "leases": 1,
                "requeued": 0,
                "counted": True,
                "state": "finished",
            }
        )
        for name, slowness in arms.items()
        for seed in SEEDS
    ]
    return pd.concat(parts, ignore_index=True)


def lease_rows(arms: dict[str, float] = ARMS) -> pd.DataFrame:
    """In the first half of the run all GPUs, then half of them; the second seed never any."""
    spans = ((0.0, 50.0, NUM_GPUS), (50.0, 100.0, NUM_GPUS / 2))
    return pd.DataFrame(
        [
            {
                "arm": name,
                "seed": SEEDS[0],
                "job": "job-0",
                "server": 0,
                "gpus": gpus,
                "cpus": 3.0,
                "memory_bytes": 60e9,
                "storage_bytes_per_s": 0.0,
                "from_s": from_h * HOUR_S,
                "until_s": until_h * HOUR_S,
                "held_to_fair_share": False,
            }
            for name in arms
            for from_h, until_h, gpus in spans
        ],
        columns=ROUNDS.names,
    )


def write_table(directory: Path, name: str, rows: pd.DataFrame) -> None:
    schema = {"jobs": JOBS, "rounds": ROUNDS}[name]
    table = pa.Table.from_pandas(rows, schema=schema, preserve_index=False)
    pq.write_table(table, directory / f"{name}.parquet")


def used_lease_rows(arms: dict[str, float] = ARMS) -> pd.DataFrame:
    """Those of lease_rows. The first of each arm is CPU-bound and uses 102 % of its CPUs, the
    second is GPU-bound and uses half of them."""
    rows = lease_rows(arms)
    is_bound = rows["from_s"] == 0
    return rows.assign(
        cpus_enforced=ENFORCED_CPUS,
        cpus_used=np.where(is_bound, 1.02, 0.5) * ENFORCED_CPUS,
        cpu_demanded_s=np.where(is_bound, 1.0, 0.4) * ENFORCED_CPUS * LEASE_S,
    )


def emulated_document(mean_s: float, **changes: Any) -> dict[str, Any]:
    """What was emulated of an arm whose simulated mean is ``mean_s``."""
    return {
        "runs": [seed_document(seed, mean_s * SLOWER) for seed in SEEDS],
        "verdict": {"status": "valid", "invariants": []},
        "errors": {
            "emulated_mean_s": mean_s * SLOWER,
            "simulated_mean_s": mean_s,
            "mean_error": 1 / SLOWER - 1,
            "mape": 1 - 1 / SLOWER,
            "p95": 1 - 1 / SLOWER,
            "most": 1 - 1 / SLOWER,
        },
        "incidents": [],
    } | changes


def emulated_summary(**changes: Any) -> dict[str, Any]:
    """Of a run that was simulated and emulated."""
    document = summary(**changes)
    for each in document["arms"]:
        each["emulated"] = emulated_document(each["jct_mean_s"]["value"])
    divisors = {"stride": 188.0, "cpu": 88.0, "bytes": 401.0}
    document["scale"] = {"divisors": divisors, "reason": "it fits", "warnings": ["it is coarse"]}
    return document


def write_rounds_run(directory: Path, document: dict[str, Any] | None = None) -> Path:
    """A directory as ``roundelay simulate`` leaves it."""
    _write_documents(directory, document or summary())
    _write_tables(directory, job_rows(), lease_rows())
    return directory


def write_both_sides(directory: Path, document: dict[str, Any] | None = None) -> Path:
    """A directory as ``roundelay run`` leaves it. Every job takes SLOWER times as long emulated."""
    _write_documents(directory, document or emulated_summary())
    _write_tables(directory / "simulated", job_rows(), lease_rows())
    _write_emulated(directory / "emulated")
    return directory


def write_emulated_run(directory: Path, document: dict[str, Any] | None = None) -> Path:
    """A directory as ``roundelay emulate`` leaves it."""
    alone = document or emulated_summary()
    for each in alone["arms"]:
        each["emulated"]["errors"] = None
    _write_documents(directory, alone)
    _write_emulated(directory)
    return directory


def _write_documents(directory: Path, document: dict[str, Any]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    write_json(directory / "summary.json", document)
    (directory / "scenario.yaml").write_text("name: small\n", encoding="utf-8")
    write_json(
        directory / "provenance.json",
        {
            "finished_utc": "2026-01-02T03:04:05+00:00",
            "run_id": None,
            "seed": SEEDS[0],
            "scenario_sha256": "ab" * 32,
            "versions": {"roundelay": "0.1.0"},
            "machine": {"kernel": "6.1.0", "cpu": "A CPU", "cores": 2, "memory_bytes": 2**34},
            "profiles": dict.fromkeys(ARMS, "Models of a paper."),
        },
    )


def _write_emulated(directory: Path) -> None:
    jobs = job_rows()
    _write_tables(directory, jobs.assign(jct_s=jobs["jct_s"] * SLOWER), used_lease_rows())
    write_json(directory / "verdict.json", {})


def _write_tables(directory: Path, jobs: pd.DataFrame, leases: pd.DataFrame) -> None:
    directory.mkdir(exist_ok=True)
    write_table(directory, "jobs", jobs)
    write_table(directory, "rounds", leases)
    write_json(directory / "timeline.json", {"traceEvents": []})
