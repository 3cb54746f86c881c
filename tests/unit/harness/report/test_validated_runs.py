"""What a run emulated against what it simulated: the page has SciPy's figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from harness.fidelity.analysis import Fidelity, analyse
from harness.fidelity.inputs.read import read_both_sides
from harness.report import words
from harness.report.fidelity.article import article_of
from harness.report.page import page_of
from tests.unit.harness.fidelity.scipy_figures import (
    Drawn,
    check_page,
    emulated_iterations,
    emulated_jobs,
    of_means,
)
from tests.unit.harness.report.iterations_run import write_run
from tests.unit.harness.report.page import Page
from tests.unit.harness.report.page_tables import page_tables
from tests.unit.harness.report.rounds_run import job_rows, write_both_sides
from tests.unit.harness.report.rounds_run import write_table as write_rounds_table

SEEDS = (1, 2, 3, 4, 5)
_NOISE = 0.08


def compared(run: Path | str) -> Fidelity:
    return analyse(*read_both_sides(str(run)))


def page(fidelity: Fidelity) -> str:
    return page_of({"validation": article_of(fidelity, "validation")})


def scattered(lengths_s: pd.Series, rng: np.random.Generator) -> pd.Series:
    return lengths_s * rng.lognormal(0.05, _NOISE, len(lengths_s))


def rounds_run(place: Path, seeds: tuple[int, ...] = (1,)) -> Path:
    """40 jobs a seed, under two mechanisms; emulated, each takes another share longer."""
    write_both_sides(place)
    rng = np.random.default_rng(7)
    one = job_rows().query("seed == 1")
    simulated = pd.concat([one.assign(seed=seed) for seed in seeds], ignore_index=True)
    simulated["jct_s"] = scattered(simulated["jct_s"], rng)
    simulated["finish_s"] = simulated["submit_s"] + simulated["jct_s"]
    emulated = simulated.assign(jct_s=scattered(simulated["jct_s"], rng))
    emulated["finish_s"] = emulated["submit_s"] + emulated["jct_s"]
    for side, rows in (("simulated", simulated), ("emulated", emulated)):
        write_rounds_table(place / side, "jobs", rows)
    return place


def iterations_run(place: Path, seed: int = 1) -> Path:
    """Two jobs on one link, in two arms; no iteration is emulated as it was simulated."""
    write_run(place)
    rng = np.random.default_rng(seed)
    for side in ("simulated", "emulated"):
        file = place / side / "iterations.parquet"
        rows = pd.read_parquet(file)
        rows.assign(iteration_s=scattered(rows["iteration_s"], rng)).to_parquet(file, index=False)
    return place


@pytest.mark.parametrize("seeds", [(1,), SEEDS], ids=len)
def test_a_run_of_rounds_is_as_scipy_has_it(tmp_path: Path, seeds: tuple[int, ...]) -> None:
    run = rounds_run(tmp_path / "run", seeds)
    fidelity = compared(run)
    assert (fidelity.reference, fidelity.prediction) == (
        str(run / "emulated"),
        str(run / "simulated"),
    )
    check_page(page(fidelity), emulated_jobs(run), "jct")


def test_a_run_of_iterations_is_as_scipy_has_it(tmp_path: Path) -> None:
    run = iterations_run(tmp_path / "run")
    check_page(page(compared(run)), emulated_iterations(run), "iteration")


def test_the_makespan_of_several_seeds_has_scipys_interval(tmp_path: Path) -> None:
    run = rounds_run(tmp_path / "run", SEEDS)
    sides = {}
    for side, folder in (("reference", "emulated"), ("prediction", "simulated")):
        jobs = pd.read_parquet(run / folder / "jobs.parquet").query("arm == 'tune'")
        by_seed = jobs.groupby("seed")
        sides[side] = by_seed["finish_s"].max() - by_seed["submit_s"].min()
    spans = Drawn(dict(iter(pd.DataFrame(sides).groupby(level=0))))
    text = page(compared(run))
    drawn = Page(text).data()["validation_ratios-jct.csv"]
    (row,) = drawn.query("statistic == 'makespan' and arm == 'tune'").to_dict("records")
    ratio = of_means(spans.reference_s, spans.prediction_s)
    found = [row[name] for name in ("ratio", "low_95", "high_95", "low_90", "high_90")]
    assert found == pytest.approx([ratio, *spans.intervals(of_means)], rel=1e-6)
    shown = page_tables(text)["Makespan"].loc["tune"]
    assert shown["reference"] == words.duration(float(spans.reference_s.mean()))
    assert shown["seeds"] == "5"
    assert "so that its interval rests on seeds" not in Page(text).text


def test_the_makespan_of_few_seeds_says_why_it_has_no_interval(tmp_path: Path) -> None:
    text = page(compared(rounds_run(tmp_path / "run", SEEDS[:-1])))
    row = Page(text).data()["validation_ratios-jct.csv"].query("statistic == 'makespan'").iloc[0]
    assert row[["low_95", "high_95"]].isna().all()
    assert page_tables(text)["Makespan"].loc["tune"]["95 % over seeds"] == words.NOTHING
    assert "so that its interval rests on seeds" in Page(text).text


def test_repeats_of_a_run_have_a_noise_floor_and_are_paired_one_by_one(tmp_path: Path) -> None:
    runs = [iterations_run(tmp_path / f"run-{seed}", seed) for seed in (1, 2, 3)]
    fidelity = compared(tmp_path / "run-*")
    together = next(arm for arm in fidelity.arms if arm.arm == "together")
    means = [emulated_iterations(run)["together"].reference_s.mean() for run in runs]
    assert together.noise is not None
    assert together.noise.largest == pytest.approx(max(means) / min(means) - 1)
    predicted = [emulated_iterations(run)["together"].prediction_s.mean() for run in runs]
    assert together.estimates.mean.value == pytest.approx(np.mean(predicted) / np.mean(means))
    assert "The reference against itself" in page_tables(page(fidelity))


def test_where_the_error_comes_from_is_told_of_both_kinds(tmp_path: Path) -> None:
    run = rounds_run(tmp_path / "rounds")
    parts = page_tables(page(compared(run)))["Where the error of the mean comes from"]
    assert "tune: waiting before it first runs" in parts.index
    run = iterations_run(tmp_path / "iterations")
    parts = page_tables(page(compared(run)))["Where the error of the mean comes from"]
    assert "together: compute, until it first sends" in parts.index


def test_the_better_arm_is_the_same_on_both_sides(tmp_path: Path) -> None:
    made: tuple[Callable[[Path], Path], ...] = (rounds_run, iterations_run)
    best = ("tune", "dedicated")
    for number, (make, name) in enumerate(zip(made, best, strict=True)):
        (decision,) = compared(make(tmp_path / str(number))).decisions
        assert (decision.reference[0], decision.same_best) == (name, True)
        assert [each.is_kept for each in decision.certain] == [True]
