"""CASSINI's dynamic trace and its snapshots as traces of jobs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from traces.generators.cassini_jobs import DATA_PARALLEL, alone_s, dynamic_trace
from traces.generators.cassini_snapshots import SNAPSHOTS, Snapshot, snapshot_trace

SERVERS = 24


def test_a_dynamic_trace_has_jobs_that_fill_the_servers_and_two_that_come_later() -> None:
    trace = dynamic_trace(3, 2)
    jobs = trace.jobs
    assert jobs["submit_s"].tolist() == [0.0, 0.0, 0.0, 0.0, 5.0, 6.0]
    first, late = jobs.head(4), jobs.tail(2)
    assert first["num_gpus"].sum() == 18 * 2
    assert first["model"].isin(DATA_PARALLEL).all()
    assert late["model"].tolist() == ["resnet50", "dlrm"]
    assert jobs["num_gpus"].sum() <= SERVERS * 2
    assert jobs["job"].tolist() == [f"{model}-{n}" for n, model in enumerate(jobs["model"])]
    assert trace.source == "CASSINI's dynamic jobs, 2 GPUs a server, drawn batches, seed 3"


def test_a_job_runs_for_what_its_iterations_take_alone() -> None:
    trace = dynamic_trace(3)
    (note,) = trace.notes
    said = note.removeprefix("samples per GPU and iteration: ").split(", ")
    batches = {name: int(batch) for name, batch in (each.split(" ") for each in said)}
    for job in trace.jobs.itertuples():
        alone = alone_s(job.model, job.num_gpus, batches[job.job])
        assert job.iteration_s == alone
        assert job.duration_s == pytest.approx(alone * job.iterations)
    durations_s = trace.jobs["duration_s"]
    assert durations_s.head(4).between(19, 41).all()
    assert durations_s.tail(2).between(14, 26).all()


def test_iteration_times_of_jobs_that_meet_are_nearly_the_same() -> None:
    iteration_s = dynamic_trace(3, meets=True).jobs["iteration_s"]
    assert iteration_s.max() / iteration_s.min() < 1.05
    spread = dynamic_trace(3).jobs["iteration_s"]
    assert spread.max() / spread.min() > 1.05


def test_the_same_seed_makes_the_same_jobs() -> None:
    pd.testing.assert_frame_equal(dynamic_trace(5).jobs, dynamic_trace(5).jobs)
    assert not dynamic_trace(5).jobs.equals(dynamic_trace(6).jobs)


@pytest.mark.parametrize("snapshot", SNAPSHOTS, ids=lambda each: each.id)
def test_the_jobs_of_a_snapshot_start_together_and_nearly_meet(snapshot: Snapshot) -> None:
    trace = snapshot_trace(snapshot, 3, 50)
    jobs = trace.jobs
    assert sorted(jobs["model"]) == sorted(model for model, _ in snapshot.jobs)
    assert (jobs["num_gpus"] == 2).all()
    assert (jobs["iterations"] == 50).all()
    assert jobs["submit_s"].is_monotonic_increasing
    assert jobs["submit_s"].max() < 0.3
    np.testing.assert_allclose(jobs["duration_s"], 50 * jobs["iteration_s"])
    assert jobs["iteration_s"].max() / jobs["iteration_s"].min() < 1.02
    assert snapshot.id in trace.source
