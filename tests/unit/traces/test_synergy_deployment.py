"""The shipped deployment trace has the published statistics, and is what its generator makes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from traces.generators.synergy_deployment import MODELS, deployment_jobs
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
