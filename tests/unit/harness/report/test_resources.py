"""What the report of a run of rounds shows of resources, and of who holds which GPU when."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from harness.report.figures.figure import SHARED
from harness.report.rounds.leases import MOST_LEASES
from tests.unit.harness.report.page import Page, page_of
from tests.unit.harness.report.rounds_run import (
    ARMS,
    HOUR_S,
    NUM_GPUS,
    SEEDS,
    arm,
    emulated_document,
    emulated_summary,
    job_rows,
    jobs_document,
    lease_rows,
    seed_document,
    summary,
    write_both_sides,
    write_rounds_run,
    write_table,
)

TIMELINE = "run1_gpu-timeline_proportional.csv"
SERVERS = 64


def test_cpus_and_memory_given_to_jobs_are_shares_of_the_cluster(tmp_path: Path) -> None:
    found = page_of(write_rounds_run(tmp_path)).data()["run1_shares.csv"]
    assert set(found["arm"]) == set(ARMS)
    shares = {name: set(own["share"]) for name, own in found.groupby("resource")}
    assert shares == {"cpus": {3 / 24}, "memory_bytes": {60 / 500}}


def test_storage_is_shown_where_it_is_limited(tmp_path: Path) -> None:
    document = summary()
    for each in document["arms"]:
        each["cluster"][0]["storage_bytes_per_s"] = 2e9
    write_rounds_run(tmp_path, document)
    write_table(tmp_path, "rounds", lease_rows().assign(storage_bytes_per_s=5e8))
    found = page_of(tmp_path).data()["run1_shares.csv"]
    assert set(found.loc[found["resource"] == "storage_bytes_per_s", "share"]) == {0.25}


def test_a_timeline_has_a_bar_for_each_gpu_of_each_lease(tmp_path: Path) -> None:
    page = page_of(write_rounds_run(tmp_path))
    found = page.data()[TIMELINE]
    early, late = (found[found["from_s"] == at_h * HOUR_S] for at_h in (0, 50))
    assert sorted(early["gpu"]) == list(range(NUM_GPUS))
    assert sorted(late["gpu"]) == list(range(NUM_GPUS // 2))
    assert set(late["until_s"]) == {100 * HOUR_S}
    assert "jobs hold these 8 for 75.0 % of the time" in page.text
    assert "Drawn are 2 leases of 2, those on all servers from 0 s to 100 h." in page.text


def large_run(directory: Path, first_counted_h: int = 0) -> Page:
    """6,400 jobs, an hour long each, in turn on the first GPU of each of 64 servers."""
    count = 100 * SERVERS
    number = np.arange(count)
    hour = number // SERVERS
    is_counted = hour >= first_counted_h
    jobs_read = jobs_document(ran=count, counted=int(is_counted.sum()))
    runs = [seed_document(SEEDS[0], 1.0, jobs=jobs_read)]
    document = summary(arms=[arm("proportional", 1.0, runs=runs)])
    document["arms"][0]["cluster"][0] |= {"count": SERVERS}
    write_rounds_run(directory, document)
    lease = lease_rows().iloc[:1].drop(columns=["job", "server", "from_s", "until_s", "gpus"])
    leases = pd.DataFrame(
        {
            "job": [f"job-{i}" for i in number],
            "server": number % SERVERS,
            "gpus": 1.0,
            "from_s": hour * HOUR_S,
            "until_s": (hour + 1) * HOUR_S,
        }
    )
    write_table(directory, "rounds", leases.merge(lease, how="cross"))
    jobs = pd.DataFrame(
        {
            "job": leases["job"],
            "model": [f"model-{i % 9}" for i in number],
            "submit_s": leases["from_s"],
            "counted": is_counted,
        }
    )
    write_table(directory, "jobs", jobs.merge(job_rows().iloc[:1].drop(columns=jobs), how="cross"))
    return page_of(directory)


def test_a_large_run_shows_all_of_a_time_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    page = large_run(tmp_path)
    found = page.data()[TIMELINE]
    assert len(found) == MOST_LEASES
    assert set(found["server"]) == {0, 1, 2, 3}
    by_hour = found.groupby("from_s").size()
    assert set(by_hour) == {4}
    assert by_hour.index.tolist() == [hour * HOUR_S for hour in range(MOST_LEASES // 4)]
    assert (
        "Drawn are 300 leases of 6 400, those on the first 4 of 64 servers from 0 s to 75 h."
        in page.text
    )


def test_a_timeline_begins_with_the_jobs_that_count(tmp_path: Path) -> None:
    page = large_run(tmp_path, first_counted_h=20)
    assert page.data()[TIMELINE]["from_s"].min() == 20 * HOUR_S
    assert "from 20 h to 95 h" in page.text


def test_models_beyond_the_colours_are_told_as_others(tmp_path: Path) -> None:
    (figure,) = [
        each for each in large_run(tmp_path).figures if each["layout"].get("barmode") == "overlay"
    ]
    assert len(figure["data"]) == 7
    assert (figure["data"][-1]["name"], figure["data"][-1]["marker"]["color"]) == (
        "other models",
        SHARED,
    )
    go.Figure(figure)


def test_a_model_has_the_same_colour_in_every_arm(tmp_path: Path) -> None:
    directory = write_rounds_run(tmp_path)
    leases = lease_rows()
    jobs = np.where(leases["arm"] == "tune", "job-1", "job-0")  # lstm, and alexnet
    write_table(directory, "rounds", leases.assign(job=jobs))
    first, second = [
        each["data"][0]
        for each in page_of(directory).figures
        if each["layout"].get("barmode") == "overlay"
    ]
    assert (first["name"], second["name"]) == ("alexnet", "lstm")
    assert first["marker"]["color"] != second["marker"]["color"]


def test_a_cluster_that_counts_as_one_machine_has_no_timeline(tmp_path: Path) -> None:
    directory = write_rounds_run(tmp_path)
    write_table(directory, "rounds", lease_rows().assign(server=-1))
    page = page_of(directory)
    assert TIMELINE not in page.data()
    assert "No job was on the first servers with proportional and tune" in page.text


@pytest.mark.parametrize(("gpus", "rows"), [(0.5, 16), (1.0, 8)])
def test_fractions_of_gpus_have_rows_of_their_own(tmp_path: Path, gpus: float, rows: int) -> None:
    directory = write_rounds_run(tmp_path)
    lease = lease_rows().iloc[[0]].assign(gpus=gpus)
    parts = [lease.assign(job=f"job-{i}") for i in range(round(NUM_GPUS / gpus))]
    write_table(directory, "rounds", pd.concat(parts))
    page = page_of(directory)
    assert page.data()[TIMELINE]["gpu"].nunique() == rows
    assert ("A fraction of a GPU has a row of its own." in page.text) is (gpus < 1)


def test_an_emulation_shows_the_invariants_that_its_verdict_rests_on(tmp_path: Path) -> None:
    check = {
        "name": "steal",
        "ok": False,
        "value": 0.03,
        "limit": 0.02,
        "explanation": "share of CPU time that the hypervisor gave to others",
        "bound": "at most",
        "unit": "share",
    }
    verdict = {"status": "suspect", "invariants": [check], "unenforced": ["no memory limits"]}
    document = emulated_summary()
    for each in document["arms"]:
        each["emulated"] = emulated_document(each["jct_mean_s"]["value"], verdict=verdict)
    text = page_of(write_both_sides(tmp_path, document)).text
    assert text.count("share of CPU time that the hypervisor gave to others") == len(ARMS)
    assert text.count("Not enforced: no memory limits.") == 1
