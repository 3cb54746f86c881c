"""The tables of a run of rounds. Simulated and emulated runs have the same ones."""

from __future__ import annotations

import pyarrow as pa

JOBS = pa.schema(
    [
        ("arm", pa.string()),
        ("seed", pa.int64()),
        ("job", pa.string()),
        ("model", pa.string()),
        ("num_gpus", pa.int64()),
        ("iterations", pa.float64()),
        ("alone_s", pa.float64()),
        ("submit_s", pa.float64()),
        ("start_s", pa.float64()),
        ("finish_s", pa.float64()),
        ("jct_s", pa.float64()),
        ("attained_s", pa.float64()),
        ("leases", pa.int64()),
        ("requeued", pa.int64()),
        ("counted", pa.bool_()),
        ("state", pa.string()),
    ]
)
"""jobs.parquet: one row a job, arm and seed; times in seconds since the trace began.

alone_s: duration at the fair share, without waiting. start_s: when it first held GPUs. jct_s: from
submission to end. attained_s: time in which it held its GPUs. leases: how often it was started.
requeued: how often its workers were lost, and it went on from its last checkpoint. counted: whether
the arm's figures rest on it. state: finished; out-of-memory or failed, which is the end of a job
that is not done; or, when the run ended, running, waiting or not arrived. Times that there are none
of are null.
"""

LEASE_USE = pa.schema(
    [
        ("cpus_enforced", pa.float64()),
        ("cpus_used", pa.float64()),
        ("memory_enforced_bytes", pa.float64()),
        ("memory_peak_bytes", pa.float64()),
        ("throttled_s", pa.float64()),
        ("cpu_demanded_s", pa.float64()),
        ("hits", pa.int64()),
        ("misses", pa.int64()),
    ]
)
"""Columns of ROUNDS that are null where a run is simulated, or where the kernel does not say.

Unscaled. cpus_enforced, memory_enforced_bytes: what the lease was held to. cpus_used: mean over the
lease. throttled_s: for how long its CPU quota stopped it. cpu_demanded_s: CPU time of what it
prepared. hits, misses: items that its cache had, and had not.
"""

ROUNDS = pa.schema(
    [
        ("arm", pa.string()),
        ("seed", pa.int64()),
        ("job", pa.string()),
        ("server", pa.int64()),
        ("gpus", pa.float64()),
        ("cpus", pa.float64()),
        ("memory_bytes", pa.float64()),
        ("storage_bytes_per_s", pa.float64()),
        ("from_s", pa.float64()),
        ("until_s", pa.float64()),
        ("held_to_fair_share", pa.bool_()),
        *LEASE_USE,
    ]
)
"""rounds.parquet: one row a lease and server, in the order in which leases ended.

A lease lasts as many rounds as a job holds exactly the same. server: from 0, in the order of the
cluster's groups; -1 for all of them as one machine. gpus: whole ones, but for opt's.
held_to_fair_share: whether the job wished for more CPU, memory or storage bandwidth than it got.
"""

STEPS = pa.schema(
    [
        ("arm", pa.string()),
        ("seed", pa.int64()),
        ("job", pa.string()),
        ("server", pa.int64()),
        ("start_s", pa.float64()),
        ("end_s", pa.float64()),
        ("stall_s", pa.float64()),
        ("iterations", pa.float64()),
    ]
)
"""iterations.parquet of an emulation: one row an emulated step of a worker, in order of rounds.

Times in seconds since the trace began. stall_s: that the worker's GPUs waited for data before the
step. iterations: of the trace, that a whole step stands for.
"""

LINKS = pa.schema(
    [
        ("arm", pa.string()),
        ("seed", pa.int64()),
        ("port", pa.string()),
        ("t_s", pa.float64()),
        ("rate_bps", pa.float64()),
        ("capacity_bps", pa.float64()),
        ("backlog_bytes", pa.float64()),
        ("dropped_packets", pa.int64()),
    ]
)
"""links.parquet of an emulation: the load of a port between its row before and ``t_s``.

Unscaled, as in the cluster; dropped packets are those of the emulation.
"""
