"""What every policy keeps to."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings

from harness.scheduling.placed.policies import POLICIES
from harness.scheduling.placed.policy import GpuServers, Rounds, WaitingJob
from tests.unit.harness.scheduling.placed.builders import SEED, servers_and_jobs

ROUNDS = Rounds(round_s=10.0, restart_s=1.0)
KEEP_SERVERS = sorted(POLICIES.keys() - {"pollux"})


@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=40)
@given(case=servers_and_jobs())
def test_workers_get_gpus_that_there_are(
    name: str, case: tuple[GpuServers, list[WaitingJob]]
) -> None:
    servers, jobs = case
    known = {each.id: each for each in jobs}
    for placement in POLICIES[name](servers, ROUNDS, SEED).placements(jobs, 100.0, 5):
        used = Counter(server for workers in placement.values() for server in workers)
        assert all(used[server] <= servers.gpus[server] for server in used)
        for name_of_job, workers in placement.items():
            assert len(workers) == known[name_of_job].workers


@pytest.mark.parametrize("name", KEEP_SERVERS)
@given(case=servers_and_jobs())
def test_whoever_runs_on_stays(name: str, case: tuple[GpuServers, list[WaitingJob]]) -> None:
    servers, jobs = case
    known = {each.id: each for each in jobs}
    for placement in POLICIES[name](servers, ROUNDS, SEED).placements(jobs, 100.0, 5):
        for name_of_job, workers in placement.items():
            assert known[name_of_job].servers in ((), workers)
