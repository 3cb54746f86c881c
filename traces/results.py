"""The rows of a run's tables. Simulated and emulated runs have the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class IterationSpan:
    """When an iteration began, first sent, and ended, on whatever clock it was taken."""

    start_s: float
    communication_start_s: float
    end_s: float


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

    job is None where a queue is shared and its counters do not tell jobs apart. marked_packets:
    with ECN, here; None where they should have been and nothing could. Packets are those of the
    emulation, and none where it is simulated.
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
    sent_packets: int = 0
    marked_packets: int | None = 0


@dataclass(frozen=True)
class EventRow:
    """A change of a link on one network: when it was due, and when it was made, from and to."""

    arm: str
    network: str
    event: str
    at_s: float
    begun_s: float
    done_s: float


def iteration_rows(
    arm: str,
    job: str,
    spans: Sequence[IterationSpan],
    warmup: int,
    anchor_s: float,
    first_iteration: int = 0,
) -> list[IterationRow]:
    """Rows of a job's iterations in order, as it did them without a pause.

    warmup: of them. anchor_s: when the arm began, on their clock. first_iteration: how many the job
    had done before.
    """
    rows = []
    previous_end_s = spans[0].start_s if spans else anchor_s
    for number, span in enumerate(spans):
        rows.append(
            IterationRow(
                arm=arm,
                job=job,
                iteration=first_iteration + number,
                counted=number >= warmup,
                start_s=span.start_s - anchor_s,
                communication_start_s=span.communication_start_s - anchor_s,
                end_s=span.end_s - anchor_s,
                iteration_s=span.end_s - previous_end_s,
            )
        )
        previous_end_s = span.end_s
    return rows
