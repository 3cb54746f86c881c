"""The report of runs of rounds that were emulated: what it sets side by side, and what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from harness.report import thinning
from harness.report.page import build_report
from harness.report.rounds import sentences
from harness.report.rounds.documents import Summary
from harness.report.rounds.sides import EMULATED, SIMULATED, Sides
from harness.report.words import SPACE
from tests.unit.harness.report.page import HOSTILE, Page, page_of
from tests.unit.harness.report.rounds_run import (
    ARMS,
    COUNT,
    ENFORCED_CPUS,
    FIGURES,
    HOUR_S,
    LEASE_S,
    SEEDS,
    SLOWER,
    arm,
    emulated_document,
    emulated_summary,
    job_rows,
    seed_document,
    used_lease_rows,
    write_both_sides,
    write_emulated_run,
    write_rounds_run,
    write_table,
)
from traces.errors import BadInputError

OWN = {"run1_job-by-job.csv", "run1_cpu-use.csv", "run1_both-sides.csv"}
BOTH = Sides({SIMULATED: Path("simulated"), EMULATED: Path("emulated")})


def rewrite(directory: Path, name: str, rows: pd.DataFrame) -> Page:
    """The page after ``rows`` are the emulated table ``name``."""
    write_table(directory / "emulated", name, rows)
    return page_of(directory)


def emulated_jobs() -> pd.DataFrame:
    jobs = job_rows()
    return jobs.assign(jct_s=jobs["jct_s"] * SLOWER)


def figure_of(page: Page, title: str) -> dict[str, Any]:
    """The plot whose horizontal axis has this title."""
    (found,) = [
        each
        for each in page.figures
        if each["layout"].get("xaxis", {}).get("title", {}).get("text") == title
    ]
    return found


def test_both_sides_have_three_figures_more_than_one(tmp_path: Path) -> None:
    page = page_of(write_both_sides(tmp_path))
    assert page.count("figure") == page.count("figcaption") == FIGURES + 3
    assert set(page.data()) >= OWN
    for figure in page.figures:
        go.Figure(figure)


def test_each_job_is_paired_by_arm_seed_and_name(tmp_path: Path) -> None:
    found = page_of(write_both_sides(tmp_path)).data()["run1_job-by-job.csv"]
    assert len(found) == len(ARMS) * len(SEEDS) * COUNT
    np.testing.assert_allclose(found["emulated_s"], found["simulated_s"] * SLOWER, rtol=1e-5)
    np.testing.assert_allclose(found["error"], 1 / SLOWER - 1, rtol=1e-5)
    for name, slowness in ARMS.items():
        expected = np.sort(np.repeat((np.arange(COUNT) + 1) * HOUR_S / 2 * slowness, len(SEEDS)))
        own = found.loc[found["arm"] == name, "simulated_s"]
        np.testing.assert_allclose(np.sort(own), expected, rtol=1e-5)


def test_the_farthest_job_is_named_and_marked_with_its_error(tmp_path: Path) -> None:
    jobs = emulated_jobs()
    farthest = (jobs["arm"] == "tune") & (jobs["seed"] == 2) & (jobs["job"] == "job-7")
    jobs.loc[farthest, "jct_s"] /= 2
    page = rewrite(write_both_sides(tmp_path), "jobs", jobs)
    assert "half of the jobs are at most 20.0 % apart" in page.text
    assert "job job-7 with tune is the farthest off, +60.00 %" in page.text
    _, times, errors, *_ = figure_of(page, "emulated (log)")["data"]
    assert times["x"] == errors["x"]
    np.testing.assert_allclose(times["x"], np.multiply(times["y"], SLOWER), rtol=1e-5)
    np.testing.assert_allclose(errors["y"], -20, rtol=1e-5)
    labels = [
        label.replace(SPACE, " ")
        for trace in figure_of(page, "emulated (log)")["data"]
        for label in trace.get("text", ())
    ]
    assert "job job-7, seed 2, lstm, +60.00 %" in labels
    assert len(labels) == 2 * len(jobs), "in the panel of times and in that of errors"


def test_a_job_without_a_model_has_none(tmp_path: Path) -> None:
    page = rewrite(write_both_sides(tmp_path), "jobs", emulated_jobs().assign(model=None))
    _, times, *_ = figure_of(page, "emulated (log)")["data"]
    assert all(", –, " in label for label in times["text"])


def test_jobs_that_ended_on_one_side_only_are_counted(tmp_path: Path) -> None:
    jobs = emulated_jobs()
    jobs.loc[[0, 50], ["finish_s", "jct_s"]] = None
    page = rewrite(write_both_sides(tmp_path), "jobs", jobs)
    assert len(page.data()["run1_job-by-job.csv"]) == len(jobs) - 2
    assert "Without 2 jobs that ended on one side only." in page.text


def test_lines_of_both_sides_share_the_colour_of_their_arm(tmp_path: Path) -> None:
    page = page_of(write_both_sides(tmp_path))
    lines = {
        trace["name"]: trace["line"]
        for figure in page.figures
        for trace in figure["data"]
        if trace.get("name", "").endswith((f", {EMULATED}", f", {SIMULATED}"))
    }
    assert len(lines) == 2 * len(ARMS)
    for name in ARMS:
        emulated, simulated = lines[f"{name}, emulated"], lines[f"{name}, simulated"]
        assert emulated["color"] == simulated["color"]
        assert "dash" in simulated
        assert "dash" not in emulated
    frame = page.data()["run1_both-sides.csv"]
    medians = frame[frame["share_at_or_below"] >= 0.5].groupby(["arm", "side"])["jct_s"].min()
    for name in ARMS:
        assert medians[name, "emulated"] == pytest.approx(SLOWER * medians[name, "simulated"])


def test_leases_are_drawn_by_what_they_used_and_were_held_to(tmp_path: Path) -> None:
    page = page_of(write_both_sides(tmp_path))
    frame = page.data()["run1_cpu-use.csv"]
    assert set(frame["cpus_enforced"]) == {ENFORCED_CPUS}
    assert sorted(frame["cpus_used"]) == [2.0, 2.0, 4.08, 4.08]
    assert set(frame["length_s"]) == {LEASE_S}
    assert (
        "The 2 leases whose samples were worth all of their CPU time used 102 % of their CPUs in "
        "the median and 102 % at most; the most that any lease used is 102 %." in page.text
    )
    line, *arms = figure_of(page, "CPUs enforced (log)")["data"]
    assert line["x"] == line["y"]
    assert [trace["name"] for trace in arms] == list(ARMS)
    for trace in arms:
        assert (trace["x"], sorted(trace["y"])) == ([ENFORCED_CPUS] * 2, [2.0, 4.08])


def test_longer_leases_have_larger_marks(tmp_path: Path) -> None:
    leases = used_lease_rows()
    leases.loc[leases["from_s"] > 0, "until_s"] = 60 * HOUR_S
    page = rewrite(write_both_sides(tmp_path), "rounds", leases)
    _, first, _ = figure_of(page, "CPUs enforced (log)")["data"]
    sizes = dict(zip(first["y"], first["marker"]["size"], strict=True))
    assert sizes[4.08] > sizes[2.0]


def test_the_largest_use_of_all_is_told_whatever_the_lease_prepared(tmp_path: Path) -> None:
    leases = used_lease_rows().assign(cpu_demanded_s=0.0)
    leases.loc[1, "cpus_used"] = 3 * ENFORCED_CPUS
    text = rewrite(write_both_sides(tmp_path), "rounds", leases).text
    assert (
        "No lease prepared samples worth all of its CPU time; the most that any lease used is "
        "300 %." in text
    )


def test_leases_that_cannot_be_drawn_are_counted(tmp_path: Path) -> None:
    leases = used_lease_rows()
    leases.loc[0, "cpus_used"] = None
    leases.loc[1, "cpus_used"] = 0.0
    page = rewrite(write_both_sides(tmp_path), "rounds", leases)
    assert len(page.data()["run1_cpu-use.csv"]) == 2
    assert "1 lease used no CPU and cannot be drawn." in page.text
    assert "Of 1 lease the use is not known." in page.text
    unknown = rewrite(tmp_path, "rounds", leases.assign(cpus_used=None))
    assert set(unknown.data()) & OWN == OWN - {"run1_cpu-use.csv"}


def test_many_points_are_thinned_and_the_farthest_are_kept(tmp_path: Path) -> None:
    count = 20_000
    random = np.random.default_rng(1)
    one = job_rows({"proportional": 1.0}).head(1)
    pool = pd.concat([one] * count, ignore_index=True)
    pool["job"] = [f"job-{i}" for i in range(count)]
    pool["jct_s"] = random.lognormal(9, 1, count)
    directory = write_both_sides(tmp_path)
    small = len(build_report([directory]))
    write_table(directory / "simulated", "jobs", pool)
    factor = random.uniform(0.9, 1.1, count)
    factor[[3, 4]] = 0.5, 2.0
    write_table(directory / "emulated", "jobs", pool.assign(jct_s=pool["jct_s"] / factor))
    leases = used_lease_rows().sample(count, replace=True, random_state=2, ignore_index=True)
    leases["cpus_used"] = random.uniform(0.1, 1.0, count) * ENFORCED_CPUS
    write_table(directory / "emulated", "rounds", leases)
    text = build_report([directory])
    assert len(text) - small < 1_000_000
    page = Page(text)
    pairs, used = (page.data()[f"run1_{name}.csv"] for name in ("job-by-job", "cpu-use"))
    assert len(pairs) <= thinning.MAX_POINTS
    assert len(used) == thinning.MAX_POINTS
    assert (pairs["error"].min(), pairs["error"].max()) == (-0.5, 1.0)
    assert f"{len(pairs)} of 20 000 jobs are drawn, evenly by error" in page.text
    assert "1 500 of 20 000 leases are drawn, evenly by the share used" in page.text


def test_an_emulation_alone_never_speaks_of_a_simulation(tmp_path: Path) -> None:
    page = page_of(write_emulated_run(tmp_path))
    assert set(page.data()) & OWN == {"run1_cpu-use.csv"}
    assert page.count("figure") == FIGURES + 1
    for wanted in ("What was emulated", "Mean completion time"):
        assert wanted in page.text
    headings = page.text.partition("The scenario as it was read")[0]
    assert "simulated" not in headings
    assert "simulation" not in headings.replace("the options of the simulation", "")
    facts = page_of(write_rounds_run(tmp_path / "other")).text
    assert "What was simulated" in facts
    assert "emulat" not in facts


def test_an_emulation_of_nothing_says_so(tmp_path: Path) -> None:
    nothing = dict.fromkeys(("jct_mean_s", "jct_p99_s", "short_jct_mean_s", "speedup"))
    document = emulated_summary(interrupted=True)
    for each in document["arms"]:
        each |= {"runs": [], "emulated": emulated_document(1.0, runs=[])} | nothing
    directory = write_emulated_run(tmp_path, document)
    for name, rows in (("jobs", job_rows()), ("rounds", used_lease_rows())):
        write_table(directory, name, rows.iloc[:0])
    page = page_of(directory)
    for wanted in (
        "The run was interrupted; nothing was emulated.",
        "Nothing was emulated, so no job was read.",
        "Nothing was emulated, so no GPU was in use.",
    ):
        assert wanted in page.text
    assert page.count("figure") == 0


def test_a_run_that_ended_before_it_emulated_is_a_simulation(tmp_path: Path) -> None:
    document = emulated_summary(interrupted=True)
    for each in document["arms"]:
        each["emulated"] = None
    page = page_of(write_both_sides(tmp_path, document))
    assert "What was simulated" in page.text
    assert page.count("figure") == FIGURES


def test_outcome_sets_the_simulated_means_beside_the_emulated_ones() -> None:
    found = sentences.outcome(Summary.model_validate(emulated_summary()), BOTH)
    assert found.replace(SPACE, " ").endswith(
        "These times are simulated; in every arm the mean is within 20 % of the emulated one."
    )


def test_outcome_of_an_interrupted_run_says_what_each_side_has() -> None:
    whole = arm("a", HOUR_S, emulated=emulated_document(HOUR_S, runs=[seed_document(1, HOUR_S)]))
    document = emulated_summary(interrupted=True) | {"arms": [whole, arm("b", HOUR_S)]}
    found = sentences.outcome(Summary.model_validate(document), BOTH).replace(SPACE, " ")
    assert found.startswith(
        "The run was interrupted; simulated until then: a with 2 of 2 seeds and b with 2 of 2 "
        "seeds; emulated until then: a with 1 of 2 seeds."
    )
    assert "in every arm that was emulated the mean is within" in found


def test_timelines_are_named_where_they_are(tmp_path: Path) -> None:
    opens = "Perfetto (ui.perfetto.dev) opens"
    both = write_both_sides(tmp_path / "both")
    assert f"{opens} simulated/timeline.json and emulated/timeline.json in" in page_of(both).text
    (both / "simulated" / "timeline.json").unlink()
    assert f"{opens} emulated/timeline.json in" in page_of(both).text
    alone = write_emulated_run(tmp_path / "alone")
    assert f"{opens} timeline.json in" in page_of(alone).text
    (alone / "timeline.json").unlink()
    assert "Perfetto" not in page_of(alone).text


def test_scale_and_its_warnings_are_told(tmp_path: Path) -> None:
    text = page_of(write_both_sides(tmp_path)).text
    assert "One emulated iteration stands for 188" in text
    assert "It is coarse." in text


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    document = emulated_summary(arms=[])
    emulated = emulated_document(HOUR_S, incidents=[HOSTILE])
    document["arms"] = [arm(HOSTILE, HOUR_S, emulated=emulated)]
    directory = write_both_sides(tmp_path, document)
    jobs = job_rows({HOSTILE: 1.0}).assign(model=HOSTILE)
    jobs["job"] = [f"{HOSTILE}{i}" for i in range(len(jobs))]
    for side in ("simulated", "emulated"):
        write_table(directory / side, "jobs", jobs)
        write_table(directory / side, "rounds", used_lease_rows({HOSTILE: 1.0}))
    page = page_of(directory)
    assert set(page.data()) >= OWN
    assert HOSTILE in page.text
    assert page.count("img") == 0
    drawn = [f"{t.get('name')}{t.get('text')}" for f in page.figures for t in f["data"]]
    assert not [words for words in drawn if "<" in words]


@pytest.mark.parametrize("name", ["jobs", "rounds"])
@pytest.mark.parametrize("side", ["simulated", "emulated"])
def test_damaged_tables_of_either_side_are_named(tmp_path: Path, side: str, name: str) -> None:
    directory = write_both_sides(tmp_path)
    file = directory / side / f"{name}.parquet"
    file.write_text("PAR1", encoding="utf-8")
    with pytest.raises(BadInputError) as error:
        build_report([directory])
    assert error.value.file == file


def test_a_table_of_leases_without_their_use_is_named(tmp_path: Path) -> None:
    directory = write_both_sides(tmp_path)
    file = directory / "emulated" / "rounds.parquet"
    used_lease_rows().drop(columns="cpus_used").to_parquet(file)
    with pytest.raises(BadInputError, match="lacks the column 'cpus_used'"):
        build_report([directory])
