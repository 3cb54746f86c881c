"""The figures of a run of rounds: their data, their axes, and what is put together in them."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from harness.report import thinning
from harness.report.page import build_report
from harness.report.rounds import groups
from harness.report.rounds.figures.time_axis import log_time_axis
from harness.report.rounds.occupancy import OccupancyBins
from tests.unit.harness.report.page import Page, page_of
from tests.unit.harness.report.rounds_run import (
    COUNT,
    FIGURES,
    HOUR_S,
    NUM_GPUS,
    job_rows,
    lease_rows,
    write_rounds_run,
    write_table,
)


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
