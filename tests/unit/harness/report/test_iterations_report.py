"""The report of jobs that share links: its figures, and what it does where parts are missing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

from harness.report import thinning
from harness.report.words import SPACE
from tests.unit.harness.report.iterations_run import (
    ALONE_S,
    ARMS,
    FIGURES,
    JOBS,
    PORT,
    SHARED_S,
    arm,
    circle,
    invariant,
    link_rows,
    summary,
    write_run,
    write_side,
)
from tests.unit.harness.report.page import HOSTILE, page_of
from traces.results import LinkRow
from traces.run_directory import write_json, write_table


def test_a_run_shows_every_arm_figure_and_sentence(tmp_path: Path) -> None:
    page = page_of(write_run(tmp_path))
    # Two circles, all arms together, and for each of two arms its times, its link and all links.
    assert page.count("figure") == len(page.figures) == FIGURES
    assert page.count("figcaption") == FIGURES
    for wanted in (
        "two-jobs",
        "1.50 times as long",
        "Before: no time-shift (score 0.50)",
        "After: the best shifts (score 1.00)",
        "00c0ffee",
        "380 times slower",
    ):
        assert wanted in page.text
    assert "% of busy → elsewhere" not in page.text


def test_what_was_not_enforced_is_said_once_for_all_arms(tmp_path: Path) -> None:
    verdict = {"status": "valid", "invariants": [invariant()], "unenforced": ["no cgroups"]}
    arms = [arm(name, 0.2, verdict=verdict) for name in ("dedicated", "together")]
    text = page_of(write_run(tmp_path / "a", summary(arms=arms))).text
    assert text.count("Not enforced: no cgroups.") == 1
    assert "Not enforced" not in page_of(write_run(tmp_path / "b")).text


def test_plotly_knows_every_property_of_every_figure(tmp_path: Path) -> None:
    for figure in page_of(write_run(tmp_path)).figures:
        go.Figure(figure)


@pytest.mark.parametrize("name", ["simulated", "emulated"])
def test_a_directory_of_one_half_alone(tmp_path: Path, name: str) -> None:
    directory = write_side(tmp_path)
    absent: dict[str, Any] = {"difference": None}
    if name == "simulated":
        absent |= {"measured": None, "verdict": None, "scale": None}
    else:
        absent |= {"predicted": None}
        write_json(directory / "verdict.json", {})
    arms = [arm(arm_name, length, **absent) for arm_name, length in ARMS]
    write_json(directory / "summary.json", summary(arms=arms))
    page = page_of(directory)
    assert page.count("figure") == FIGURES - 2
    assert "No link carries more than one job" in page.text
    assert ("not measured" in page.text) is (name == "simulated")
    assert ("nothing was scaled" in page.text) is (name == "simulated")
    assert "simulator's mean" not in page.text


def test_an_interrupted_run_shows_what_there_is(tmp_path: Path) -> None:
    missing = {"measured": None, "difference": None, "verdict": None, "scale": None}
    arms = [arm("dedicated", ALONE_S, dedicated=True), arm("together", SHARED_S, **missing)]
    directory = write_run(tmp_path, summary(arms=arms, interrupted=True))
    write_side(directory / "emulated", ARMS[:1])
    page = page_of(directory)
    assert page.count("figure") == FIGURES
    assert "The run was interrupted: 1 of 2 arms" in page.text
    assert "not measured" in page.text


def test_arms_without_a_comparable_circle_say_why(tmp_path: Path) -> None:
    reason = "jobs one, two on left->right: the iteration times meet again only after 90 s"
    arms = [arm("together", SHARED_S, score=None, incomparable=[reason])]
    directory = write_run(tmp_path, summary(arms=arms))
    write_json(directory / "circles.json", [])
    page = page_of(directory)
    assert f"No circle in arm together: {reason}." in page.text
    assert "No link carries more than one job" not in page.text


def test_a_run_without_any_row_is_still_a_page(tmp_path: Path) -> None:
    nothing = dict.fromkeys(("measured", "predicted", "difference", "verdict", "scale"))
    directory = write_run(tmp_path, summary(arms=[arm("together", 1, **nothing)], interrupted=True))
    write_side(directory / "emulated", ())
    write_side(directory / "simulated", ())
    page = page_of(directory)
    assert page.count("figure") == 2
    for wanted in ("No arm has iterations after the warm-up", "No link was sampled"):
        assert wanted in page.text


def test_a_shared_queue_is_shown_without_telling_jobs_apart(tmp_path: Path) -> None:
    directory = write_run(tmp_path)
    rows = link_rows("dedicated", ALONE_S) + link_rows("together", SHARED_S, told_apart=False)
    write_table(directory / "emulated", "links", rows)
    names = {t.get("name") for figure in page_of(directory).figures for t in figure["data"]}
    assert "all jobs (one queue)" in names


def test_jobs_on_clusters_of_their_own_are_not_stacked(tmp_path: Path) -> None:
    directory = write_run(tmp_path)
    rows = [
        LinkRow(row.arm, f"n{row.job}", row.port, row.job, row.t_s, *[row.rate_bps] * 2, 0.0, 0)
        for row in link_rows("dedicated", ALONE_S)
    ]
    write_table(directory / "emulated", "links", rows)
    page = page_of(directory)
    assert "Each job, alone on its own copy of the link, fills 100 % of left → right" in page.text
    [figure] = [
        f for f in page.figures if "shapes" in f["layout"] and "stackgroup" not in f["data"][0]
    ]
    assert {trace["name"] for trace in figure["data"][:2]} == set(JOBS)


def test_long_tables_are_thinned_and_the_caption_says_so(tmp_path: Path) -> None:
    directory = write_run(tmp_path)
    count = thinning.MAX_POINTS * 3
    rows = [
        LinkRow("together", "n0", PORT, job, i * 0.02, 1e9, 50e9, 0.0, 0)
        for job in JOBS
        for i in range(1, count + 1)
    ]
    write_table(directory / "emulated", "links", rows)
    page = page_of(directory)
    assert "Each point stands for 3 samples below and in the CSV." in page.text
    assert (
        max(len(t.get("x", ())) for f in page.figures for t in f["data"]) <= thinning.MAX_POINTS + 1
    )


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    document = summary(description=HOSTILE)
    document["jobs"][0] |= {"job": HOSTILE, "model": HOSTILE, "source": HOSTILE}
    directory = write_run(tmp_path, document)
    write_json(directory / "circles.json", [circle(jobs=[HOSTILE, "two"], ports=[HOSTILE])])
    (directory / "emulated" / "scenario.yaml").write_text(HOSTILE, encoding="utf-8")
    safe, hostile = page_of(write_run(tmp_path / "safe")), page_of(directory)
    for tag in ("script", "img", "figure"):
        assert hostile.count(tag) == safe.count(tag)
    assert HOSTILE in hostile.text
    names = [str(t.get("name")) for figure in hostile.figures for t in figure["data"]]
    assert not [name for name in names if re.search("[<>]", name)]


def test_csv_of_a_figure_is_a_table_that_can_be_read(tmp_path: Path) -> None:
    found = page_of(write_run(tmp_path)).data()
    assert len(found) == FIGURES
    assert all(len(frame) > 1 for frame in found.values())


def test_demand_that_no_circle_has_is_told(tmp_path: Path) -> None:
    document = summary(arms=[arm("together", SHARED_S, clipped={"one": 0.25})])
    text = page_of(write_run(tmp_path, document)).text.replace(SPACE, " ")
    wanted = "In arm together job one asks for more than the rate of a link: 25.0 % of its bits"
    assert wanted in text
    assert "asks for more" not in page_of(write_run(tmp_path)).text
