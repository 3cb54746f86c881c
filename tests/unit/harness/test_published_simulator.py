"""With the published semantics, every job ends when a naive simulator of them says.

That simulator is written from a description of the published one.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.unit.harness.plain_published_simulator import (
    ROUND_S,
    SYNERGY,
    PublishedJob,
    PublishedSimulator,
)
from tests.unit.harness.published_runs import MECHANISMS, POLICIES, run_published
from tests.unit.harness.scheduling.packing.packing_cases import Servers


def our_jobs(seed: int, count: int, sizes: list[int]) -> pd.DataFrame:
    """Jobs of the ten models, of half an hour to ten hours, enough to fill the servers."""
    rng = np.random.default_rng(seed)
    models = rng.choice(SYNERGY.models, count)
    iteration_s = np.array([SYNERGY.of(model, "v100").iteration_s for model in models])
    gpus = rng.choice(sizes, count)
    gap_s = 8_000 * gpus.mean() / 32
    return pd.DataFrame(
        {
            "model": models,
            "arrival_s": np.ceil(rng.exponential(gap_s, count)).cumsum(),
            "iterations": (60 * 10 ** rng.uniform(1.5, 2.8, count) / iteration_s).astype(int),
            "gpus": gpus,
        }
    )


@pytest.mark.parametrize("sizes", [[1], [1, 1, 2, 4, 8, 12]])
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("policy", POLICIES)
def test_every_job_ends_as_in_a_naive_simulator(
    policy: str, mechanism: str, sizes: list[int]
) -> None:
    servers = Servers(4, 8, cpus=24, memory=500)
    jobs = our_jobs(7, 250, sizes)
    columns = jobs["arrival_s"], jobs["model"], jobs["gpus"], jobs["iterations"]
    plain = PublishedSimulator(servers, policy, tune=mechanism == "tune")
    expected = plain.finish_s([PublishedJob(*row) for row in zip(*columns, strict=True)])
    table = run_published(jobs, servers, policy, mechanism).table
    np.testing.assert_array_equal(table.finish_s, expected)
    waited_s = table.finish_s - table.submit_s - table.attained_s
    assert np.count_nonzero(waited_s > 5 * ROUND_S) > 10


def test_so_it_does_with_the_guard_against_starvation() -> None:
    """After six hours; without it, the result would be another."""
    servers = Servers(2, 4, cpus=12, memory=250)
    jobs = our_jobs(3, 200, [1, 2])
    jobs["arrival_s"] *= 2
    columns = jobs["arrival_s"], jobs["model"], jobs["gpus"], jobs["iterations"]
    plain = PublishedSimulator(servers, "srtf", tune=True, priority_after_s=6 * 3600)
    expected = plain.finish_s([PublishedJob(*row) for row in zip(*columns, strict=True)])
    guarded = run_published(jobs, servers, "srtf", "tune", priority_after_s=6 * 3600)
    np.testing.assert_array_equal(guarded.table.finish_s, expected)
    assert (run_published(jobs, servers, "srtf", "tune").table.finish_s != expected).any()
