"""The report of runs of rounds: its sentences, its figures' data, and what it never leaves out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from click.testing import CliRunner

from harness.cli.main import main
from harness.report import thinning
from harness.report.page import build_report
from harness.report.rounds import groups, jobs, sentences, setting
from harness.report.rounds.documents import Summary
from harness.report.rounds.figures.time_axis import log_time_axis
from harness.report.rounds.occupancy import OccupancyBins
from harness.report.rounds.sides import SIMULATED, Sides
from harness.report.words import SPACE, duration, numbers_listed
from tests.unit.harness.report.page import Page, page_of
from tests.unit.harness.report.rounds_run import (
    COUNT,
    HOUR_S,
    NUM_GPUS,
    arm,
    interval,
    job_rows,
    jobs_document,
    lease_rows,
    seed_document,
    summary,
    write_rounds_run,
    write_table,
)
from tests.unit.test_report import HOSTILE, write_run
from traces.errors import BadInputError

FIGURES = 9
MEAN_S = 10 * HOUR_S
SIMULATED_ALONE = Sides({SIMULATED: Path("run")})


def read(**changes: Any) -> Summary:
    return Summary.model_validate(summary(**changes))


def outcome_of(**changes: Any) -> str:
    return sentences.outcome(read(**changes), SIMULATED_ALONE).replace(SPACE, " ")


@pytest.mark.parametrize(
    ("value_s", "expected"),
    [(30, "30 s"), (300, "5 min"), (5400, "90 min"), (15.3 * HOUR_S, "15.3 h"), (None, "–")],
)
def test_durations_choose_their_unit(value_s: float | None, expected: str) -> None:
    assert duration(value_s).replace(SPACE, " ") == expected


def test_seeds_are_listed_shortly() -> None:
    assert numbers_listed([3]) == "3"
    assert numbers_listed([1, 2]) == "1 and 2"
    assert numbers_listed([1, 2, 3, 4]) == "1 to 4"
    assert numbers_listed([1, 2, 4]) == "1, 2 and 4"


def test_outcome_compares_the_best_arm_with_the_first() -> None:
    assert outcome_of() == (
        "With tune, a job is complete 10 h after its submission on average, 2.00 times as fast as "
        "with proportional, which takes 20 h (95 % interval of the ratio 1.75 to 2.25, 2 seeds)."
    )


def test_outcome_names_every_other_arm_and_puts_an_upper_bound_last() -> None:
    arms = [
        arm("proportional", 20 * HOUR_S),
        arm("opt", 8 * HOUR_S, speedup=interval(2.5, 2.4, 2.6)),
        arm("greedy", 25 * HOUR_S, speedup=interval(0.8, 0.5, 0.9)),
        arm("tune", 10 * HOUR_S, speedup=interval(2.0, 1.75, 2.25)),
    ]
    text = outcome_of(arms=arms)
    assert text.startswith("With tune, a job is complete 10 h")
    assert "With greedy it is 1.25 times as slowly (25 h; 1.11 to 2.00)." in text
    assert text.endswith("With opt, an upper bound, it is 2.50 times as fast (8 h; 2.40 to 2.60).")


def test_outcome_does_not_promise_what_the_seeds_do_not_agree_on() -> None:
    arms = [arm("a", 20 * HOUR_S), arm("b", 19 * HOUR_S, speedup=interval(1.05, 0.9, 1.2))]
    assert "which is no clear difference" in outcome_of(arms=arms)


def test_outcome_of_one_seed_has_no_interval() -> None:
    only = {"value": 2.0, "low": None, "high": None, "seeds": 1}
    text = outcome_of(arms=[arm("a", 20 * HOUR_S), arm("b", 10 * HOUR_S, speedup=only)])
    assert text.endswith("2.00 times as fast as with a, which takes 20 h (1 seed).")


def test_arms_with_other_jobs_are_not_set_against_the_first() -> None:
    other = {"generate": {"jobs": COUNT, "load": 0.5}}
    arms = [
        arm("a", 20 * HOUR_S),
        arm("b", 10 * HOUR_S, speedup=interval(2.0)),
        arm("c", 5 * HOUR_S, speedup=interval(4.0), workload=other),
    ]
    text = outcome_of(arms=arms)
    assert text.startswith("With b, ")
    assert "In 1 arm with another cluster or other jobs it is 5 h." in text
    assert "arm c has another cluster or other jobs" in setting.not_like_for_like(read(arms=arms))
    assert setting.not_like_for_like(read()) == ""


def test_outcome_of_an_interrupted_run_says_what_there_is() -> None:
    unended = jobs_document(counted_and_finished=COUNT - 7)
    arms = [
        arm("a", 20 * HOUR_S, runs=[seed_document(1, MEAN_S, jobs=unended)], speedup=None),
        arm("b", 1, runs=[], jct_mean_s=None, speedup=None),
    ]
    text = outcome_of(arms=arms, interrupted=True)
    assert "The run was interrupted; simulated until then: a with 1 of 2 seeds." in text
    assert "7 jobs that count have not ended" in text
    assert "b" not in text.rpartition("With a")[2].split()


def test_outcome_without_any_completed_job() -> None:
    nothing = {"jct_mean_s": None, "speedup": None, "runs": []}
    text = outcome_of(arms=[arm("a", 1, **nothing)], interrupted=True)
    assert "nothing was simulated" in text
    assert "no completion time to compare" in text


def test_setting_says_what_the_arms_differ_in() -> None:
    text = setting.setting(read()).replace(SPACE, " ")
    assert "1 server with 8 V100 GPUs, 24 CPUs and 500 GB of memory" in text
    assert "every 5 min" in text
    assert text.endswith("The arms differ in the mechanism.")


def test_every_reason_for_leaving_jobs_out_is_told_with_where_it_applies() -> None:
    def refused(count: int) -> dict[str, Any]:
        refusal = {"reason": "asks for too much", "count": count, "where": "lines 3, 5"}
        return jobs_document(read=COUNT + count, refused=[refusal])

    first = [seed_document(seed, MEAN_S, jobs=refused(seed + 1)) for seed in (1, 2)]
    everywhere = jobs.left_out_words(read(arms=[arm("a", MEAN_S, runs=first)]))
    assert [text.replace(SPACE, " ") for text in everywhere] == [
        "2 to 3 jobs were left out: asks for too much (lines 3, 5)."
    ]
    in_one_arm = read(arms=[arm("a", MEAN_S), arm("b", MEAN_S, runs=first[:1])])
    assert jobs.left_out_words(in_one_arm) == [
        f"2{SPACE}jobs were left out in arm b: asks for too much (lines 3, 5)."
    ]


def test_a_run_shows_every_figure_table_and_sentence(tmp_path: Path) -> None:
    page = page_of(write_rounds_run(tmp_path))
    assert page.count("figure") == len(page.figures) == FIGURES
    assert page.count("figcaption") == FIGURES
    for wanted in (
        "2.00 times as fast as with proportional",
        "1.75 to 2.25",
        "first come, first served",
        "every job gets CPU and memory in proportion",
        "made-up jobs, made anew with each seed",
        "None: the jobs run as they were read.",
        "40, all ended",
        "Models of a paper.",
        "Half of the jobs are complete after",
    ):
        assert wanted.lower() in page.text.lower()


def test_what_was_left_out_and_which_rules_applied_are_on_the_page(tmp_path: Path) -> None:
    document = jobs_document(
        read=47,
        reordered=3,
        notes=["jobs without an end were dropped: 2"],
        refused=[{"reason": "asks for more than 8 GPUs", "count": 5, "where": "line 9"}],
    )
    arms = [arm("a", MEAN_S, runs=[seed_document(1, MEAN_S, jobs=document)])]
    page = page_of(write_rounds_run(tmp_path, summary(arms=arms)))
    # In the overview and in the section about jobs.
    assert page.text.count("5 jobs were left out: asks for more than 8 GPUs (line 9).") == 2
    assert page.text.count("2 jobs were left out by the rules that the section about jobs") == 2
    assert "Jobs without an end were dropped: 2." in page.text
    assert "all47740" in page.text.replace("\n", "")
    assert "3 jobs stood before one that was submitted earlier" in page.text


def test_figures_of_a_mechanism_are_shown_in_words(tmp_path: Path) -> None:
    runs = [
        seed_document(
            seed,
            MEAN_S,
            mechanism={"opt_solutions": 10.0 * seed, "opt_solve_max_s": 0.1 * seed, "new_s": 1.0},
        )
        for seed in (1, 2)
    ]
    arms = [arm("proportional", MEAN_S), arm("opt", MEAN_S, runs=runs)]
    page = page_of(write_rounds_run(tmp_path, summary(arms=arms)))
    assert "Times that the first programme was solved (same jobs, same solution)15" in page.text
    assert "Time to solve it, longest200.0 ms" in page.text
    assert "new_s1.000 s" in page.text
    other = page_of(write_rounds_run(tmp_path / "other"))
    assert "run1_mechanisms" not in {a.get("id") for _, a in other.elements}


def test_options_that_differ_name_their_arms(tmp_path: Path) -> None:
    costly = {"completion": "round-end", "speeds": "matrix", "restart": 30.0, "novel": "odd"}
    arms = [arm("a", MEAN_S), arm("b", MEAN_S, simulation=costly, priority_after_s=HOUR_S)]
    text = page_of(write_rounds_run(tmp_path, summary(arms=arms))).text
    assert "End of a jobwhen its last iteration ends (a)at the end of the round" in text
    assert "30 s, lost whenever a job starts or its GPUs or shares change (b)" in text
    assert "novel" in text
    assert "a job comes first once it has waited for 60 min (b)" in text


def test_names_that_are_not_known_stand_for_themselves(tmp_path: Path) -> None:
    arms = [arm("a", MEAN_S, policy="novelty", mechanism="magic", placement="anywhere")]
    text = page_of(write_rounds_run(tmp_path, summary(arms=arms))).text
    for name in ("novelty", "magic", "anywhere"):
        assert f"{name}{name.capitalize()}." in text


def test_csv_holds_the_data_of_the_figures(tmp_path: Path) -> None:
    found = page_of(write_rounds_run(tmp_path)).data()
    assert set(found) == {
        f"run1_{name}.csv"
        for name in (
            "means",
            "all-times",
            "by-length",
            "by-model",
            "by-gpus",
            "gpus-in-use",
            "shares",
            "gpu-timeline_proportional",
            "gpu-timeline_tune",
        )
    }
    assert found["run1_means.csv"]["waiting_s"].tolist() == [5 * HOUR_S, 2.5 * HOUR_S]
    for name, value in (("by-model", "group"), ("by-length", "length"), ("by-gpus", "group")):
        frame = found[f"run1_{name}.csv"]
        times = frame.pivot_table(index=value, columns="arm", values="jct_mean_s")
        np.testing.assert_allclose(times["proportional"], 2 * times["tune"], rtol=1e-6)
        assert frame["jobs"].sum() == 2 * 2 * COUNT


def test_gpus_in_use_come_from_the_leases_of_the_first_seed(tmp_path: Path) -> None:
    frame = page_of(write_rounds_run(tmp_path)).data()["run1_gpus-in-use.csv"]
    assert set(frame["seed"]) == {1}
    for _, own in frame.groupby("arm"):
        early = own[own["until_s"] <= 50 * HOUR_S]
        late = own[own["from_s"] >= 50 * HOUR_S]
        assert set(early["gpus_in_use"]) == {NUM_GPUS}
        assert set(late["gpus_in_use"]) == {NUM_GPUS / 2}
        assert own["until_s"].max() == 100 * HOUR_S


def test_occupancy_keeps_all_gpu_time_however_coarse_it_is() -> None:
    random = np.random.default_rng(1)
    rounds, round_s = thinning.MAX_POINTS * 3 + 100, 300.0
    end_s = rounds * round_s
    from_s = random.uniform(0, end_s, 5000)
    until_s = np.minimum(from_s + random.exponential(50 * round_s, 5000), end_s)
    leased = random.integers(1, 9, 5000).astype(float)
    bins = OccupancyBins(end_s, round_s)
    for part in np.array_split(np.arange(5000), 3):
        bins.add(from_s[part], until_s[part], leased[part])
    found = bins.occupancy()
    assert found.rounds == 4
    assert len(found.held) <= thinning.MAX_POINTS
    assert found.edges_s[-1] == end_s
    np.testing.assert_allclose(
        (found.held * np.diff(found.edges_s)).sum(), (leased * (until_s - from_s)).sum()
    )
    middle = len(found.held) // 2
    low_s, high_s = found.edges_s[middle : middle + 2]
    inside = (np.minimum(until_s, high_s) - np.maximum(from_s, low_s)).clip(min=0)
    np.testing.assert_allclose(found.held[middle], (leased * inside).sum() / (high_s - low_s))


def test_groups_of_gpus_double_and_are_named_by_what_is_in_them() -> None:
    frame = pd.DataFrame({"num_gpus": [1, 2, 3, 4, 7, 16, 9, 1]})
    found = groups.by_gpus(frame)
    assert found.astype(str).tolist() == ["1", "2", *["3 to 4"] * 2, "7", *["9 to 16"] * 2, "1"]
    assert list(found.cat.categories) == ["1", "2", "3 to 4", "7", "9 to 16"]


def test_models_with_few_jobs_are_put_together() -> None:
    names = [f"model-{i:02}" for i in range(groups.MODELS_SHOWN + 5) for _ in range(i + 1)]
    found = groups.by_model(pd.DataFrame({"model": names}))
    assert found.nunique() == groups.MODELS_SHOWN
    assert found.value_counts()[groups.OTHERS] == sum(range(1, 7))


@pytest.mark.parametrize("ends_s", [(1.0, 1e7), (600.0, 700.0), (5.0, 5.0), (3e4, 1.2e5)])
def test_time_axes_have_ticks_that_people_read(ends_s: tuple[float, float]) -> None:
    found = log_time_axis("time", ends_s, (1 / HOUR_S, "h"))
    low, high = (10.0**end * HOUR_S for end in found["range"])
    assert low < ends_s[0] <= ends_s[1] < high
    if "tickvals" in found:
        assert 2 <= len(found["tickvals"]) <= 7
        assert all(low <= at * HOUR_S <= high for at in found["tickvals"])
    else:
        assert found["ticksuffix"] == " h"


def test_plotly_knows_every_property_of_every_figure(tmp_path: Path) -> None:
    for figure in page_of(write_rounds_run(tmp_path)).figures:
        go.Figure(figure)


def test_both_kinds_of_runs_stand_on_one_page(tmp_path: Path) -> None:
    directories = [write_run(tmp_path / "links"), write_rounds_run(tmp_path / "rounds")]
    text = build_report([*directories, directories[1]])
    page = Page(text)
    assert page.count("article") == 3
    assert page.count("figure") == 9 + 2 * FIGURES
    scripts = [a for name, a in page.elements if name == "script" and "type" not in a]
    assert scripts == [{}, {}]
    identities = [a["id"] for _, a in page.elements if a.get("id")]
    assert len(identities) == len(set(identities))
    targets = [a["href"] for _, a in page.elements if a.get("href")]
    assert all(str(target).startswith(("#", "data:")) for target in targets)


def test_an_interrupted_run_shows_what_there_is(tmp_path: Path) -> None:
    arms = [
        arm("proportional", MEAN_S, runs=[seed_document(1, MEAN_S)], speedup=None),
        arm("tune", 1, runs=[], jct_mean_s=None, jct_p99_s=None, speedup=None),
    ]
    directory = write_rounds_run(tmp_path, summary(arms=arms, interrupted=True))
    write_table(directory, "jobs", job_rows({"proportional": 1.0}))
    write_table(directory, "rounds", lease_rows({"proportional": 1.0}))
    page = page_of(directory)
    assert page.count("figure") == FIGURES - 1  # no timeline of what did not run
    assert "The run was interrupted" in page.text


def test_a_run_without_any_row_is_still_a_page(tmp_path: Path) -> None:
    nothing = dict.fromkeys(("jct_mean_s", "jct_p99_s", "short_jct_mean_s", "speedup"))
    for number, arms in enumerate(([], [arm("a", 1, runs=[], **nothing)])):
        document = summary(arms=arms, interrupted=True)
        directory = write_rounds_run(tmp_path / str(number), document)
        write_table(directory, "jobs", job_rows().iloc[:0])
        write_table(directory, "rounds", lease_rows().iloc[:0])
        page = page_of(directory)
        assert page.count("figure") == 0
        assert "No job that counts has ended." in page.text
        assert "no job was read" in page.text


def test_jobs_without_models_and_of_one_size_have_no_figure_of_these(tmp_path: Path) -> None:
    directory = write_rounds_run(tmp_path)
    write_table(directory, "jobs", job_rows().assign(model=None, num_gpus=1, alone_s=60.0))
    assert page_of(directory).count("figure") == FIGURES - 3


def test_only_jobs_that_count_and_have_ended_are_in_the_figures(tmp_path: Path) -> None:
    directory = write_rounds_run(tmp_path)
    rows = job_rows()
    rows.loc[::2, "counted"] = False
    rows.loc[1, ["finish_s", "jct_s"]] = None
    write_table(directory, "jobs", rows)
    frame = page_of(directory).data()["run1_by-length.csv"]
    assert frame["jobs"].sum() == len(rows) // 2 - 1


def test_large_runs_are_thinned_and_the_page_stays_small(tmp_path: Path) -> None:
    count = 200_000
    random = np.random.default_rng(1)
    pool = job_rows().sample(count, replace=True, random_state=1, ignore_index=True)
    pool["alone_s"] = random.lognormal(9, 1, count)
    pool["jct_s"] = pool["alone_s"] * random.uniform(1, 5, count)
    directory = write_rounds_run(tmp_path)
    small = len(build_report([directory]))
    write_table(directory, "jobs", pool)
    leases = lease_rows().sample(count, replace=True, random_state=2, ignore_index=True)
    leases["from_s"] = random.uniform(0, 90 * HOUR_S, count)
    leases["until_s"] = leases["from_s"] + HOUR_S
    write_table(directory, "rounds", leases)
    started_s = time.monotonic()
    text = build_report([directory])
    assert time.monotonic() - started_s < 20
    assert len(text) - small < 500_000
    page = Page(text)
    points = max(len(t.get("x", ())) for f in page.figures for t in f["data"])
    assert points <= thinning.MAX_POINTS + 1
    assert "Each point stands for 67 jobs." in page.text


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    hostile = jobs_document(
        read=COUNT + 1,
        notes=[HOSTILE],
        refused=[{"reason": HOSTILE, "count": 1, "where": HOSTILE}],
    )
    runs = [seed_document(1, MEAN_S, jobs=hostile, source=HOSTILE, mechanism={HOSTILE: 1.0})]
    arms = [arm(HOSTILE, MEAN_S, policy=HOSTILE, mechanism=HOSTILE, runs=runs)]
    directory = write_rounds_run(tmp_path, summary(description=HOSTILE, arms=arms))
    write_table(directory, "jobs", job_rows({HOSTILE: 1.0}).assign(model=HOSTILE))
    page = page_of(directory)
    assert HOSTILE in page.text
    assert page.count("img") == 0
    assert page.count("script") == len(page.figures) + 2
    drawn = [str(t.get("name")) + str(t.get("y")) for f in page.figures for t in f["data"]]
    labels = [str(f["layout"].get("annotations")) for f in page.figures]
    assert not [words for words in [*drawn, *labels] if "<" in words]


@pytest.mark.parametrize(
    ("file", "text", "key"),
    [
        ("summary.json", '{"kind": "rounds"}', "scenario"),
        ("summary.json", '{"kind": "circles"}', "kind"),
        ("summary.json", '{"kind": ["rounds"]}', "kind"),
        ("provenance.json", "{}", "finished_utc"),
        ("jobs.parquet", "PAR1", None),
        ("rounds.parquet", "", None),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, file: str, text: str, key: str | None) -> None:
    directory = write_rounds_run(tmp_path)
    (directory / file).write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError) as error:
        build_report([directory])
    assert (error.value.file, error.value.key) == (directory / file, key)


def test_tables_that_are_absent_or_lack_a_column_are_named(tmp_path: Path) -> None:
    directory = write_rounds_run(tmp_path)
    job_rows().drop(columns="alone_s").to_parquet(directory / "jobs.parquet")
    with pytest.raises(BadInputError, match="lacks the column 'alone_s'"):
        build_report([directory])
    (directory / "jobs.parquet").unlink()
    with pytest.raises(BadInputError, match=r"there is no jobs\.parquet"):
        build_report([directory])


SCENARIO = """\
name: tiny
description: A few jobs.
seeds: 2
cluster: {servers: 1, gpus: 4, cpus: 12, memory: 250 GB}
workload:
  generate: {jobs: 12, load: 1.0, gpus: gavel}
  split: {image: 1, language: 1}
arms:
  proportional: {}
  tune: {scheduler: {mechanism: tune}}
"""


def test_simulate_leaves_a_report_of_its_run(tmp_path: Path) -> None:
    file, directory = tmp_path / "tiny.yaml", tmp_path / "out"
    file.write_text(SCENARIO, encoding="utf-8")
    result = CliRunner().invoke(main, ["simulate", str(file), "-o", str(directory)])
    assert result.exit_code == 0, result.stderr
    page = Page((directory / "report.html").read_text(encoding="utf-8"))
    assert page.count("h1") == 1
    # Jobs with 8 GPUs do not fit on 4.
    assert "left out" in page.text
    assert "with proportional" in page.text
    assert page_of(directory).count("figure") == page.count("figure") > 0
