"""The engine with the published simulator's semantics, on a frame of jobs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from harness.job_table import JobTable
from harness.scheduling.demands import JobKind, build_demands
from harness.simulation.round_cluster import RoundSemantics
from tests.unit.harness.plain_published_simulator import GB, ROUND_S, SYNERGY
from tests.unit.harness.scheduling.packing.packing_cases import Servers
from tests.unit.harness.scheduling_builders import Run, run_jobs
from traces.server_pool import ServerGroup, ServerPool

PUBLISHED = RoundSemantics(float(ROUND_S), "round-end", "whole-iterations")
POLICIES = {"fifo": "fifo", "srtf": "srtf-published", "las": "las", "ftf": "ftf-published"}
MECHANISMS = {"proportional": "proportional", "tune": "tune-published"}
"""The published simulator's names, and ours."""


def run_published(
    jobs: pd.DataFrame,
    servers: Servers,
    policy: str,
    mechanism: str,
    priority_after_s: float | None = None,
    measured: slice = slice(None),
) -> Run:
    """jobs: columns model, arrival_s, iterations, gpus, in order of arrival."""
    memory_bytes = servers.memory * GB
    pool = ServerPool((ServerGroup(servers.count, servers.gpus, servers.cpus, memory_bytes),))
    pairs = list(zip(jobs["model"], jobs["gpus"], strict=True))
    kinds = sorted(set(pairs))
    demands = build_demands([JobKind(*kind) for kind in kinds], SYNERGY, pool, "two-point")
    table = JobTable.of(
        jobs["arrival_s"].to_numpy(dtype=float),
        np.array([kinds.index(pair) for pair in pairs], dtype=np.int64),
        jobs["gpus"].to_numpy(dtype=np.int64),
        jobs["iterations"].to_numpy(dtype=float),
    )
    counts = np.zeros(len(table), dtype=np.bool_)
    counts[measured] = True
    return run_jobs(
        table,
        demands,
        pool,
        POLICIES[policy],
        MECHANISMS[mechanism],
        PUBLISHED,
        priority_after_s=priority_after_s,
        measured=counts,
        keeps_leases=False,
    )
