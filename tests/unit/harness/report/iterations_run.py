"""A small run of jobs that share links, as the verbs leave it: two jobs, two arms, known times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.report import words
from harness.report.iterations import sentences
from harness.report.iterations.documents import Summary
from traces.results import IterationRow, JobRow, LinkRow
from traces.run_directory import write_json, write_table

JOBS = ("one", "two")
ALONE_S, SHARED_S = 0.2, 0.3
WARM_UP, COUNTED = 1, 12
ARMS = (("dedicated", ALONE_S), ("together", SHARED_S))
PORT = "left->right"
FIGURES = 9
"""Of a run with two circles and two arms."""


def times(mean: float) -> dict[str, Any]:
    return {"iteration_s": {"mean": mean, "p50": mean, "p99": mean}}


def arm(name: str, mean: float, **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "sharing": "fair",
        "dedicated": False,
        "interleaver": "none",
        "measured": times(mean),
        "predicted": times(mean * 1.01),
        "difference": {"mean": 0.01, "p50": 0.01, "p99": 0.01},
        "time_shifts_s": dict.fromkeys(JOBS, 0.0),
        "score": 0.6,
        "verdict": {"status": "valid", "invariants": [invariant()]},
        "scale": {
            "rate_divisor": 380.0,
            "reason": "1000 packets in the smallest transfer",
            "load_hop_bps": 1.5e9,
            "budget_hop_bps": 4e9,
            "smallest_transfer_packets": 999.0,
            "warnings": [],
        },
    } | changes


def invariant(**changes: Any) -> dict[str, Any]:
    return {
        "name": "steal",
        "ok": True,
        "value": 0.001,
        "limit": 0.02,
        "explanation": "share of CPU time that the hypervisor gave to others",
        "bound": "at most",
        "unit": "share",
        "on_failure": "suspect",
    } | changes


def summary(**changes: Any) -> dict[str, Any]:
    return {
        "scenario": "two-jobs",
        "description": "Two jobs on one link.",
        "seed": 7,
        "interrupted": False,
        "jobs": [
            {"job": job, "model": "vgg19", "provenance": "reconstructed", "source": "a paper"}
            for job in JOBS
        ],
        "arms": [
            arm("dedicated", ALONE_S, dedicated=True, score=1.0),
            arm("together", SHARED_S),
        ],
    } | changes


def circle(**changes: Any) -> dict[str, Any]:
    demand = [(36, 0.0), (36, 50e9)]
    return {
        "jobs": list(JOBS),
        "ports": [PORT],
        "capacity_bps": 50e9,
        "perimeter_s": ALONE_S,
        "repeats": [1, 1],
        "demand": [demand, demand],
        "applied_shifts_s": {"together": [0.0, 0.0]},
        "best_shifts_s": [0.0, ALONE_S / 2],
        "best_score": 1.0,
    } | changes


def iteration_rows(name: str, length_s: float) -> list[IterationRow]:
    return [
        IterationRow(
            name,
            job,
            i,
            i >= WARM_UP,
            i * length_s,
            (i + 0.5) * length_s,
            (i + 1) * length_s,
            length_s,
        )
        for job in JOBS
        for i in range(WARM_UP + COUNTED)
    ]


def link_rows(name: str, length_s: float, *, told_apart: bool = True) -> list[LinkRow]:
    return [
        LinkRow(name, "n0", port, job, round(t_s, 3), rate_bps, 50e9, 0.0, 0)
        for port, rate_bps in ((PORT, 20e9), ("busy->elsewhere", 40e9))
        for job in (JOBS if told_apart else (None,))
        for t_s in np.arange(0.02, length_s * (WARM_UP + COUNTED), 0.02)
    ]


def job_rows(name: str, length_s: float) -> list[JobRow]:
    return [JobRow(name, job, "vgg19", 2, COUNTED, *[length_s] * 3, 0.0, 0) for job in JOBS]


def write_side(directory: Path, arms: Any = ARMS, *, run_id: str | None = None) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    for name, rows_of in (("iterations", iteration_rows), ("links", link_rows), ("jobs", job_rows)):
        rows: list[Any] = [row for arm_name, length in arms for row in rows_of(arm_name, length)]
        write_table(directory, name, rows)
    (directory / "scenario.yaml").write_text("name: two-jobs\n", encoding="utf-8")
    write_json(
        directory / "provenance.json",
        {
            "finished_utc": "2026-01-02T03:04:05+00:00",
            "run_id": run_id,
            "seed": 7,
            "scenario_sha256": "ab" * 32,
            "versions": {"roundelay": "0.1.0", "iproute2": None},
            "machine": {"kernel": "6.1.0", "cpu": "A CPU", "cores": 2, "memory_bytes": 2**34},
        },
    )
    return directory


def write_run(directory: Path, document: dict[str, Any] | None = None) -> Path:
    """A directory as ``roundelay run`` leaves it."""
    write_side(directory / "simulated")
    write_side(directory / "emulated", run_id="00c0ffee")
    write_json(directory / "summary.json", document or summary())
    write_json(directory / "circles.json", [circle()])
    return directory


def event(change: str, at_s: float, value: float | None = None, **changes: Any) -> dict[str, Any]:
    """A change of a link as a summary tells it; that of a latency was not simulated."""
    made = [{"network": "n0", "begun_s": at_s + 0.001, "done_s": at_s + 0.004}]
    return {
        "at_s": at_s,
        "link": ["left", "right"],
        "change": change,
        "value": value,
        "simulated": change != "latency",
        "made": made,
    } | changes


def marked_run(directory: Path, counts: dict[str, int | None]) -> Path:
    """A run with a threshold in one arm; counts: marked packets of each sample, by job."""
    arms = [arm("together", SHARED_S, transport={"ecn_threshold": 30e3}), arm("plain", SHARED_S)]
    write_run(directory, summary(arms=arms))
    rows = [
        replace(row, sent_packets=10, marked_packets=counts[row.job] if row.port == PORT else 0)
        for row in link_rows("together", SHARED_S)
        if row.job is not None
    ]
    write_table(directory / "emulated", "links", rows + link_rows("plain", SHARED_S))
    return directory


def outcome_of(**changes: Any) -> str:
    """What is said of a run with these ``changes``, on one line."""
    document = Summary.model_validate(summary(**changes))
    return sentences.outcome(document).replace(words.SPACE, " ")
