"""The page of traces: what it says, what it draws, and what it leaves out where that is unknown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from harness.report.traces.figures.load import load
from harness.report.traces.sizes import size_classes
from harness.report.traces.tables import say_share, sizes
from tests.unit.harness.report.page import Page
from tests.unit.harness.report.shown_traces import (
    page_of_one,
    page_of_two,
    poor_trace,
    rich_trace,
    shown,
)
from traces.job_trace import checked_trace

FIGURES = {
    f"trace_{name}.csv"
    for name in (
        "load",
        "jobs",
        "gpu-time",
        "run-times",
        "gaps",
        "queue-times",
        "by-hour",
        "by-day",
    )
}


def test_a_trace_that_knows_everything_has_every_figure() -> None:
    page = Page(page_of_one(rich_trace()))
    assert set(page.data()) == FIGURES
    for words in ("400 jobs within", "users", "virtual clusters", "ends", "UTC"):
        assert words in page.text
    assert "5 by drop-never-started" in page.text
    assert "blank lines left out: 3" in page.text
    assert "cluster.csv, SHA-256 abc" in page.text


def test_a_trace_that_knows_little_has_what_it_knows() -> None:
    page = Page(page_of_one(poor_trace()))
    assert set(page.data()) == {"trace_jobs.csv", "trace_gaps.csv"}
    assert "It is not known how long jobs run" in page.text
    assert "No instants are known" in page.text
    assert "All figures of cluster.csv are those of the first 25.0 % of its file." in page.text
    assert "Groups of jobs" not in page.text


def test_names_in_a_trace_are_text() -> None:
    page = Page(page_of_one(rich_trace(), label="<i>mine</i>"))
    assert page.count("b") == page.count("i") == 0
    assert "<b>ann</b>" in page.text
    assert "<i>mine</i>" in page.text


def test_two_traces_share_each_figure_and_their_distances_are_sentences() -> None:
    first = rich_trace()
    second = replace(first, jobs=first.jobs.assign(num_gpus=first.jobs["num_gpus"] * 2))
    page = Page(page_of_two(first, second))
    assert set(page.data()) == FIGURES
    for table in page.data().values():
        assert set(table["trace"]) == {"first", "second"}
    for figure in page.figures:
        assert len(figure["data"]) == 2
    assert "Run time: both traces have the same distribution." in page.text
    assert "GPUs of a job: at most " in page.text
    assert "percentage points more frequent in first than in second" in page.text


def test_a_figure_shows_the_trace_that_knows_its_amount() -> None:
    page = Page(page_of_two(rich_trace(), poor_trace()))
    tables = page.data()
    assert "at the most for first." in page.text
    assert set(tables["trace_load.csv"]["trace"]) == {"first"}
    assert set(tables["trace_gpu-time.csv"]["trace"]) == {"first"}
    assert set(tables["trace_jobs.csv"]["trace"]) == {"first", "second"}
    assert set(tables["trace_gaps.csv"]["trace"]) == {"first", "second"}


def test_the_drawn_load_holds_the_gpu_time() -> None:
    trace = rich_trace()
    table = Page(page_of_one(trace)).data()["trace_load.csv"]
    drawn = ((table["until_s"] - table["from_s"]) * table["gpus"]).sum()
    description = shown("", trace).description
    assert description.mean_gpus is not None
    assert drawn == pytest.approx(description.mean_gpus * description.span_s, rel=1e-4)
    assert len(table) <= 600


def test_what_rounding_leaves_of_a_span_is_no_step_of_the_load() -> None:
    # 294 minutes, whose end lies 7e-12 s behind the last of as many steps.
    frame = pd.DataFrame(
        {
            "job": ["a", "b"],
            "submit_s": [24_490.677, 42_130.677],
            "num_gpus": 3,
            "duration_s": 1e6,
        }
    )
    figure = load([shown("a", checked_trace(frame, source="a test", format="test"))])
    assert figure is not None
    assert len(figure.table) == 294
    assert figure.table["gpus"].tolist() == pytest.approx([3.0] * 294)


def test_many_sizes_are_put_together_up_to_powers_of_two() -> None:
    count = 40
    frame = pd.DataFrame(
        {
            "job": pd.Series(range(count)).astype("string"),
            "submit_s": np.arange(count) * 1.0,
            "num_gpus": np.arange(1, count + 1),
            "duration_s": 1.0,
        }
    )
    trace = shown("a", checked_trace(frame, source="a test", format="test"))
    found = size_classes([trace])
    assert [each.name for each in found] == [
        *("1", "2", "3 to 4", "5 to 8", "9 to 16", "17 to 32", "33 to 64")
    ]
    assert [each.jobs for each in found] == [(1,), (1,), (2,), (4,), (8,), (16,), (8,)]
    assert sum(each.jobs_share[0] for each in found) == pytest.approx(1)
    assert sum(each.gpu_time_share[0] or 0 for each in found) == pytest.approx(1)
    assert len(sizes([trace]).rows) == 7


@pytest.mark.parametrize(
    ("share", "words"), [(None, "–"), (0.0, "0 %"), (1e-7, "< 0.01 %"), (0.5, "50.0 %")]
)
def test_a_share_in_words(share: float | None, words: str) -> None:
    assert say_share(share).replace("\N{NO-BREAK SPACE}", " ") == words
