"""Links that change while a run is measured: where that is drawn, and how it is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

from harness.report.words import SPACE
from tests.unit.harness.report.iterations_run import (
    SHARED_S,
    arm,
    event,
    link_rows,
    summary,
    write_run,
)
from tests.unit.harness.report.page import page_of
from traces.run_directory import write_table


def with_events(directory: Path, *events: dict[str, Any]) -> Path:
    arms = [arm("together", SHARED_S, events=list(events))]
    return write_run(directory, summary(arms=arms))


def test_events_are_labelled_lines_where_time_runs(tmp_path: Path) -> None:
    directory = with_events(
        tmp_path,
        event("rate", 0.5, 25e9),
        event("down", 1.0),
        event("latency", 3.0, 0.2e-3, link=["elsewhere", "busy"]),
    )
    page = page_of(directory)
    [figure] = [f for f in page.figures if "yaxis2" in f["layout"]]
    go.Figure(figure)
    upright = [s for s in figure["layout"]["shapes"] if s["type"] == "line" and s["x0"] == s["x1"]]
    labels = [(a["xref"], a["x"], a["text"]) for a in figure["layout"]["annotations"]]
    close, whole = [(0.5, "25 Gbit/s"), (1.0, "down")], (3.0, "elsewhere – busy +200.0 µs")
    expected = [("x", *each) for each in close] + [("x2", *each) for each in (*close, whole)]
    found = [(x, at, text.replace(SPACE, " ")) for x, at, text in labels if x in ("x", "x2")]
    assert found == expected
    assert [(s["xref"], s["x0"]) for s in upright] == [(x, at) for x, at, _ in expected]
    assert "each dashed vertical line is a change of a link" in page.text


def test_events_are_told_with_when_they_were_made(tmp_path: Path) -> None:
    directory = with_events(tmp_path, event("up", 1.0), event("latency", 3.0, 0.2e-3, made=[]))
    text = " ".join(page_of(directory).text.split())
    assert "Changes of links" in text
    for wanted in ("left – right", "4.000 ms", "+200.0 µs", "not made"):
        assert wanted in text
    assert "Changes of links" not in page_of(write_run(tmp_path / "without")).text


def test_a_capacity_that_changed_is_drawn_in_steps(tmp_path: Path) -> None:
    directory = with_events(tmp_path, event("rate", 1.0, 25e9))
    rows = [
        replace(row, capacity_bps=25e9 if row.t_s > 1.0 else 50e9)
        for row in link_rows("together", SHARED_S)
    ]
    write_table(directory / "emulated", "links", rows)
    [figure] = [f for f in page_of(directory).figures if "yaxis2" in f["layout"]]
    level = [s for s in figure["layout"]["shapes"] if s["type"] == "line" and s["y0"] == s["y1"]]
    whole = [(s["x0"], s["x1"], s["y0"]) for s in level if s["xref"] == "x2"]
    end_s = max(row.t_s for row in rows)
    assert whole == [(0.0, pytest.approx(1.02), 50.0), (pytest.approx(1.02), end_s, 25.0)]
