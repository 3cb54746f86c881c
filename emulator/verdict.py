"""Can this emulated run be trusted? Invariants that hold whatever the workload. Pure.

(Handigol et al., CoNEXT'12, gave network emulation the idea.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from netshaper.shaping import FRAME_BYTES

CALIBRATION_LIMIT = 0.02
IDLE_LIMIT = 0.10
STEAL_LIMIT = 0.02
LATENESS_LIMIT = 0.01
QUOTA_LIMIT = 0.05


class Status(StrEnum):
    """valid: trust it. suspect: the box was disturbed, repeat. invalid: the result is wrong."""

    VALID = "valid"
    SUSPECT = "suspect"
    INVALID = "invalid"


@dataclass(frozen=True)
class Invariant:
    """One check: its measured value beside its limit, and how bad its failure is.

    bound: on which side of the limit the value has to be. unit: ``share``, ``bytes``, ...
    """

    name: str
    ok: bool
    value: float
    limit: float
    explanation: str
    on_failure: Status
    bound: Literal["at most", "at least", "exactly"] = "at most"
    unit: str = "share"


@dataclass(frozen=True)
class Verdict:
    """The worst of the failed invariants decides.

    unenforced: what this machine or this user could not enforce, each in a clause; no failure.
    """

    status: Status
    invariants: tuple[Invariant, ...]
    unenforced: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[Invariant, ...]:
        """The invariants that did not hold."""
        return tuple(invariant for invariant in self.invariants if not invariant.ok)


def judge(invariants: Sequence[Invariant], unenforced: Sequence[str] = ()) -> Verdict:
    """The verdict over ``invariants``."""
    failures = {invariant.on_failure for invariant in invariants if not invariant.ok}
    status = (
        Status.INVALID
        if Status.INVALID in failures
        else Status.SUSPECT
        if Status.SUSPECT in failures
        else Status.VALID
    )
    return Verdict(status, tuple(invariants), tuple(unenforced))


@dataclass(frozen=True)
class RateChange:
    """A port got the rate ``rate_bps`` at some moment between the two."""

    begun_s: float
    done_s: float
    rate_bps: float


@dataclass(frozen=True)
class PortEvidence:
    """What one port did in a run: calibration, and its samples in order of time.

    rate_bps: at first, when it was calibrated. burst_bytes: the largest it ever had.
    before_s, after_s, sent_bytes: shape (samples,); a count, cumulative, was read between the two.
    """

    port: str
    rate_bps: float
    burst_bytes: float
    calibrated_bps: float
    before_s: Sequence[float]
    after_s: Sequence[float]
    sent_bytes: Sequence[int]
    dropped_packets: int
    unclassified_bytes: int
    changes: Sequence[RateChange] = ()


@dataclass(frozen=True)
class SwitchEvidence:
    """Bytes that entered a switch and what became of them."""

    switch: str
    received_bytes: int
    sent_bytes: int
    dropped_packets: int
    backlog_bytes: int


@dataclass(frozen=True)
class BoxEvidence:
    """Shares of all CPU time during the run.

    lateness: of every timed send, as a share of the median iteration of its job.
    """

    idle_share: float
    steal_share: float
    lateness: Sequence[float]
    iterations_wanted: int
    iterations_measured: int


def invariants_of(
    ports: Sequence[PortEvidence], switches: Sequence[SwitchEvidence], box: BoxEvidence
) -> tuple[Invariant, ...]:
    """All checks over one arm's evidence."""
    return (
        _completeness(box),
        *network_invariants(ports, switches),
        headroom(box.idle_share),
        steal(box.steal_share),
        _lateness(box),
    )


def network_invariants(
    ports: Sequence[PortEvidence], switches: Sequence[SwitchEvidence]
) -> tuple[Invariant, ...]:
    """The checks of a network, whatever sends over it."""
    return (
        _calibration(ports),
        _rate_bound(ports),
        _no_drops(ports),
        _conservation(switches),
        _classified(ports),
    )


def _completeness(box: BoxEvidence) -> Invariant:
    return Invariant(
        "completeness",
        box.iterations_measured == box.iterations_wanted,
        box.iterations_measured,
        box.iterations_wanted,
        "all iterations were measured",
        Status.SUSPECT,
        bound="exactly",
        unit="iterations",
    )


def _calibration(ports: Sequence[PortEvidence]) -> Invariant:
    worst = max((abs(p.calibrated_bps / p.rate_bps - 1) for p in ports), default=0.0)
    return Invariant(
        "link calibration",
        worst <= CALIBRATION_LIMIT,
        worst,
        CALIBRATION_LIMIT,
        "before the run every port drained at its rate (largest relative error)",
        Status.SUSPECT,
    )


def rate_excess_bytes(port: PortEvidence) -> float:
    """Most bytes that any window between two samples sent beyond rates x window + bucket.

    A window is taken as long as its two readings allow, so that a late reading is never an excess.
    One pass covers every pair of samples (Kadane's scan over the cumulative excess).
    """
    if len(port.sent_bytes) < 2:
        return 0.0
    sent = np.asarray(port.sent_bytes, dtype=float)
    at_first = sent - _allowed_bytes(port, np.asarray(port.before_s))
    at_last = sent - _allowed_bytes(port, np.asarray(port.after_s))
    lowest_before = np.minimum.accumulate(at_first)
    return float(np.max(at_last[1:] - lowest_before[:-1]) - port.burst_bytes)


def _allowed_bytes(port: PortEvidence, times_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the rates in force let through by each of ``times_s``, from some moment on.

    While a rate is being changed the greater of the two counts.
    """
    rates = np.array([port.rate_bps, *(change.rate_bps for change in port.changes)])
    switches = [
        change.begun_s if raised else change.done_s
        for change, raised in zip(port.changes, np.diff(rates) > 0, strict=True)
    ]
    starts = np.array([0.0, *switches])
    at_starts = np.concatenate(([0.0], np.cumsum(np.diff(starts) * rates[:-1])))
    index = np.maximum(np.searchsorted(starts, times_s, side="right") - 1, 0)
    return np.asarray((at_starts[index] + (times_s - starts[index]) * rates[index]) / 8)


def _rate_bound(ports: Sequence[PortEvidence]) -> Invariant:
    # HTB lets a last frame through on the remains of a bucket, and reads its clock before a
    # dequeue.
    worst = max((rate_excess_bytes(p) for p in ports), default=0.0)
    return Invariant(
        "rate bound",
        worst <= 2 * FRAME_BYTES,
        max(worst, 0.0),
        2 * FRAME_BYTES,
        "in no window did a port send more than rate x time + buckets (largest excess, bytes)",
        Status.INVALID,
        unit="bytes",
    )


def _no_drops(ports: Sequence[PortEvidence]) -> Invariant:
    dropped = sum(port.dropped_packets for port in ports)
    return none_of("no drops", dropped, "packets", "no port of the lossless fabric dropped")


def _conservation(switches: Sequence[SwitchEvidence]) -> Invariant:
    missing = max(
        (
            0 if s.dropped_packets else abs(s.received_bytes - s.sent_bytes - s.backlog_bytes)
            for s in switches
        ),
        default=0,
    )
    return none_of(
        "byte conservation",
        missing,
        "bytes",
        "every byte that entered a switch left it or is queued in it (largest difference, bytes)",
    )


def _classified(ports: Sequence[PortEvidence]) -> Invariant:
    stray = sum(port.unclassified_bytes for port in ports)
    return none_of("classified", stray, "bytes", "no bytes but the jobs' crossed a port")


def none_of(
    name: str, count: int, unit: str, explanation: str, on_failure: Status = Status.INVALID
) -> Invariant:
    """Whether there is none of what was counted."""
    return Invariant(name, count == 0, count, 0, explanation, on_failure, unit=unit)


def headroom(idle_share: float) -> Invariant:
    """Whether the box had CPU to spare."""
    return Invariant(
        "CPU headroom",
        idle_share >= IDLE_LIMIT,
        idle_share,
        IDLE_LIMIT,
        "share of CPU time that stayed idle",
        Status.SUSPECT,
        bound="at least",
    )


def steal(steal_share: float) -> Invariant:
    """Whether other machines on the same hardware took CPU from the box."""
    return Invariant(
        "steal",
        steal_share <= STEAL_LIMIT,
        steal_share,
        STEAL_LIMIT,
        "share of CPU time that the hypervisor gave to others",
        Status.SUSPECT,
    )


def _lateness(box: BoxEvidence) -> Invariant:
    share = float(np.percentile(box.lateness, 99)) if len(box.lateness) else 0.0
    return Invariant(
        "timer lateness",
        share <= LATENESS_LIMIT,
        share,
        LATENESS_LIMIT,
        "99th percentile of how late a timed send was, as a share of its job's iteration",
        Status.SUSPECT,
    )
