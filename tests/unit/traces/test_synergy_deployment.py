"""The shipped deployment trace has the published statistics, and is what its generator makes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from traces.formats.synergy_trace import read_synergy_trace
from traces.generators.synergy_deployment import MODELS, deployment_jobs, deployment_trace
from traces.sensitivity import builtin_sensitivities

EXAMPLE = Path(__file__).parents[3] / "examples" / "synergy-deploy.csv"
SEED = 3


def test_the_shipped_trace_is_what_the_generator_makes() -> None:
    jobs = deployment_jobs(builtin_sensitivities("synergy"), "v100", SEED)
    assert EXAMPLE.read_text() == "".join(f"{job}\n" for job in jobs)


@pytest.mark.parametrize("seed", [1, SEED])
def test_durations_and_models_are_those_of_the_published_trace(seed: int) -> None:
    sensitivities = builtin_sensitivities("synergy")
    jobs = list(deployment_jobs(sensitivities, "v100", seed))
    hours = np.array(
        [job.iterations * sensitivities.of(job.model, "v100").iteration_s / 3600 for job in jobs]
    )
    assert len(jobs) == 100
    assert Counter(job.model for job in jobs) == MODELS
    assert hours.mean() == pytest.approx(3.08, rel=0.01)
    assert np.median(hours) == pytest.approx(2.05, rel=0.01)
    assert hours.min() == pytest.approx(0.56, rel=0.01)
    assert hours.max() == pytest.approx(12.9, rel=0.01)
    assert [job.arrival_s for job in jobs] == sorted(job.arrival_s for job in jobs)


def test_another_seed_makes_another_trace() -> None:
    sensitivities = builtin_sensitivities("synergy")
    one, other = (list(deployment_jobs(sensitivities, "v100", seed)) for seed in (1, 2))
    assert one != other


def test_the_trace_has_the_jobs_of_the_file_and_knows_how_long_they_run() -> None:
    trace = deployment_trace(builtin_sensitivities("synergy"), "v100", SEED)
    same = ["job", "submit_s", "model", "num_gpus", "iterations"]
    pd.testing.assert_frame_equal(trace.jobs[same], read_synergy_trace(EXAMPLE).jobs[same])
    work_s = trace.jobs["iterations"] * trace.jobs["iteration_s"]
    np.testing.assert_allclose(trace.jobs["duration_s"], work_s)
    assert trace.jobs["duration_s"].mean() / 3600 == pytest.approx(3.08, rel=0.01)
    assert trace.source == "jobs as those of Synergy's deployment trace, on v100, seed 3"
