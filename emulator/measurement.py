"""What one arm's emulation gave, in unscaled units, and how it is gathered. Pure."""

from __future__ import annotations

import functools
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from emulator.coordinator import JobRun
from emulator.evidence import (
    PortSamples,
    link_rows,
    port_evidence,
    samples_by_port,
    switch_evidence,
)
from emulator.input_groups import CpuUse
from emulator.link_changer import AppliedChange
from emulator.messages import Message
from emulator.networks import PlannedNetwork
from emulator.scale import ScalePlan
from emulator.verdict import (
    QUOTA_LIMIT,
    BoxEvidence,
    Invariant,
    PortEvidence,
    Status,
    SwitchEvidence,
    Verdict,
    invariants_of,
    judge,
    none_of,
)
from traces.arm import Arm
from traces.results import EventRow, IterationRow, LinkRow, iteration_rows


@dataclass(frozen=True)
class ArmMeasurement:
    """One arm as it was measured. adjustments: of the time-shift, by job.

    sample_interval_s: between two samples of a port. sampler_cpu_share: of one core. cpu: of input
    pipelines, on this box.
    """

    arm: str
    iterations: list[IterationRow]
    links: list[LinkRow]
    adjustments: dict[str, int]
    verdict: Verdict
    interrupted: bool
    sample_interval_s: float
    sampler_cpu_share: float
    events: list[EventRow] = field(default_factory=list)
    cpu: Sequence[CpuUse] = ()


@dataclass(frozen=True)
class NetworkRecord:
    """What was watched on one network: rates before the run, the sampler's report of it.

    applied: what was changed on it meanwhile.
    """

    network: PlannedNetwork
    calibrated_bps: Mapping[str, float]
    report: Message
    applied: Sequence[AppliedChange] = ()

    @functools.cached_property
    def samples(self) -> PortSamples:
        """The report's samples by port."""
        return samples_by_port(self.report["samples"])


@dataclass(frozen=True)
class JobsRecord:
    """What the jobs of an arm did. wanted: iterations; late_starts: of jobs whose workers were not
    ready when they were due. cpu: what their input pipelines used."""

    iterations: list[IterationRow]
    adjustments: dict[str, int]
    lateness_s: Mapping[str, Sequence[float]]
    wanted: int
    late_starts: int = 0
    cpu: Sequence[CpuUse] = ()


def record_of(arm: Arm, runs: Sequence[JobRun], anchor_s: float) -> JobsRecord:
    """Of jobs that all ran from the start of the arm to their own end."""
    return JobsRecord(
        iterations=[
            row
            for run in runs
            for row in iteration_rows(
                arm.name, run.job, run.measured, arm.warmup_iterations, anchor_s
            )
        ],
        adjustments={run.job: run.agent.adjustments if run.agent else 0 for run in runs},
        lateness_s=lateness_by_job(runs),
        wanted=sum(arm.iterations_of(job) for job in arm.jobs),
    )


def gather(
    arm: Arm,
    jobs: JobsRecord,
    records: Sequence[NetworkRecord],
    cpu_shares: tuple[float, float],
    anchor_s: float,
    scale: ScalePlan,
    *,
    interrupted: bool,
    unenforced: Sequence[str] = (),
) -> ArmMeasurement:
    """Put a finished arm together. cpu_shares: (idle, steal) while it ran."""
    return ArmMeasurement(
        arm=arm.name,
        iterations=jobs.iterations,
        links=[
            row
            for record in records
            for row in link_rows(
                arm.name,
                record.network.name,
                record.network.plan,
                record.samples,
                anchor_s,
                scale.rate_divisor,
                record.applied,
                skip_idle=arm.is_scheduled,
            )
        ],
        events=[
            EventRow(
                arm=arm.name,
                network=each.network,
                event=str(each.change.event),
                at_s=each.change.event.at_s,
                begun_s=each.begun_s - anchor_s,
                done_s=each.done_s - anchor_s,
            )
            for record in records
            for each in record.applied
        ],
        adjustments=jobs.adjustments,
        verdict=_verdict(arm, jobs, records, cpu_shares, unenforced),
        interrupted=interrupted,
        cpu=jobs.cpu,
        sample_interval_s=max(record.report["interval_s"] for record in records),
        sampler_cpu_share=sum(record.report["cpu_share"] for record in records),
    )


def _verdict(
    arm: Arm,
    jobs: JobsRecord,
    records: Sequence[NetworkRecord],
    cpu_shares: tuple[float, float],
    unenforced: Sequence[str],
) -> Verdict:
    ports: list[PortEvidence] = []
    switches: list[SwitchEvidence] = []
    for record in records:
        plan, samples = record.network.plan, record.samples
        ports += port_evidence(plan, samples, record.calibrated_bps, record.applied)
        switches += switch_evidence(arm.cluster, plan, samples, record.report["received"])
    idle_share, steal_share = cpu_shares
    box = BoxEvidence(
        idle_share=idle_share,
        steal_share=steal_share,
        lateness=_shares_of_iterations(jobs),
        iterations_wanted=jobs.wanted,
        iterations_measured=len(jobs.iterations),
    )
    invariants = invariants_of(ports, switches, box)
    if arm.is_scheduled:
        invariants = (*invariants, _starts(jobs.late_starts))
    if arm.resources is not None:
        invariants = (*invariants, _quotas(jobs.cpu))
    return judge(invariants, unenforced)


def lateness_by_job(runs: Sequence[JobRun]) -> dict[str, list[float]]:
    """How late every timed send was, in s; of all runs of a job."""
    found: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        found[run.job] += run.lateness_s
    return dict(found)


def _shares_of_iterations(jobs: JobsRecord) -> list[float]:
    """Of every lateness its share of the median iteration of its job.

    A worker tells it with the end of an iteration; a job whose only one ended too late to be in the
    results has none.
    """
    times_s: dict[str, list[float]] = defaultdict(list)
    for row in jobs.iterations:
        times_s[row.job].append(row.iteration_s)
    medians_s = {job: statistics.median(times) for job, times in times_s.items()}
    return [
        late / medians_s[job]
        for job, lateness_s in jobs.lateness_s.items()
        if job in medians_s
        for late in lateness_s
    ]


def _starts(late: int) -> Invariant:
    return none_of(
        "starts of jobs",
        late,
        "jobs",
        "the workers of every job were ready when it was due to begin",
        Status.SUSPECT,
    )


def _quotas(uses: Sequence[CpuUse]) -> Invariant:
    worst = max((use.used_s / use.allowed_s - 1 for use in uses if use.allowed_s), default=0.0)
    return Invariant(
        "CPU quotas",
        worst <= QUOTA_LIMIT,
        max(worst, 0.0),
        QUOTA_LIMIT,
        "no job's input pipelines used more CPU than their share allowed (largest excess)",
        Status.INVALID,
    )
