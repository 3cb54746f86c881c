"""What one arm's emulation gave, in unscaled units, and how it is gathered. Pure."""

from __future__ import annotations

import functools
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
from emulator.link_changer import AppliedChange
from emulator.messages import Message
from emulator.networks import PlannedNetwork
from emulator.scale import ScalePlan
from emulator.verdict import (
    BoxEvidence,
    PortEvidence,
    SwitchEvidence,
    Verdict,
    invariants_of,
    judge,
)
from traces.results import EventRow, IterationRow, LinkRow, iteration_rows
from traces.scenario import Arm


@dataclass(frozen=True)
class ArmMeasurement:
    """One arm as it was measured. adjustments: of the time-shift, by job.

    sample_interval_s: between two samples of a port. sampler_cpu_share: of one core.
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


def gather(
    arm: Arm,
    runs: Sequence[JobRun],
    records: Sequence[NetworkRecord],
    cpu_shares: tuple[float, float],
    anchor_s: float,
    scale: ScalePlan,
    *,
    interrupted: bool,
    unenforced: Sequence[str] = (),
) -> ArmMeasurement:
    """Put a finished arm together. cpu_shares: (idle, steal) while it ran."""
    iterations = [
        row
        for run in runs
        for row in iteration_rows(arm.name, run.job, run.measured, arm.warmup_iterations, anchor_s)
    ]
    return ArmMeasurement(
        arm=arm.name,
        iterations=iterations,
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
        adjustments={run.job: run.agent.adjustments if run.agent else 0 for run in runs},
        verdict=_verdict(arm, runs, records, cpu_shares, iterations, unenforced),
        interrupted=interrupted,
        sample_interval_s=max(record.report["interval_s"] for record in records),
        sampler_cpu_share=sum(record.report["cpu_share"] for record in records),
    )


def _verdict(
    arm: Arm,
    runs: Sequence[JobRun],
    records: Sequence[NetworkRecord],
    cpu_shares: tuple[float, float],
    iterations: Sequence[IterationRow],
    unenforced: Sequence[str],
) -> Verdict:
    ports: list[PortEvidence] = []
    switches: list[SwitchEvidence] = []
    for record in records:
        plan, samples = record.network.plan, record.samples
        ports += port_evidence(plan, samples, record.calibrated_bps, record.applied)
        switches += switch_evidence(arm.cluster, plan, samples, record.report["received"])
    counted = sorted(row.iteration_s for row in iterations if row.counted)
    idle_share, steal_share = cpu_shares
    box = BoxEvidence(
        idle_share=idle_share,
        steal_share=steal_share,
        lateness_s=[late for run in runs for late in run.lateness_s],
        iteration_s=counted[len(counted) // 2] if counted else 0.0,
        iterations_wanted=sum(arm.iterations_of(job) for job in arm.jobs),
        iterations_measured=sum(len(run.measured) for run in runs),
    )
    return judge(invariants_of(ports, switches, box), unenforced)
