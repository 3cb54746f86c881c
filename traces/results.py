"""The rows of a run's tables. Simulated and emulated runs have the same ones."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class IterationRow:
    """One iteration of one job; times in seconds since the arm began, in unscaled units.

    iteration_s runs from the end of the iteration before (the first from its own start), so that a
    wait for the time-shift's grid is part of it. counted: after the warm-up.
    """

    arm: str
    job: str
    iteration: int
    counted: bool
    start_s: float
    communication_start_s: float
    end_s: float
    iteration_s: float


@dataclass(frozen=True)
class JobRow:
    """One job of one arm, over its counted iterations."""

    arm: str
    job: str
    model: str
    workers: int
    iterations: int
    mean_iteration_s: float
    p50_iteration_s: float
    p99_iteration_s: float
    time_shift_s: float
    adjustments: int


@dataclass(frozen=True)
class LinkRow:
    """Load of one port between the sample before and ``t_s``.

    job is None where a queue is shared and its counters do not tell jobs apart.
    """

    arm: str
    network: str
    port: str
    job: str | None
    t_s: float
    rate_bps: float
    capacity_bps: float
    backlog_bytes: float
    dropped_packets: int
