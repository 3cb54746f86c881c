"""simulate on a scenario of rounds: a whole directory, one JSON document, and words for people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from harness.cli.main import main
from tests.unit.builders import ROUNDS_SCENARIO, write_scenario
from tests.unit.harness.cli.conftest import Roundelay
from tests.unit.harness.cli.rounds_files import ROUNDS_FILES
from tests.unit.harness.cli.said import folded, one_line
from traces.rounds_results import JOBS, ROUNDS
from traces.run_directory import read_json

ARMS = ["proportional", "tune", "opt"]


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """One run for all tests: its output and its directory."""
    place = tmp_path_factory.mktemp("rounds")
    file = write_scenario(place, ROUNDS_SCENARIO)
    words = ["simulate", str(file), "-o", str(place / "out"), "--json"]
    return CliRunner().invoke(main, words), place / "out"


@pytest.fixture(scope="module")
def arms(simulated: tuple[Result, Path]) -> dict[str, Any]:
    return {arm["name"]: arm for arm in json.loads(simulated[0].stdout)["arms"]}


def test_standard_output_is_one_json_document(simulated: tuple[Result, Path]) -> None:
    result, directory = simulated
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == read_json(directory / "summary.json")


def test_words_for_people_are_on_standard_error(simulated: tuple[Result, Path]) -> None:
    result, directory = simulated
    said = folded(result.stderr)
    assert str(directory / "report.html") in said
    assert "toy-rounds: job completion time in h, over 2 seeds with 95 % intervals" in said
    for arm in ARMS:
        assert f"{arm}, seed 5 ..." in said
        assert f"{arm}, seed 6 ..." in said
    assert "speed-up" in said


def test_quiet_leaves_progress_out_and_nothing_else(tmp_path: Path) -> None:
    file = write_scenario(tmp_path, ROUNDS_SCENARIO)
    words = ["simulate", str(file), "-o", str(tmp_path / "out"), "--quiet"]
    said = CliRunner().invoke(main, words).stderr
    assert "..." not in said
    assert "speed-up" in said
    assert "report.html" in said


def test_the_table_has_the_numbers_of_the_document(
    simulated: tuple[Result, Path], arms: dict[str, Any]
) -> None:
    lines = [line.split() for line in simulated[0].stderr.splitlines() if line.strip()]
    rows = {words[0]: words[1:] for words in lines}
    for arm in ARMS:
        figures = arms[arm]
        utilisation = np.mean([run["gpu_utilisation"] for run in figures["runs"]])
        assert rows[arm][:4] == [
            f"{figures[key]['value'] / 3600:.2f}"
            for key in ("jct_mean_s", "jct_p99_s", "short_jct_mean_s", "long_jct_mean_s")
        ]
        assert rows[arm][-2:] == [f"{utilisation:.0%}", f"{figures['speedup']['value']:.2f}"]


def test_the_run_directory_is_whole(simulated: tuple[Result, Path]) -> None:
    _, directory = simulated
    assert {each.name for each in directory.iterdir()} == ROUNDS_FILES
    assert (directory / "scenario.yaml").read_text() == ROUNDS_SCENARIO
    assert read_json(directory / "provenance.json")["seed"] == 5
    assert "toy-rounds" in (directory / "report.html").read_text()
    for name, schema in (("jobs", JOBS), ("rounds", ROUNDS)):
        assert pq.read_schema(directory / f"{name}.parquet").equals(schema)


def test_the_tables_have_every_arm_seed_and_job(simulated: tuple[Result, Path]) -> None:
    jobs = pd.read_parquet(simulated[1] / "jobs.parquet")
    assert jobs.groupby(["arm", "seed"], sort=False).size().to_dict() == {
        (arm, seed): 60 for arm in ARMS for seed in (5, 6)
    }
    assert jobs["counted"].sum() == 3 * 2 * 40
    leases = pd.read_parquet(simulated[1] / "rounds.parquet")
    assert set(leases["job"]) <= set(jobs["job"])


def test_the_figures_are_those_of_the_tables(
    simulated: tuple[Result, Path], arms: dict[str, Any]
) -> None:
    jobs = pd.read_parquet(simulated[1] / "jobs.parquet")
    means = jobs[jobs["counted"]].groupby(["arm", "seed"])["jct_s"].mean()
    for arm in ARMS:
        of_seeds = [run["jct_s"]["all"]["mean"] for run in arms[arm]["runs"]]
        assert of_seeds == pytest.approx([means[arm, 5], means[arm, 6]])
        assert arms[arm]["jct_mean_s"]["value"] == pytest.approx(np.mean(of_seeds))
        ratios = [means["proportional", seed] / means[arm, seed] for seed in (5, 6)]
        assert arms[arm]["speedup"]["value"] == pytest.approx(np.sqrt(np.prod(ratios)))


def test_cpus_for_those_who_need_them_make_jobs_faster(arms: dict[str, Any]) -> None:
    assert arms["proportional"]["speedup"] == {"value": 1.0, "low": 1.0, "high": 1.0, "seeds": 2}
    assert arms["tune"]["speedup"]["value"] > 1.05
    assert arms["opt"]["speedup"]["value"] > 1.05


def test_the_same_scenario_gives_the_same_numbers(
    simulated: tuple[Result, Path], roundelay: Roundelay, tmp_path: Path
) -> None:
    """But for the time that the solver took."""

    def plain(text: str) -> dict[str, Any]:
        summary: dict[str, Any] = json.loads(text)
        for arm in summary["arms"]:
            for run in arm["runs"]:
                run.pop("mechanism")
        return summary

    file = write_scenario(tmp_path, ROUNDS_SCENARIO)
    again = roundelay("simulate", file, "-o", tmp_path / "out", "--json")
    assert plain(again.stdout) == plain(simulated[0].stdout)
    for table in ("jobs.parquet", "rounds.parquet"):
        assert (tmp_path / "out" / table).read_bytes() == (simulated[1] / table).read_bytes()


def test_results_never_go_where_something_is(roundelay: Roundelay, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "results.txt").touch()
    file = write_scenario(tmp_path, ROUNDS_SCENARIO)
    said = one_line(roundelay("simulate", file, "-o", tmp_path / "out"), exit_code=2)
    assert "not empty" in said
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["results.txt"]


def test_help_shows_an_example_of_each_kind(roundelay: Roundelay) -> None:
    said = roundelay("simulate", "--help").stdout
    examples = said.partition("Example:\n")[2].splitlines()[:2]
    assert [example.split()[:3] for example in examples] == [
        ["roundelay", "simulate", "examples/two-vgg19.yaml"],
        ["roundelay", "simulate", "examples/synergy-load.yaml"],
    ]
    place = Path(__file__).parents[4]
    assert all((place / example.split()[2]).is_file() for example in examples)
