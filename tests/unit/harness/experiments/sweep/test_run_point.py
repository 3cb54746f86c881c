"""A point's rows are the figures of simulate; what goes wrong in it is its own failure."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
from click.testing import CliRunner

from harness.cli.main import main
from harness.experiments.sweep.plan import plan_sweep
from harness.experiments.sweep.points import parse_variation
from harness.experiments.sweep.run_point import attempt
from harness.experiments.sweep.work import Point
from tests.unit.builders import ROUNDS_SCENARIO, SCENARIO, edited, write_scenario
from traces.run_directory import read_json
from traces.scenario_file import ScenarioFile


def points_of(file: Path, *varied: str) -> tuple[Point, ...]:
    variations = [parse_variation(text) for text in varied]
    return plan_sweep(ScenarioFile.read(file), variations, None, emulated=False).points


def rows_of(point: Point) -> pd.DataFrame:
    outcome = attempt(point)
    assert outcome.failure is None, outcome.failure
    assert outcome.table is not None
    return pd.read_parquet(io.BytesIO(outcome.table))


def simulated_arms(file: Path) -> list[dict[str, Any]]:
    """What the verb simulate says of them."""
    directory = file.parent / "simulated"
    result = CliRunner().invoke(main, ["simulate", str(file), "-o", str(directory)])
    assert result.exit_code == 0, result.stderr
    arms: list[dict[str, Any]] = read_json(directory / "summary.json")["arms"]
    return arms


def without_times(document: object) -> object:
    """Nothing that a clock of this machine said."""
    if isinstance(document, dict):
        return {k: without_times(v) for k, v in document.items() if k != "mechanism"}
    return [without_times(v) for v in document] if isinstance(document, list) else document


def test_the_rows_of_rounds_are_what_simulate_says(tmp_path: Path) -> None:
    text = edited(ROUNDS_SCENARIO, "  opt:\n    scheduler: {mechanism: opt}\n", "")
    file = write_scenario(tmp_path, edited(text, "seeds: 2", "seeds: 1"))
    (point,) = points_of(file, "scheduler.policy=srtf", "cluster.cpus=32")
    rows = rows_of(point)
    assert rows["scheduler.policy"].tolist() == ["srtf", "srtf"]
    assert rows["cluster.cpus"].tolist() == [32.0, 32.0]
    assert (rows["point"] == point.id).all()
    assert rows["arm"].tolist() == ["proportional", "tune"]
    assert rows["seed"].tolist() == [5, 5]
    assert rows["verdict"].isna().all()
    assert (rows["wall_s"] > 0).all()

    alone = edited(edited(text, "policy: fifo", "policy: srtf"), "cpus: 24", "cpus: 32")
    write_scenario(tmp_path, edited(alone, "seeds: 2", "seeds: 1"))
    for arm, (_, row) in zip(simulated_arms(file), rows.iterrows(), strict=True):
        run = arm["runs"][0]
        assert row["jct_s.all.mean"] == run["jct_s"]["all"]["mean"]
        assert row["jct_s.short.p99_9"] == run["jct_s"]["short"]["p99_9"]
        assert row["jct_s.all.count"] == run["jct_s"]["all"]["count"] == 40
        assert row["jobs.counted"] == run["jobs"]["counted"]
        assert row["gpu_utilisation"] == run["gpu_utilisation"]
        assert row["rounds"] == run["rounds"]
        assert without_times(json.loads(row["summary"])["runs"]) == without_times(arm["runs"])


def test_the_rows_of_links_are_what_simulate_says(tmp_path: Path) -> None:
    file = write_scenario(tmp_path, SCENARIO)
    (point,) = points_of(file, "cluster.rate=50 Gbit/s")
    rows = rows_of(point)
    arms = simulated_arms(file)
    assert rows["arm"].tolist() == [arm["name"] for arm in arms]
    for arm, (_, row) in zip(arms, rows.iterrows(), strict=True):
        for name in ("mean", "p50", "p99"):
            assert row[f"iteration_s.{name}"] == arm["predicted"]["iteration_s"][name]
        assert json.loads(row["summary"]) == arm
    assert rows["schedule.starts"].isna().all()


def test_all_files_of_a_sweep_have_the_same_columns(tmp_path: Path) -> None:
    text = edited(ROUNDS_SCENARIO, "seeds: 2", "seeds: 1")
    tables = [
        rows_of(point)
        for point in points_of(write_scenario(tmp_path, text), "measure.short=0 s,1000000 s")
    ]
    assert tables[0].columns.tolist() == tables[1].columns.tolist()
    assert tables[0]["jct_s.short.mean"].isna().all()
    assert tables[1]["jct_s.long.mean"].isna().all()


def test_bad_input_that_shows_only_in_a_run_is_a_failure_with_its_reason(tmp_path: Path) -> None:
    file = write_scenario(tmp_path, edited(ROUNDS_SCENARIO, "seeds: 2", "seeds: 1"))
    (point,) = points_of(file, "measure.first=1000")
    outcome = attempt(point)
    assert outcome.table is None
    assert outcome.failure is not None
    assert "jobs 1000 to" in outcome.failure.reason or "job 1000" in outcome.failure.reason
    assert outcome.failure.text.startswith("Traceback (most recent call last):")


def test_a_fault_is_a_failure_in_one_line(tmp_path: Path) -> None:
    file = write_scenario(tmp_path, ROUNDS_SCENARIO)
    (point, _) = points_of(file, "scheduler.policy=fifo")
    broken = Point(point.id, {"a\nb": 1}, {}, 1, file, point.data, False)
    outcome = attempt(broken)
    assert outcome.failure is not None
    assert outcome.failure.reason == "KeyError: 'a\\nb'"
