"""Links as heat maps, marked packets in words and over time, and the drift of shifted jobs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest

from harness.report.iterations.figures.heat_map import MOST_PORTS
from tests.unit.harness.report.iterations_run import (
    ARMS,
    JOBS,
    PORT,
    SHARED_S,
    arm,
    circle,
    job_rows,
    link_rows,
    marked_run,
    summary,
    write_run,
)
from tests.unit.harness.report.page import Page, page_of
from traces.results import IterationRow, LinkRow
from traces.run_directory import write_json, write_table

GRID_S = 0.3
ITERATIONS = 40


def test_a_heat_map_has_the_share_of_every_link_in_every_cell(tmp_path: Path) -> None:
    page = page_of(write_run(tmp_path))
    for name, _ in ARMS:
        found = page.data()[f"run1_heat-map_{name}.csv"]
        # Two jobs with 20 and with 40 Gbit/s each, on 50 Gbit/s.
        np.testing.assert_allclose(found["left → right share"], 0.8)
        np.testing.assert_allclose(found["busy → elsewhere share"], 1.6)
        assert found["from_s"][0] == 0
    assert "the busiest, busy → elsewhere, is 160 % full on average" in page.text


def with_links(directory: Path, rows: list[LinkRow]) -> Page:
    write_run(directory)
    write_table(directory / "emulated", "links", rows)
    return page_of(directory)


def test_a_sample_counts_in_all_cells_that_it_reaches_and_the_rest_is_empty(
    tmp_path: Path,
) -> None:
    # Three samples of a link are three cells, here of 4/3 s.
    samples = {
        "a->b": ((1.0, 50e9), (1.5, 0.0), (4.0, 10e9)),  # from 0.5 s on
        "c->d": ((3.0, 5e9), (3.5, 5e9), (4.0, 5e9)),  # from 2.5 s on
    }
    rows = [
        LinkRow("together", "n0", port, "one", t_s, rate_bps, 50e9, 0.0, 0)
        for port, of_port in samples.items()
        for t_s, rate_bps in of_port
    ]
    page = with_links(tmp_path, rows)
    found = page.data()["run1_heat-map_together.csv"]
    np.testing.assert_allclose(found["a → b share"], [0.6, 0.175, 0.2], rtol=1e-6)
    np.testing.assert_allclose(found["c → d share"], [np.nan, 0.1, 0.1], rtol=1e-6)
    assert "Where it is white, nothing was sampled." in page.text


def test_links_that_are_not_drawn_are_counted(tmp_path: Path) -> None:
    rows = [
        LinkRow("together", "n0", f"a{i}->b", "one", t_s, i * 1e9, 50e9, 0.0, 0)
        for i in range(30)
        for t_s in (0.5, 1.0)
    ]
    page = with_links(tmp_path, rows)
    assert len(page.data()["run1_heat-map_together.csv"].columns) == 2 + MOST_PORTS
    assert "Of 29 directions the 24 busiest are drawn." in page.text
    assert "1 direction was idle and not drawn." in page.text


def test_jobs_on_clusters_of_their_own_have_rows_of_their_own(tmp_path: Path) -> None:
    rows = [replace(row, network=f"n-{row.job}") for row in link_rows("together", SHARED_S)]
    found = with_links(tmp_path, rows).data()["run1_heat-map_together.csv"]
    for job in JOBS:
        np.testing.assert_allclose(found[f"left → right ({job}) share"], 0.4)


def test_marks_over_time_add_up_to_all_of_them(tmp_path: Path) -> None:
    page = page_of(marked_run(tmp_path, {"one": 3, "two": 0}))
    found = page.data()["run1_marks_together.csv"]
    assert set(found["job"]) == {"one"}
    samples = len([row for row in link_rows("together", SHARED_S) if row.job == "one"]) // 2
    rates = found["marked_packets_per_s"].to_numpy()
    lengths_s = np.diff(found["t_s"], prepend=0.0)
    np.testing.assert_allclose((rates * lengths_s).sum(), 3 * samples, rtol=1e-6)
    assert f"one has the most marks, {3 * samples} of {3 * samples}." in page.text
    assert "run1_marks_plain.csv" not in page.data()


def test_nothing_marked_is_no_figure(tmp_path: Path) -> None:
    page = page_of(marked_run(tmp_path, {"one": 0, "two": 0}))
    assert "run1_marks_together.csv" not in page.data()


def test_marks_are_told_by_link_and_job_where_there_are_any(tmp_path: Path) -> None:
    directory = marked_run(tmp_path, {"one": 1, "two": 0})
    text = " ".join(page_of(directory).text.split())
    samples = len([row for row in link_rows("together", SHARED_S) if row.port == PORT]) // 2
    assert f"In arm together {samples} packets found more than 30 kB at left → right." in text
    assert f"together left → right one {samples} {10 * samples}".replace(" ", "") in text.replace(
        " ", ""
    )
    assert "10.0 %" in text
    assert "arm plain" not in text[text.index("Marked packets") : text.index("Verdict")]


def test_marks_that_are_not_there_and_those_that_could_not_be_are_told_apart(
    tmp_path: Path,
) -> None:
    none = page_of(marked_run(tmp_path / "none", {"one": 0, "two": 0})).text
    assert "No port of arm together had more than 30 kB waiting." in none
    directory = marked_run(tmp_path / "unknown", {"one": 0, "two": 0})
    rows = [replace(row, marked_packets=None) for row in link_rows("together", SHARED_S)]
    write_table(directory / "emulated", "links", rows)
    assert "In arm together nothing could mark packets above 30 kB." in page_of(directory).text


def shifted_run(directory: Path, late: dict[int, float]) -> Page:
    """Job one is held to its grid but for the iterations that are ``late``, by shares of the
    period; after a share above 5 % it has let a point of the grid pass."""
    rows = []
    for job, delay_s in zip(JOBS, (0.0, GRID_S / 2), strict=True):
        point = 0
        for i in range(ITERATIONS):
            own = late.get(i, 0.0) if job == "one" else 0.0
            point += 1 if own < 1 else 2
            start_s = delay_s + (point + own % 1) * GRID_S
            times_s = (start_s, start_s + 0.1, start_s + 0.25)
            rows.append(IterationRow("shifted", job, i, True, *times_s, GRID_S))
    document = summary(arms=[arm("shifted", GRID_S, interleaver="cassini")])
    write_run(directory, document)
    moved = sum(share >= 1 for share in late.values())
    for side in ("emulated", "simulated"):
        write_table(directory / side, "iterations", rows)
        jobs = [replace(row, adjustments=moved) for row in job_rows("shifted", GRID_S)]
        write_table(directory / side, "jobs", [jobs[0], replace(jobs[1], adjustments=0)])
        links = [replace(row, arm="shifted") for row in link_rows("together", SHARED_S)]
        write_table(directory / side, "links", links)
    shifts = {"shifted": [0.0, GRID_S / 2]}
    write_json(directory / "circles.json", [circle(applied_shifts_s=shifts)])
    return page_of(directory)


def test_drift_is_how_late_starts_are_and_adjustments_are_named(tmp_path: Path) -> None:
    page = shifted_run(tmp_path, {10: 0.03, 20: 1.0, 30: 0.01})
    found = page.data()["run1_drift_shifted.csv"]
    one = found[found["job"] == "one"].reset_index()
    expected = np.zeros(ITERATIONS)
    expected[[10, 30]] = 0.03, 0.01
    np.testing.assert_allclose(one["late"], expected, atol=2e-3)
    assert one.index[one["grid_points"] == 2].tolist() == [20]
    assert "which happened to one 1 time, and the latest start, of one, is 3." in page.text
    (figure,) = [
        each
        for each in page.figures
        if "late" in each["layout"].get("yaxis", {}).get("title", {}).get("text", "")
    ]
    go.Figure(figure)
    (line,) = figure["layout"]["shapes"]
    assert line["y0"] == pytest.approx(5)


def test_jobs_that_keep_their_grids_are_at_their_times(tmp_path: Path) -> None:
    page = shifted_run(tmp_path, {})
    assert "which happened to none, and every start is at its time." in page.text
    assert page.data()["run1_drift_shifted.csv"]["late"].max() < 1e-6


def test_jobs_without_time_shifts_have_no_drift(tmp_path: Path) -> None:
    assert not [name for name in page_of(write_run(tmp_path)).data() if "drift" in name]
