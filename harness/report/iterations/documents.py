"""The JSON documents of a run of iterations, as far as the report shows them."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from harness.report.documents import Document
from harness.report.thinning import Floats


class Times(Document):
    """Iteration times over all counted iterations of an arm, in seconds."""

    mean: float = Field(gt=0)
    p50: float
    p99: float


class SideTimes(Document):
    """What one side, the measurement or the prediction, says of an arm."""

    iteration_s: Times


class InvariantCheck(Document):
    """One check of the verdict."""

    name: str
    ok: bool
    value: float
    limit: float
    bound: str
    unit: str
    explanation: str


class VerdictRead(Document):
    """An arm's verdict; without invariants where it was never reached.

    unenforced: what the machine could not enforce, each in a clause.
    """

    status: Literal["valid", "suspect", "invalid"]
    invariants: list[InvariantCheck]
    unenforced: list[str] = Field(default_factory=list)


class CpuScaleRead(Document):
    """How small a CPU of the cluster is on the machine, where a mechanism divides them."""

    divisor: float = Field(gt=0)
    reason: str


class ScaleRead(Document):
    """How the cluster was made small enough for the machine."""

    rate_divisor: float = Field(gt=0)
    reason: str
    load_hop_bps: float
    budget_hop_bps: float = Field(gt=0)
    smallest_transfer_packets: float | None
    cpu: CpuScaleRead | None = None
    warnings: list[str]


class JobRead(Document):
    """A job and where its numbers come from."""

    job: str
    model: str
    provenance: str
    source: str


class TransportRead(Document):
    """What of an arm's transport a report shows."""

    ecn_threshold: float | None = None


class MadeRead(Document):
    """When a change of a link was made on one emulated network, since the start of the arm."""

    begun_s: float
    done_s: float


class EventRead(Document):
    """A change of a link; made: on each of the arm's emulated networks that it came to."""

    at_s: float
    link: tuple[str, str]
    change: Literal["rate", "down", "up", "latency"]
    value: float | None
    simulated: bool
    made: list[MadeRead]

    @property
    def link_name(self) -> str:
        """Both of its ends."""
        return " – ".join(self.link)

    @property
    def made_after_s(self) -> float:
        """From the time at which it was due until it was made everywhere."""
        return max(made.done_s for made in self.made) - self.at_s

    def is_at(self, port: str) -> bool:
        """Whether ``port``, an ``a->b``, is a direction of its link."""
        return set(port.split("->")) == set(self.link)


class ShareRead(Document):
    """What each worker of a job had of its server."""

    cpus: float
    memory_bytes: float


class ScheduledSide(Document):
    """How a scheduler's decisions went on one side. completion_s: from a job's arrival to its end;
    None where it did not end. shares: of each job, one after the other."""

    starts: int
    decisions: int
    candidates: int
    discarded_by_loops: int
    discarded_as_incomparable: int
    without_shifts: int
    completion_s: dict[str, float | None]
    shares: dict[str, list[ShareRead]] = Field(default_factory=dict)


class ScheduleRead(Document):
    """Who placed the jobs of an arm and divided their servers' CPUs, and how that went."""

    placement: str
    mechanism: str = "none"
    round_s: float
    measured: ScheduledSide | None
    predicted: ScheduledSide | None


class ArmRead(Document):
    """One arm with what was done of it; difference: prediction over measurement - 1.

    incomparable: why groups of contended links have no circle; there is no score then. clipped:
    jobs that ask for more than a link has, and the share of their bits that no circle has.
    schedule: where a scheduler placed its jobs.
    """

    name: str
    sharing: str
    dedicated: bool
    interleaver: str
    transport: TransportRead = TransportRead()
    events: list[EventRead] = Field(default_factory=list)
    measured: SideTimes | None
    predicted: SideTimes | None
    difference: dict[str, float] | None
    time_shifts_s: dict[str, float]
    score: float | None
    incomparable: list[str] = Field(default_factory=list)
    clipped: dict[str, float] = Field(default_factory=dict)
    verdict: VerdictRead | None
    scale: ScaleRead | None
    schedule: ScheduleRead | None = None


class Summary(Document):
    """summary.json.

    warnings: what of the scenario is probably a mistake, a sentence each.
    """

    scenario: str
    description: str
    seed: int
    interrupted: bool
    warnings: list[str] = Field(default_factory=list)
    jobs: list[JobRead]
    arms: list[ArmRead]


MOST_SLICES = 2**23
"""Of a circle, over all its jobs: more than any that is written has."""

Step = tuple[Annotated[int, Field(ge=1, le=MOST_SLICES)], float]


class Circle(Document):
    """One group of contended links: jobs that share the same ports.

    demand: of each job, steps around the unified circle, each so many of its slices long and with
    its rate in bit/s. applied_shifts_s: of each job, by arm.
    """

    jobs: list[str] = Field(min_length=1)
    ports: list[str] = Field(min_length=1)
    capacity_bps: float = Field(gt=0)
    perimeter_s: float = Field(gt=0)
    demand: list[list[Step]]
    applied_shifts_s: dict[str, list[float]]
    best_shifts_s: list[float]
    best_score: float

    @model_validator(mode="after")
    def _one_row_a_job(self) -> Circle:
        shifts_s = (self.best_shifts_s, *self.applied_shifts_s.values())
        if {len(self.jobs)} != {len(self.demand), *map(len, shifts_s)}:
            raise ValueError("a demand or a shift is missing for a job")
        slices = [sum(length for length, _ in steps) for steps in self.demand]
        if len(set(slices)) != 1 or not 0 < sum(slices) <= MOST_SLICES:
            raise ValueError("the demands have different numbers of slices, none or far too many")
        return self

    @cached_property
    def demand_bps(self) -> Floats:
        """Of each job in each slice, shape (jobs, slices)."""
        rows = []
        for steps in self.demand:
            lengths, rates_bps = zip(*steps, strict=True)
            rows.append(np.repeat(np.array(rates_bps, dtype=float), lengths))
        return np.stack(rows)
