"""Can an emulated run of rounds be trusted? The invariants of its processes beside its network's.

Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from emulator.rounds.evidence import CpuHeld, RunEvidence
from emulator.verdict import (
    QUOTA_LIMIT,
    Invariant,
    PortEvidence,
    Status,
    SwitchEvidence,
    headroom,
    network_invariants,
    none_of,
    steal,
)

LATENESS_LIMIT_S = 1e-3
CPU_ERROR_LIMIT = 0.02

_MOSTLY_WORKING = 0.5
"""Of a quota, what a pipeline must have to do before its CPU time says how exact it is."""


def rounds_invariants(
    ports: Sequence[PortEvidence], switches: Sequence[SwitchEvidence], evidence: RunEvidence
) -> tuple[Invariant, ...]:
    """All checks over one run."""
    return (*network_invariants(ports, switches), *process_invariants(evidence))


def process_invariants(evidence: RunEvidence) -> tuple[Invariant, ...]:
    """Those that can be checked while a run goes on."""
    ticks = max(evidence.cpu_ticks, 1)
    return (
        _no_worker_lost(evidence),
        headroom(evidence.idle_ticks / ticks),
        steal(evidence.steal_ticks / ticks),
        _lateness(evidence.lateness_s),
        _quotas(evidence.cpu),
        _cpu_used(evidence.cpu),
    )


def _no_worker_lost(evidence: RunEvidence) -> Invariant:
    return none_of(
        "no worker lost",
        evidence.workers_lost,
        "workers",
        "no worker ended or hung without having been told to",
        Status.SUSPECT,
    )


def _lateness(lateness_s: Sequence[float]) -> Invariant:
    late_s = float(np.percentile(lateness_s, 99)) if lateness_s else 0.0
    return Invariant(
        "timer lateness",
        late_s <= LATENESS_LIMIT_S,
        late_s,
        LATENESS_LIMIT_S,
        "99th percentile of how late a worker woke",
        Status.SUSPECT,
        unit="s",
    )


def by_job(held: Sequence[CpuHeld]) -> list[tuple[float, float]]:
    """(demanded, used), each as a share of the quota, over all rounds of each job."""
    demanded: dict[str, list[float]] = defaultdict(list)
    used: dict[str, list[float]] = defaultdict(list)
    for each in held:
        demanded[each.job].append(each.demanded_share)
        used[each.job].append(each.used_share)
    return [(float(np.mean(demanded[job])), float(np.mean(used[job]))) for job in demanded]


def _quotas(held: Sequence[CpuHeld]) -> Invariant:
    worst = max((used - 1 for _, used in by_job(held)), default=0.0)
    return Invariant(
        "CPU quotas",
        worst <= QUOTA_LIMIT,
        max(worst, 0.0),
        QUOTA_LIMIT,
        "no input pipeline used more CPU than its lease allowed (largest excess, over its rounds)",
        Status.INVALID,
    )


def _cpu_used(held: Sequence[CpuHeld]) -> Invariant:
    errors = [
        abs(used / demanded - 1) for demanded, used in by_job(held) if demanded > _MOSTLY_WORKING
    ]
    error = float(np.median(errors)) if errors else 0.0
    return Invariant(
        "CPU work",
        error <= CPU_ERROR_LIMIT,
        error,
        CPU_ERROR_LIMIT,
        "preparing samples took the CPU time that it should (median error over jobs)",
        Status.SUSPECT,
    )
