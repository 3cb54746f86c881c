"""The recipes of Synergy's experiments without their simulations: what they ask for and say."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.experiments.reproduce import simulated
from harness.experiments.reproduce.recipe import Recipe, Reproduction
from harness.experiments.reproduce.recipes import RECIPES, synergy_opt, synergy_philly
from harness.experiments.reproduce.simulated import Runs, Simulation, arm_of
from tests.unit.harness.experiments.reproduce.tiny import made_up
from traces.errors import BadInputError

Wanted = list[Simulation[Any]]

SYNERGY = [
    recipe
    for name, recipe in RECIPES.items()
    # Real workers, for minutes, and a search that simulates no cluster.
    if name.startswith("synergy-") and name not in ("synergy-deploy", "synergy-profiling")
]
WITHOUT_DATA = [recipe for recipe in SYNERGY if not recipe.needs_data]
PHILLY_HEADER = "timestamp,duration,num_gpus,gpu_time,cluster\n"
ORACLE_JOBS = 5100


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A directory of published traces, of a few made-up jobs each."""
    oracle = tmp_path / "data" / "synergy" / "oracle"
    oracle.mkdir(parents=True)
    (oracle / "summary.csv").write_text(
        "policy,mechanism,jobs_per_hour,mean_jct_h,p99_h,p99_9_h\n"
        "fifo,tune,9,21.9,157,171\nsrtf,tune,9,16.6,182,321\n"
    )
    rows = [f"{n},{('gnmt', 'alexnet')[n % 2]},{n * 50},3000,1" for n in range(ORACLE_JOBS)]
    (oracle / "trace_9jph.csv").write_text("\n".join(rows) + "\n")
    header = "job,model,arrival_s,finish_s,gpus,iterations\n"
    ends = [f"{n},gnmt,{n * 50},{n * 50 + 2100},1,3000" for n in range(5000)]
    for policy in ("fifo", "srtf"):
        (oracle / f"jct_{policy}_tune_9jph.csv").write_text(header + "\n".join(ends) + "\n")
    philly = tmp_path / "data" / "philly"
    philly.mkdir()
    jobs = [f"2017-11-20 0{n % 10}:00:00,7200,1,7200,v" for n in range(50)]
    (philly / "philly.csv").write_text(PHILLY_HEADER + "\n".join(jobs) + "\n")
    return tmp_path / "data"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Reproduction, Wanted]]:
    """Makes a recipe of runs that were made up: (what it made, what it wanted simulated)."""

    def make(
        recipe: Recipe, data: Path, share: float = 1.0, mean_h: float = 20.0
    ) -> tuple[Reproduction, Wanted]:
        wanted: Wanted = []

        def simulate_all(simulations: Sequence[Simulation[Any]], _: object) -> Runs[Any]:
            wanted.extend(simulations)
            by_arm: dict[Hashable, dict[int, Any]] = {}
            for each in simulations[: round(share * len(simulations))]:
                slow = "proportional" in str(each.arm)
                run = made_up(mean_h * (2 if slow else 1), jobs=200)
                by_arm.setdefault(each.arm, {})[each.seed] = run
            return Runs(by_arm, interrupted=share < 1)

        module = recipe.run.__module__
        monkeypatch.setattr(f"{module}.simulate_all", simulate_all)
        monkeypatch.setattr(synergy_opt, "sample_rounds", lambda *_: [])
        return recipe.run(data, 2, lambda _: None), wanted

    return make


def test_the_recipes_are_known_by_their_ids() -> None:
    assert list(RECIPES)[:6] == [
        "synergy-oracle", "synergy-load", "synergy-split", "synergy-ratio", "synergy-philly",
        "synergy-opt",
    ]  # fmt: skip
    assert all(name == recipe.id for name, recipe in RECIPES.items())


@pytest.mark.parametrize("recipe", SYNERGY, ids=lambda recipe: recipe.id)
def test_every_simulation_is_one_that_the_schedulers_do(
    recipe: Recipe, made: Callable[..., tuple[Reproduction, Wanted]], data: Path
) -> None:
    _, wanted = made(recipe, data)
    assert wanted
    assert len({(each.arm, each.seed) for each in wanted}) == len(wanted)
    of_arm = {str(each.arm): each for each in wanted}
    assert len(of_arm) == len({each.arm for each in wanted})
    for each in of_arm.values():
        arm = arm_of(each.scenario)
        assert arm.scheduler.round == 300.0
        assert arm.scheduler.priority_after == (
            None if arm.scheduler.policy == "fifo" else 3_600_000.0
        )


@pytest.mark.parametrize("recipe", SYNERGY, ids=lambda recipe: recipe.id)
def test_figures_and_drawings_are_whole(
    recipe: Recipe,
    made: Callable[..., tuple[Reproduction, Wanted]],
    data: Path,
) -> None:
    reproduction, _ = made(recipe, data)
    assert not reproduction.interrupted
    names = [figure.name for figure in reproduction.figures]
    assert len(set(names)) == len(names)
    for figure in reproduction.figures:
        if figure.expected is not None:
            assert figure.source
            assert figure.ok is not None
        if figure.ok is False:
            assert figure.note, figure.name
    for drawing in reproduction.drawings:
        assert drawing.words
        assert all(math.isfinite(value) for curve in drawing.curves for value in curve.y)


@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("recipe", SYNERGY, ids=lambda recipe: recipe.id)
def test_an_interrupted_recipe_keeps_the_figures_that_can_be_made(
    recipe: Recipe,
    made: Callable[..., tuple[Reproduction, Wanted]],
    data: Path,
    share: float,
) -> None:
    whole, _ = made(recipe, data)
    part, _ = made(recipe, data, share)
    assert part.interrupted
    assert {figure.name for figure in part.figures} <= {figure.name for figure in whole.figures}
    assert bool(part.figures) or share == 0


@pytest.mark.parametrize("recipe", WITHOUT_DATA, ids=lambda recipe: recipe.id)
def test_without_data_a_figure_of_the_papers_trace_says_so(
    recipe: Recipe, made: Callable[..., tuple[Reproduction, Wanted]], tmp_path: Path
) -> None:
    reproduction, _ = made(recipe, tmp_path)
    missing = [figure for figure in reproduction.figures if figure.ours is None]
    assert bool(missing) == (recipe.id != "synergy-split")
    for figure in missing:
        assert figure.ok is False
        assert "--data" in figure.note


@pytest.mark.parametrize("recipe_id", ["synergy-oracle", "synergy-philly"])
def test_a_file_that_is_not_there_is_named(recipe_id: str, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"there is no directory .*absent"):
        RECIPES[recipe_id].run(tmp_path / "absent", None, print)
    with pytest.raises(BadInputError, match=r"there is no file .*\.csv"):
        RECIPES[recipe_id].run(tmp_path, None, print)


def test_a_run_of_the_oracle_that_is_not_known_is_refused(data: Path) -> None:
    file = data / "synergy" / "oracle" / "summary.csv"
    file.write_text(file.read_text().replace("srtf,tune", "edf,tune"))
    with pytest.raises(BadInputError, match="edf tune") as caught:
        RECIPES["synergy-oracle"].run(data, None, print)
    assert caught.value.line == 3


def test_phillys_window_is_the_authors(tmp_path: Path) -> None:
    file = tmp_path / "philly.csv"
    # 2,400 h after 2017-08-07 is 2017-11-15 00:00, 3,000 h is 2017-12-10 00:00.
    rows = (
        "2017-09-04 10:30:41,7200,1,7200,first",
        "2017-11-14 23:59:59,7200,1,7200,early",
        "2017-11-15 00:00:01,7200,1,7200,in",
        "2017-11-16 00:00:00,600,1,600,short",
        "2017-11-16 00:00:01,700000,1,700000,long",
        "2017-11-16 00:00:02,7200,3,21600,odd",
        "2017-11-16 00:00:03,7200,16,115200,in",
        "2017-12-10 00:00:01,7200,1,7200,late",
    )
    file.write_text(PHILLY_HEADER + "\n".join(rows) + "\n")
    window = synergy_philly._window(file)
    assert window["virtual_cluster"].tolist() == ["in", "in"]
    assert window["submit_s"].tolist() == [0.0, 86_402.0]


def test_a_small_recipe_runs_from_the_traces_to_the_figures(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oracle's recipe in this process, on 5,100 jobs none of which has to wait."""
    summary = data / "synergy" / "oracle" / "summary.csv"
    summary.write_text("".join(summary.read_text().splitlines(keepends=True)[:2]))
    monkeypatch.setattr(simulated, "usable_cores", lambda: 1)
    reproduction = RECIPES["synergy-oracle"].run(data, None, lambda _: None)
    figures = {figure.name: figure for figure in reproduction.figures}
    later = figures["fifo tune, 9 jobs/h: end of a job, ours less theirs, median"]
    assert later.ours is not None
    same = figures["fifo tune, 9 jobs/h: jobs that end in the same round"]
    assert same.ours is not None
    assert 0 <= same.ours < 1  # the made-up ends are no real ones
    assert same.ok is False
    assert np.isfinite(later.ours)


REAL_DATA = Path(__file__).parents[6] / "shared" / "data"


@pytest.mark.data
def test_the_published_simulators_run_is_matched_job_by_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """FIFO with TUNE at 9 jobs/h, one of the nine recorded runs."""
    if not (REAL_DATA / "synergy" / "oracle").is_dir():
        pytest.skip("the real traces are not beside this checkout")
    from harness.experiments.reproduce.recipes import synergy_oracle

    every = synergy_oracle._recorded(REAL_DATA)
    assert len(every) == 9
    one = [each for each in every if str(each) == "fifo tune, 9 jobs/h"]
    monkeypatch.setattr(synergy_oracle, "_recorded", lambda _: one)
    monkeypatch.setattr(simulated, "usable_cores", lambda: 1)
    reproduction = synergy_oracle.RECIPE.run(REAL_DATA, None, lambda _: None)
    assert [figure.ok for figure in reproduction.figures] == [True] * 4
    assert reproduction.figures[0].ours == pytest.approx(21.8766, abs=1e-4)
    assert reproduction.figures[3].ours == 1.0
