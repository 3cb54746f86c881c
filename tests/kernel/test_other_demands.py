"""Demands beyond one ring transfer: limits, blocking transfers, other patterns, real traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.kernel.command import REAL_DATA, arm, mean_s, roundelay, trusted_run
from traces.demand import Demand, Pattern, Transfer
from traces.model_profile import ModelProfile, write_profile


def _profile(file: Path, workers: int, compute_s: float, *transfers: Transfer) -> None:
    demand = Demand(compute_s=compute_s, transfers=transfers)
    profile = ModelProfile(
        model=file.stem,
        num_gpus=workers,
        demand=demand,
        provenance="reconstructed",
        source="made for a test",
    )
    write_profile(profile, file)


def _dedicated(directory: Path, jobs: str) -> dict[str, tuple[float, float]]:
    """Mean iteration time of each job, (measured, predicted), each alone on its own network."""
    scenario = directory / "scenario.yaml"
    scenario.write_text(
        "name: dedicated\n"
        "cluster: {rate: 50 Gbit/s, dedicated: true}\n"
        "scale: {rate_divisor: 1000}\n"
        "workload:\n"
        "  iterations: 8\n"
        f"  jobs:\n{jobs}"
    )
    trusted_run(scenario, directory)
    output = max(directory.glob("run-*"))
    sides = [
        pd.read_parquet(output / side / "jobs.parquet").set_index("job")["mean_iteration_s"]
        for side in ("emulated", "simulated")
    ]
    return {job: (sides[0][job], sides[1][job]) for job in sides[0].index}


def test_a_senders_own_limit_holds_for_its_transfer_alone(tmp_path: Path) -> None:
    slow = Transfer(ready_s=0.05, bytes=100e6, rate_limit_bps=10e9)
    fast = Transfer(ready_s=0.1, bytes=200e6)
    _profile(tmp_path / "limited.json", 2, 0.1, slow, fast)
    job = "    - {id: limited, profile: limited.json, servers: [left0, right0]}\n"
    measured, predicted = _dedicated(tmp_path, job)["limited"]
    assert predicted == pytest.approx(0.05 + 0.08 + 0.032)
    assert measured == pytest.approx(predicted, rel=0.03)


def test_a_blocking_transfer_holds_the_timeline(tmp_path: Path) -> None:
    blocking = Transfer(ready_s=0.03, bytes=300e6, pattern=Pattern.ALL_TO_ALL, blocking=True)
    last = Transfer(ready_s=0.1, bytes=100e6)
    _profile(tmp_path / "blocking.json", 4, 0.1, blocking, last)
    servers = "[left0, left1, right0, right1]"
    job = f"    - {{id: blocking, profile: blocking.json, servers: {servers}}}\n"
    measured, predicted = _dedicated(tmp_path, job)["blocking"]
    # Four of an all-to-all's twelve flows cross the middle link each way.
    assert predicted == pytest.approx(0.1 + 4 * 100e6 * 8 / 50e9 + 100e6 * 8 / 50e9)
    assert measured == pytest.approx(predicted, rel=0.03)


def test_explicit_pairs_send_one_way(tmp_path: Path) -> None:
    there = Transfer(0.0, 300e6, pattern=Pattern.PAIRS, blocking=True, pairs=((0, 1),))
    back = Transfer(0.1, 100e6, pattern=Pattern.PAIRS, pairs=((1, 0),))
    _profile(tmp_path / "pairs.json", 2, 0.1, there, back)
    job = "    - {id: pairs, profile: pairs.json, servers: [left0, right0]}\n"
    measured, predicted = _dedicated(tmp_path, job)["pairs"]
    assert predicted == pytest.approx(0.048 + 0.1 + 0.016)
    assert measured == pytest.approx(predicted, rel=0.03)


def test_a_job_without_transfers_only_computes(tmp_path: Path) -> None:
    _profile(tmp_path / "lonely.json", 1, 0.05)
    job = "    - {id: lonely, profile: lonely.json, servers: [left0]}\n"
    measured, predicted = _dedicated(tmp_path, job)["lonely"]
    assert predicted == pytest.approx(0.05)
    assert measured == pytest.approx(predicted, rel=0.01)


@pytest.mark.data
def test_two_jobs_of_a_real_trace_run_like_any_other(tmp_path: Path) -> None:
    trace = REAL_DATA / "kineto" / "nccl_data.json.gz"
    if not trace.exists():
        pytest.skip("the real traces are not beside this checkout")
    imported = roundelay("demand", "import", "kineto", trace, "-o", tmp_path / "resnet50.json")
    assert imported.returncode == 0, imported.stderr
    scenario = tmp_path / "two-resnet50.yaml"
    scenario.write_text(
        "name: two-resnet50\n"
        "cluster: {rate: 10 Gbit/s}\n"
        "workload:\n"
        "  iterations: 12\n"
        "  jobs:\n"
        "    - {id: a, profile: resnet50.json, servers: [left0, right0]}\n"
        "    - {id: b, profile: resnet50.json, servers: [left1, right1]}\n"
        "arms:\n"
        "  together: {}\n"
        "  shifted: {scheduler: {interleaver: cassini}}\n"
    )
    summary: dict[str, Any] = trusted_run(scenario, tmp_path)
    for each in summary["arms"]:
        assert abs(each["difference"]["mean"]) <= 0.05, each
    together, shifted = arm(summary, "together"), arm(summary, "shifted")
    assert mean_s(together) > 1.15 * mean_s(shifted)
