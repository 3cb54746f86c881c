"""sweep: one dataset, what is printed of it, what is not run again, and errors in a line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from harness.cli.main import main
from tests.unit.builders import ROUNDS_SCENARIO, edited, write_scenario
from tests.unit.harness.cli.conftest import Roundelay
from tests.unit.harness.cli.said import one_line
from traces.run_directory import read_json

TEXT = edited(ROUNDS_SCENARIO, "  opt:\n    scheduler: {mechanism: opt}\n", "")
POLICIES = ("--vary", "scheduler.policy=fifo,srtf")
LOADS = ("--vary", "workload.generate.load=0.5..1.0:2")


def swept(file: Path, *words: object) -> Result:
    return CliRunner().invoke(main, ["sweep", str(file), *map(str, words)])


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """One sweep for all tests: its output and its directory."""
    place = tmp_path_factory.mktemp("sweep")
    file = write_scenario(place, TEXT)
    return swept(file, *POLICIES, *LOADS, "-o", place / "out", "--json"), place / "out"


def files(directory: Path) -> dict[str, tuple[int, int]]:
    """Inode and time of writing of each point's file: both change when a point is run again."""
    found = {file.stem: file.stat() for file in (directory / "points").iterdir()}
    return {name: (status.st_ino, status.st_mtime_ns) for name, status in found.items()}


def test_standard_output_is_one_json_document(sweep: tuple[Result, Path]) -> None:
    result, directory = sweep
    assert result.exit_code == 0, result.stderr
    summary = json.loads(result.stdout)
    assert summary == read_json(directory / "summary.json")
    assert summary["points"] == {"wanted": 8, "finished_before": 0, "finished": 8, "failed": 0}
    assert summary["figure"] == "jct_s.all.mean"
    assert not summary["interrupted"]


def test_the_dataset_has_a_row_for_each_point_seed_and_arm(sweep: tuple[Result, Path]) -> None:
    rows = pd.read_parquet(sweep[1] / "points")
    keys = ["scheduler.policy", "workload.generate.load", "seed", "arm"]
    assert sorted(rows[keys].itertuples(index=False, name=None)) == [
        (policy, load, seed, arm)
        for policy in ("fifo", "srtf")
        for load in (0.5, 1.0)
        for seed in (5, 6)
        for arm in ("proportional", "tune")
    ]
    assert rows["point"].nunique() == len(files(sweep[1])) == 8
    assert (rows["jct_s.all.mean"] > 0).all()


def test_the_table_has_the_means_of_the_dataset(sweep: tuple[Result, Path]) -> None:
    result, directory = sweep
    rows = pd.read_parquet(directory / "points")
    groups = rows.groupby(["scheduler.policy", "workload.generate.load", "arm"])
    means = groups["jct_s.all.mean"].mean()
    found = json.loads(result.stdout)["results_by_values"]
    assert len(found) == len(means) == 8
    lines = [line.split() for line in result.stderr.splitlines()]
    for each in found:
        mean_s = means[(*each["values"].values(), each["arm"])]
        assert each["interval"]["value"] == pytest.approx(mean_s)
        shown = [*map(str, each["values"].values()), each["arm"], f"{mean_s / 3600:.4g}"]
        assert shown in [line[:4] for line in lines]
    assert "toy-rounds: mean job completion time in h, simulated" in result.stderr
    assert str(directory / "points") in result.stderr.replace("\n", "")


def test_finished_points_are_not_run_again(sweep: tuple[Result, Path]) -> None:
    first, directory = sweep
    before = files(directory)
    again = swept(directory.parent / "scenario.yaml", *POLICIES, *LOADS, "-o", directory, "--json")
    assert again.exit_code == 0, again.stderr
    assert files(directory) == before
    summary = json.loads(again.stdout)
    assert summary["points"]["finished_before"] == 8
    assert summary["results_by_values"] == json.loads(first.stdout)["results_by_values"]
    assert "8 of 8 points finished, 8 of them before" in again.stderr


def test_a_failing_point_is_recorded_and_the_others_go_on(
    roundelay: Roundelay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.cli.sweep.usable_cores", lambda: 1)  # one takes both
    file = write_scenario(tmp_path, TEXT)
    words = ("sweep", file, "--vary", "measure.first=10,1000", "--seeds", 1)
    result = roundelay(*words, "-o", tmp_path / "out", "--json")
    assert result.exit_code == 1, result.stderr
    summary = json.loads(result.stdout)
    assert summary["points"] == {"wanted": 2, "finished_before": 0, "finished": 1, "failed": 1}
    (failed,) = summary["failed"]
    assert failed["values"] == {"measure.first": 1000}
    assert "should count, but the trace has 60 jobs" in failed["reason"]
    text = (tmp_path / "out" / failed["file"]).read_text()
    assert failed["reason"] in text
    assert "Traceback (most recent call last):" in text
    assert pd.read_parquet(tmp_path / "out" / "points")["measure.first"].unique() == [10.0]
    assert "failed: measure.first 1000, seed 5: " in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--vary", "scheduler.polcy=fifo"], "--vary scheduler.polcy: unknown key; allowed: "),
        (["--vary", "scheduler.policy"], "--vary: 'scheduler.policy' is no key with values"),
        (["--vary", "scheduler.policy=best"], "--vary scheduler.policy: 'best' is not known"),
    ],
)
def test_a_bad_variation_is_one_line_before_anything_runs(
    roundelay: Roundelay, tmp_path: Path, words: list[str], said: str
) -> None:
    result = roundelay("sweep", write_scenario(tmp_path, TEXT), *words, "-o", tmp_path / "out")
    assert said in one_line(result, exit_code=2)
    assert not (tmp_path / "out").exists()


def test_nothing_varied_is_refused(roundelay: Roundelay, tmp_path: Path) -> None:
    assert roundelay("sweep", write_scenario(tmp_path, TEXT)).exit_code == 2


def test_the_directory_of_a_changed_scenario_is_refused(
    sweep: tuple[Result, Path], roundelay: Roundelay, tmp_path: Path
) -> None:
    before = files(sweep[1])
    changed = write_scenario(tmp_path, edited(TEXT, "cpus: 24", "cpus: 20"))
    result = roundelay("sweep", changed, *POLICIES, *LOADS, "-o", sweep[1])
    assert "as it was before a change; allowed: another directory" in one_line(result, exit_code=2)
    assert files(sweep[1]) == before


def test_without_ray_its_option_says_how_to_get_it(
    roundelay: Roundelay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    words: list[Any] = [write_scenario(tmp_path, TEXT), *POLICIES, "--ray", "127.0.0.1:1"]
    said = one_line(roundelay("sweep", *words), exit_code=3)
    assert said == "roundelay: --ray needs the package ray; pip install 'roundelay[ray]'"
