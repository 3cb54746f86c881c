"""The report of a run of rounds: what it shows, and what it never leaves out."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from harness.cli.main import main
from tests.unit.harness.report.page import HOSTILE, Page, page_of
from tests.unit.harness.report.rounds_run import (
    COUNT,
    FIGURES,
    HOUR_S,
    MEAN_S,
    arm,
    job_rows,
    jobs_document,
    lease_rows,
    seed_document,
    summary,
    write_rounds_run,
    write_table,
)


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
