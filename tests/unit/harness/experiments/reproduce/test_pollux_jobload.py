"""The recipe pollux-jobload on a small copy of its data, and Tiresias on the real one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.experiments.reproduce.pollux import simulate as simulate_module
from harness.experiments.reproduce.pollux.published import read_published
from harness.experiments.reproduce.pollux.simulate import Run, simulate
from harness.experiments.reproduce.recipe import ReproducedFigure
from harness.experiments.reproduce.recipes.pollux_jobload import RECIPE
from tests.unit.harness.experiments.reproduce.pollux.toy import write_toy
from traces.errors import BadInputError

REAL_DATA = Path(__file__).parents[6] / "shared" / "data" / "pollux"
WORKLOADS = ("workload-1", "workload-6")
HEADER = "name,time,application,num_replicas,batch_size\n"


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two workloads of two jobs, and as published what simulating them gives."""
    folder = tmp_path_factory.mktemp("data") / "pollux"
    write_toy(folder / "traces" / "toy")
    (folder / "workloads").mkdir()
    for number, name in enumerate(WORKLOADS):
        rows = f"toy-0,{10 * number},toy,2,16\ntoy-1,70,toy,4,64\n"
        (folder / "workloads" / f"{name}.csv").write_text(HEADER + rows, encoding="utf-8")
    for policy in ("tiresias", "pollux"):
        jcts = {
            name: simulate(Run(policy, folder / "workloads" / f"{name}.csv", folder / "traces", 1))
            for name in WORKLOADS
        }
        write_summary(folder, policy, jcts)
    return folder


@pytest.fixture
def data(made_once: Path, tmp_path: Path) -> Path:
    """A copy of them to change."""
    shutil.copytree(made_once, tmp_path / "pollux")
    return tmp_path


@pytest.fixture
def one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """All runs in this process: others would take a second each to start."""
    monkeypatch.setattr(simulate_module, "usable_cores", lambda: 1)


def write_summary(folder: Path, policy: str, jcts: dict[str, dict[str, int]]) -> None:
    averages = {name: float(np.mean(list(times.values()))) for name, times in jcts.items()}
    document = {"jcts": jcts, "avgs": averages}
    file = folder / "results-jobload" / f"{policy}-1.0" / "summary.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document), encoding="utf-8")


def by_name(figures: tuple[ReproducedFigure, ...]) -> dict[str, ReproducedFigure]:
    named = {figure.name: figure for figure in figures}
    assert len(named) == len(figures)
    return named


def test_every_figure_stands_beside_the_published_one(data: Path) -> None:
    said: list[str] = []
    made = RECIPE.run(data, 2, said.append)
    figures = by_name(made.figures)
    assert len(figures) == 2 * (len(WORKLOADS) + 1) + 2
    assert all(figure.ok and figure.source for figure in made.figures)
    assert not made.interrupted
    assert len(said) == len(WORKLOADS) * (1 + 2)
    assert len(made.inputs) == len(WORKLOADS)
    assert all("SHA-256" in each for each in made.inputs)
    assert figures["tiresias, workload-1: average JCT"].tolerance == 0
    assert figures["pollux, mean of the workloads: average JCT"].tolerance == 0.05
    assert figures["pollux, workload-6: average JCT"].interval is not None
    for drawing in made.drawings:
        assert sum(curve.published for curve in drawing.curves) == 2
        assert len(drawing.curves) == 4


@pytest.mark.usefixtures("one_core")
def test_a_job_that_ends_another_second_is_seen(data: Path) -> None:
    folder = data / "pollux"
    runs = {name: Run("tiresias", folder / "workloads" / f"{name}.csv", folder / "traces", 0)
            for name in WORKLOADS}  # fmt: skip
    jcts = {name: simulate(run) for name, run in runs.items()}
    jcts["workload-6"]["toy-1"] += 1
    write_summary(folder, "tiresias", jcts)
    figures = by_name(RECIPE.run(data, 1, lambda _: None).figures)
    same = figures["tiresias: jobs that end in the same second"]
    assert (same.ours, same.ok) == (0.75, False)
    assert figures["tiresias, workload-1: average JCT"].ok
    assert not figures["tiresias, workload-6: average JCT"].ok
    assert figures["pollux, workload-6: average JCT"].interval is None


@pytest.mark.usefixtures("one_core")
def test_an_interrupted_recipe_keeps_what_it_has(data: Path) -> None:
    def stop(words: str) -> None:
        if words.startswith("2 of"):
            raise KeyboardInterrupt

    made = RECIPE.run(data, 1, stop)
    assert made.interrupted
    names = set(by_name(made.figures))
    assert "tiresias, mean of the workloads: average JCT" in names
    assert not any("pollux" in name for name in names)


@pytest.mark.usefixtures("one_core")
def test_the_quick_form_is_of_one_workload(data: Path) -> None:
    assert RECIPE.quick is not None
    figures = by_name(RECIPE.quick.run(data, None, lambda _: None).figures)
    assert all(figure.ok for figure in figures.values())
    assert "pollux, workload-6: average JCT" in figures
    assert not any("workload-1" in name or "mean" in name for name in figures)


def test_without_its_data_it_says_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"no file .*summary\.json"):
        RECIPE.run(tmp_path, None, lambda _: None)


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"jcts": None}, "jcts"),
        ({"avgs": {"workload-1": 1.0}}, "avgs"),
        ({"avgs": {"workload-1": 1.0, "workload-6": "x"}}, "avgs"),
        ({"avgs": {"workload-1": 1.0, "workload-6": float("nan")}}, "avgs"),
        ({"jcts": {"workload-1": {"toy-0": None}, "workload-6": {}}}, "jcts.workload-1"),
    ],
)
def test_a_summary_of_another_shape_is_refused(
    change: dict[str, Any], key: str, data: Path
) -> None:
    file = data / "pollux" / "results-jobload" / "pollux-1.0" / "summary.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**document, **change}), encoding="utf-8")
    with pytest.raises(BadInputError) as caught:
        read_published(file)
    assert (caught.value.file, caught.value.key) == (file, key)


@pytest.mark.usefixtures("one_core")
@pytest.mark.parametrize("application", ["other", "..", "toy/../toy"])
def test_an_application_that_was_not_measured_is_refused(application: str, data: Path) -> None:
    file = data / "pollux" / "workloads" / "workload-6.csv"
    file.write_text(f"{HEADER}a,0,{application},1,16\n", encoding="utf-8")
    with pytest.raises(BadInputError, match="there is no application"):
        RECIPE.run(data, 1, lambda _: None)


def test_a_job_that_the_cluster_cannot_hold_is_refused(data: Path) -> None:
    file = data / "pollux" / "workloads" / "workload-6.csv"
    file.write_text(f"{HEADER}a,0,toy,65,256\n", encoding="utf-8")
    with pytest.raises(BadInputError, match="a asks for 65 GPUs"):
        simulate(Run("tiresias", file, data / "pollux" / "traces", 0))


@pytest.mark.data
@pytest.mark.parametrize("workload", [f"workload-{number}" for number in range(1, 9)])
def test_tiresias_ends_every_job_in_the_published_second(workload: str) -> None:
    if not REAL_DATA.is_dir():
        pytest.skip("the real traces are not beside this checkout")
    published = read_published(REAL_DATA / "results-jobload" / "tiresias-1.0" / "summary.json")
    file = REAL_DATA / "workloads" / f"{workload}.csv"
    times = simulate(Run("tiresias", file, REAL_DATA / "traces", 0))
    assert times == published.jct_s[workload]
    assert np.mean(list(times.values())) == published.average_s[workload]
    if workload == "workload-6":
        assert published.average_s[workload] == 3469.69375
