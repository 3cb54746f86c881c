"""simulate on a scenario of rounds: a whole directory, one JSON document, and errors in a line."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from harness.cli import simulate_rounds
from harness.cli.main import main
from tests.unit.builders import ROUNDS_SCENARIO, edited, line_of, write_scenario
from tests.unit.harness.cli.conftest import Roundelay
from tests.unit.harness.cli.test_errors import one_line
from traces.rounds_results import JOBS, ROUNDS
from traces.run_directory import read_json
from traces.sensitivity import Sensitivities, builtin_sensitivities, write_sensitivities

FILES = {
    "jobs.parquet", "provenance.json", "report.html", "rounds.parquet", "scenario.yaml",
    "summary.json", "timeline.json",
}  # fmt: skip
ARMS = ["proportional", "tune", "opt"]
TUNE = "    scheduler: {mechanism: tune}"
WITH_TRACE = """\
name: from-a-trace
cluster: {servers: 2}
workload: {trace: jobs.csv}
arms:
  proportional: {}
  tune: {scheduler: {mechanism: tune}}
"""
SOUND = ["1,alexnet,0,9000,1", "2,gnmt,10,90000,4", "3,res50,700,5000,8", "4,m5,900,7000,1"]


def folded(text: str) -> str:
    """``text`` as if it had one line, as wide as it likes."""
    return " ".join(text.split())


def scenario_with_trace(
    directory: Path, lines: list[str] | None = None, text: str = WITH_TRACE
) -> Path:
    (directory / "jobs.csv").write_text("".join(f"{line}\n" for line in lines or SOUND))
    return write_scenario(directory, text)


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
    assert {each.name for each in directory.iterdir()} == FILES
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


def test_a_trace_lies_beside_the_scenario(roundelay: Roundelay, tmp_path: Path) -> None:
    """Wherever the command is called from; results go below the current directory."""
    result = roundelay("simulate", scenario_with_trace(tmp_path))
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    (directory,) = (tmp_path / "here" / "runs").iterdir()
    assert directory.name.startswith("scenario-")
    assert {each.name for each in directory.iterdir()} == FILES
    jobs = pd.read_parquet(directory / "jobs.parquet")
    assert jobs[jobs["arm"] == "tune"]["job"].tolist() == ["1", "2", "3", "4"]
    assert jobs[jobs["arm"] == "tune"]["iterations"].tolist() == [9000, 90000, 5000, 7000]
    (workload,) = read_json(directory / "provenance.json")["workloads"]
    assert workload.startswith("jobs.csv, SHA-256 ")


def test_one_seed_is_shown_without_intervals(roundelay: Roundelay, tmp_path: Path) -> None:
    result = roundelay("simulate", scenario_with_trace(tmp_path), "-o", tmp_path / "out")
    said = folded(result.stderr)
    assert "from-a-trace: job completion time in h " in said
    assert "intervals" not in said
    assert "proportional ..." in said


def test_jobs_out_of_order_are_put_in_order_and_that_is_said(
    roundelay: Roundelay, tmp_path: Path
) -> None:
    file = scenario_with_trace(tmp_path, SOUND[::-1])
    result = roundelay("simulate", file, "-o", tmp_path / "out", "--json")
    assert result.exit_code == 0, result.stderr
    assert "3 jobs of the trace put in order of submission" in folded(result.stderr)
    (jobs, _) = (arm["runs"][0]["jobs"] for arm in json.loads(result.stdout)["arms"])
    assert (jobs["reordered"], jobs["ran"]) == (3, 4)
    rows = pd.read_parquet(tmp_path / "out" / "jobs.parquet")
    assert rows[rows["arm"] == "tune"]["job"].tolist() == ["1", "2", "3", "4"]


def test_a_job_that_asks_for_more_gpus_than_there_are_is_left_out_counted_and_said(
    roundelay: Roundelay, tmp_path: Path
) -> None:
    file = scenario_with_trace(tmp_path, [*SOUND, "5,gnmt,950,9,17", "6,gnmt,960,9,16"])
    result = roundelay("simulate", file, "-o", tmp_path / "out", "--json")
    assert result.exit_code == 0, result.stderr
    said = folded(result.stderr)
    for arm in ("proportional", "tune"):
        assert (
            f"{arm}: 1 job left out: asks for more than the 16 GPUs of one type that it can run "
            "on (line 5)"
        ) in said
    for arm in json.loads(result.stdout)["arms"]:
        (run,) = arm["runs"]
        assert (run["jobs"]["read"], run["jobs"]["ran"], run["jobs"]["counted"]) == (6, 5, 5)
        assert [(each["count"], each["where"]) for each in run["jobs"]["refused"]] == [
            (1, "line 5")
        ]
    rows = pd.read_parquet(tmp_path / "out" / "jobs.parquet")
    assert "5" not in set(rows["job"])
    assert "6" in set(rows["job"])


def test_where_every_job_asks_for_too_much_nothing_runs(
    roundelay: Roundelay, tmp_path: Path
) -> None:
    file = scenario_with_trace(tmp_path, ["1,gnmt,0,9,17"])
    said = one_line(roundelay("simulate", file, "-o", tmp_path / "out"), exit_code=2)
    assert said.startswith(f"roundelay: {file}:1: measure: no job that counts can run")
    assert "jobs that fit the cluster" in said
    assert not (tmp_path / "out").exists()


BAD_ROWS = [
    # a row, its column, part of what is wrong, part of what is right
    ("5,vgg99,950,9,1", "", "trains 'vgg99', of which there is no profile on v100", "alexnet"),
    ("5,gnmt,nan,9,1", "arrival_s", "'nan'", "number"),
    ("5,gnmt,soon,9,1", "arrival_s", "'soon'", "number"),
    ("5,gnmt,inf,9,1", "arrival_s", "inf", "finite time of 0 s or more"),
    ("5,gnmt,-1,9,1", "arrival_s", "-1", "finite time of 0 s or more"),
    ("5,gnmt,950,0,1", "iterations", "0 iterations", "above 0"),
    ("5,gnmt,950,nan,1", "iterations", "'nan'", "number"),
    ("5,gnmt,950,-9,1", "iterations", "-9 iterations", "above 0"),
    ("5,gnmt,950,inf,1", "iterations", "inf iterations", "finite number above 0"),
    ("5,gnmt,950,9,0", "gpus", "0 GPUs", "from 1"),
    ("5,gnmt,950,9,1.5", "gpus", "1.5 GPUs", "whole number"),
    ("3,gnmt,950,9,1", "job_id", "job '3' has the id of another job", "no other job has"),
    ("5,gnmt,950,9", "", "the number of fields is 4", "job_id,model,arrival_s,iterations,gpus"),
    ("5,,950,9,1", "model", "''", "a value"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "column", "problem", "allowed"), BAD_ROWS, ids=[each[0] for each in BAD_ROWS]
)
def test_a_bad_row_of_the_trace_is_one_line_with_file_row_and_what_is_allowed(
    roundelay: Roundelay, tmp_path: Path, row: str, column: str, problem: str, allowed: str
) -> None:
    file = scenario_with_trace(tmp_path, [*SOUND, row])
    said = one_line(roundelay("simulate", file, "-o", tmp_path / "out", "--json"), exit_code=2)
    place = f"roundelay: {tmp_path / 'jobs.csv'}:5: "
    assert said.startswith(f"{place}{column}: " if column else place)
    assert problem in said
    assert allowed in said.partition("; allowed: ")[2]
    assert not (tmp_path / "out").exists()


def with_profiles(directory: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A scenario whose profiles are those of alexnet and gnmt with a change of the first."""
    known = builtin_sensitivities("synergy")
    some = Sensitivities((known.of("alexnet", "v100"), known.of("gnmt", "v100")))
    write_sensitivities(some, directory / "mine.json")
    document = json.loads((directory / "mine.json").read_text())
    change(document["models"][0])
    (directory / "mine.json").write_text(json.dumps(document))
    text = edited(WITH_TRACE, "{trace: jobs.csv}", "{trace: jobs.csv, profiles: mine.json}")
    return scenario_with_trace(directory, SOUND[:2], text)


def falling(model: dict[str, Any]) -> None:
    model["throughput"][3][1] = 0.9  # 1.25 was measured with 4 CPUs, 1 with 3


def undefined(model: dict[str, Any]) -> None:
    model["throughput"][3][1] = float("nan")


def without_speed(model: dict[str, Any]) -> None:
    model["iteration_s"] = 0.0


@pytest.mark.parametrize(
    ("change", "key", "problem"),
    [
        (
            falling,
            "models.0.throughput",
            "of alexnet at 4 CPUs and 62.5 GB is 0.9, lower than with",
        ),
        (undefined, "models.0.throughput", "of alexnet at 4 CPUs and 62.5 GB is nan, and must be"),
        (without_speed, "models.0.iteration_s", "is 0, and must be more than 0"),
    ],
)
def test_profiles_that_make_no_sense_are_one_line_with_file_and_place(
    roundelay: Roundelay,
    tmp_path: Path,
    change: Callable[[dict[str, Any]], None],
    key: str,
    problem: str,
) -> None:
    file = with_profiles(tmp_path, change)
    said = one_line(roundelay("simulate", file, "-o", tmp_path / "out"), exit_code=2)
    assert said.startswith(f"roundelay: {tmp_path / 'mine.json'}: {key}: ")
    assert problem in said
    assert not (tmp_path / "out").exists()


def test_profiles_beside_the_scenario_are_used(roundelay: Roundelay, tmp_path: Path) -> None:
    file = with_profiles(tmp_path, lambda model: None)
    result = roundelay("simulate", file, "-o", tmp_path / "out", "--json")
    assert result.exit_code == 0, result.stderr
    assert read_json(tmp_path / "out" / "provenance.json")["profiles"] == {
        "proportional": "", "tune": ""
    }  # fmt: skip


BAD_SCENARIOS = [
    # what is written, instead of what, key of the error
    ("sead: 5", "seed: 5", "sead"),
    ("memory: 500 Gbit/s", "memory: 500 GB", "cluster.memory"),
    ("    scheduler: {mechanism: tunes}", TUNE, "arms.tune.scheduler.mechanism"),
    ("    scheduler: {policy: lifo}", TUNE, "arms.tune.scheduler.policy"),
    ("    scheduler: {round: 0 s}", TUNE, "arms.tune.scheduler.round"),
    ("    measure: {count: 51}", TUNE, "arms.tune.measure.count"),
    ("    simulation: {speeds: two-point}\n    cluster: {cpus: 16}", TUNE,
     "arms.tune.simulation.speeds"),
    ("    simulation: {progress: whole-iterations}\n    scheduler: {round: 100 ms}", TUNE,
     "arms.tune.simulation.progress"),
    ("    cluster: {gpu_type: a100}", TUNE, "workload.profiles"),
    ("  trace: jobs.csv", "  generate:\n    jobs: 60\n    load: 1.0\n    gpus: single",
     "workload.trace"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("new", "old", "key"), BAD_SCENARIOS, ids=[f"{each[2]}={each[0]}" for each in BAD_SCENARIOS]
)
def test_a_bad_scenario_is_one_line_and_leaves_nothing(
    roundelay: Roundelay, tmp_path: Path, new: str, old: str, key: str
) -> None:
    """Also where only the last arm is bad: nothing runs before all arms are sound."""
    text = edited(ROUNDS_SCENARIO, old, new)
    file = write_scenario(tmp_path, text)
    said = one_line(roundelay("simulate", file, "-o", tmp_path / "out"), exit_code=2)
    line = line_of(text, "profiles:" if key == "workload.profiles" else new.splitlines()[0])
    assert said.startswith(f"roundelay: {file}:{line}: {key}: ")
    assert "; allowed: " in said
    assert not (tmp_path / "out").exists()


def test_results_never_go_where_something_is(roundelay: Roundelay, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "results.txt").touch()
    file = write_scenario(tmp_path, ROUNDS_SCENARIO)
    said = one_line(roundelay("simulate", file, "-o", tmp_path / "out"), exit_code=2)
    assert "not empty" in said
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["results.txt"]


def test_a_scenario_that_forgets_its_jobs_is_told_so(roundelay: Roundelay, tmp_path: Path) -> None:
    text = edited(
        ROUNDS_SCENARIO, "  generate:\n    jobs: 60\n    load: 1.0\n    gpus: single\n", ""
    )
    file = write_scenario(tmp_path, text)
    said = one_line(roundelay("simulate", file), exit_code=2)
    assert "the jobs are not given once" in said
    assert "either 'trace' (a file) or 'generate', not both" in said


INTERRUPTED = edited(ROUNDS_SCENARIO, "mechanism: opt", "policy: fifo").replace(
    TUNE, "    scheduler: {policy: las}"
)
"""The first arm is done in a few decisions, the second decides in every round."""


@pytest.fixture
def harmless_without_handler() -> Iterator[None]:
    """A test that fails must not end the test run."""
    previous = signal.signal(signal.SIGINT, lambda *_: None)
    yield
    signal.signal(signal.SIGINT, previous)


@contextlib.contextmanager
def progress_that(act: Callable[[str], None]) -> Iterator[Callable[[str, int, int], None]]:
    def show(what: str, done: int, total: int) -> None:
        act(what)

    yield show


def interrupt_in(arm: str, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C, ``times`` over, when ``arm`` first says how far it is: after 256 decisions."""
    left = [times]

    def act(what: str) -> None:
        while what.startswith(arm) and left[0]:
            left[0] -= 1
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(simulate_rounds, "progress_bars", lambda: progress_that(act))


@pytest.mark.usefixtures("harmless_without_handler")
def test_after_ctrl_c_everything_so_far_is_kept(
    roundelay: Roundelay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_in("tune", 1, monkeypatch)
    file = write_scenario(tmp_path, INTERRUPTED)
    result = roundelay("simulate", file, "-o", tmp_path / "out", "--json")
    assert result.exit_code == 130
    said = folded(result.stderr)
    assert "stopping after the round under way" in said
    assert "The run was interrupted; what was simulated until then is kept." in said
    assert {each.name for each in (tmp_path / "out").iterdir()} == FILES

    summary = json.loads(result.stdout)
    assert summary == read_json(tmp_path / "out" / "summary.json")
    assert summary["interrupted"] is True
    assert [(arm["name"], len(arm["runs"])) for arm in summary["arms"]] == [
        ("proportional", 2), ("tune", 1), ("opt", 0)
    ]  # fmt: skip
    stopped = summary["arms"][1]
    assert stopped["speedup"] is None
    (run,) = stopped["runs"]
    assert run["decisions"] == 256
    assert 0 < run["jobs"]["counted_and_finished"] < run["jobs"]["counted"]
    assert f"{run['jobs']['counted_and_finished']} of 40 jobs that count have ended" in said

    jobs = pd.read_parquet(tmp_path / "out" / "jobs.parquet")
    assert jobs.groupby(["arm", "seed"], sort=False).size().to_dict() == {
        ("proportional", 5): 60, ("proportional", 6): 60, ("tune", 5): 60
    }  # fmt: skip
    partial = jobs[jobs["arm"] == "tune"]
    assert partial["state"].value_counts().to_dict() == run["jobs"]["states"]
    assert {"finished", "running", "not arrived"} <= set(partial["state"])
    leases = pd.read_parquet(tmp_path / "out" / "rounds.parquet")
    mine = leases[leases["arm"] == "tune"]
    held_s = (mine["until_s"] - mine["from_s"]).groupby(mine["job"]).sum()
    attained_s = partial.set_index("job")["attained_s"]
    assert held_s.to_dict() == pytest.approx(attained_s[attained_s > 0].to_dict())
    assert mine["until_s"].max() == run["end_s"]


@pytest.mark.usefixtures("harmless_without_handler")
def test_a_second_ctrl_c_ends_at_once_and_keeps_what_is_done(
    roundelay: Roundelay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_in("tune", 2, monkeypatch)
    file = write_scenario(tmp_path, INTERRUPTED)
    result = roundelay("simulate", file, "-o", tmp_path / "out", "--json")
    assert result.exit_code == 130
    assert result.stdout == ""
    assert "roundelay: stopped" in result.stderr
    summary = read_json(tmp_path / "out" / "summary.json")
    assert summary["interrupted"] is True
    assert [len(arm["runs"]) for arm in summary["arms"]] == [2, 0]
    jobs = pd.read_parquet(tmp_path / "out" / "jobs.parquet")
    assert set(jobs["arm"]) == {"proportional"}
    assert pq.read_schema(tmp_path / "out" / "rounds.parquet").equals(ROUNDS)


def test_help_shows_an_example_of_each_kind(roundelay: Roundelay) -> None:
    said = roundelay("simulate", "--help").stdout
    examples = said.partition("Example:\n")[2].splitlines()[:2]
    assert [example.split()[:3] for example in examples] == [
        ["roundelay", "simulate", "examples/two-vgg19.yaml"],
        ["roundelay", "simulate", "examples/synergy-load.yaml"],
    ]
    place = Path(__file__).parents[4]
    assert all((place / example.split()[2]).is_file() for example in examples)
