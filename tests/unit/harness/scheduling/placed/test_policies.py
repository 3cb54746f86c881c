"""What every policy keeps to."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given

from harness.scheduling.placed.policies import POLICIES
from harness.scheduling.placed.policy import GpuServers, WaitingJob
from tests.unit.harness.scheduling.placed.builders import SEED, servers_and_jobs


@pytest.mark.parametrize("name", POLICIES)
@given(case=servers_and_jobs())
def test_workers_get_gpus_that_there_are(
    name: str, case: tuple[GpuServers, list[WaitingJob]]
) -> None:
    servers, jobs = case
    known = {each.id: each for each in jobs}
    for placement in POLICIES[name](servers, SEED).placements(jobs, 100.0, 5):
        used = Counter(server for workers in placement.values() for server in workers)
        assert all(used[server] <= servers.gpus[server] for server in used)
        for name_of_job, workers in placement.items():
            assert len(workers) == known[name_of_job].workers
            assert known[name_of_job].servers in ((), workers)
