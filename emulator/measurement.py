"""What one arm's emulation gave, in unscaled units, and how it is gathered. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from emulator.coordinator import JobRun
from emulator.evidence import link_rows, port_evidence, switch_evidence
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
from traces.results import IterationRow, LinkRow
from traces.scenario import Arm


@dataclass(frozen=True)
class ArmMeasurement:
    """One arm as it was measured. adjustments: of the time-shift, by job."""

    arm: str
    iterations: list[IterationRow]
    links: list[LinkRow]
    adjustments: dict[str, int]
    verdict: Verdict
    interrupted: bool


@dataclass(frozen=True)
class NetworkRecord:
    """What was watched on one network: rates before the run, the sampler's report of it."""

    network: PlannedNetwork
    calibrated_bps: Mapping[str, float]
    report: Message


def iterations_wanted(arm: Arm) -> int:
    """Iterations of each job, warm-up included."""
    return arm.warmup_iterations + arm.iterations


def gather(
    arm: Arm,
    runs: Sequence[JobRun],
    records: Sequence[NetworkRecord],
    cpu_shares: tuple[float, float],
    anchor_s: float,
    scale: ScalePlan,
    *,
    interrupted: bool,
) -> ArmMeasurement:
    """Put a finished arm together. cpu_shares: (idle, steal) while it ran."""
    iterations = _iteration_rows(arm, runs, anchor_s)
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
                record.report["samples"],
                anchor_s,
                scale.rate_divisor,
            )
        ],
        adjustments={run.job: run.agent.adjustments if run.agent else 0 for run in runs},
        verdict=_verdict(arm, runs, records, cpu_shares, iterations),
        interrupted=interrupted,
    )


def _iteration_rows(arm: Arm, runs: Sequence[JobRun], anchor_s: float) -> list[IterationRow]:
    rows = []
    for run in runs:
        previous_end_s: float | None = None
        for index, iteration in enumerate(run.measured):
            begun_s = iteration.start_s if previous_end_s is None else previous_end_s
            rows.append(
                IterationRow(
                    arm=arm.name,
                    job=run.job,
                    iteration=index,
                    counted=index >= arm.warmup_iterations,
                    start_s=iteration.start_s - anchor_s,
                    communication_start_s=iteration.communication_start_s - anchor_s,
                    end_s=iteration.end_s - anchor_s,
                    iteration_s=iteration.end_s - begun_s,
                )
            )
            previous_end_s = iteration.end_s
    return rows


def _verdict(
    arm: Arm,
    runs: Sequence[JobRun],
    records: Sequence[NetworkRecord],
    cpu_shares: tuple[float, float],
    iterations: Sequence[IterationRow],
) -> Verdict:
    ports: list[PortEvidence] = []
    switches: list[SwitchEvidence] = []
    for record in records:
        plan, samples = record.network.plan, record.report["samples"]
        ports += port_evidence(plan, samples, record.calibrated_bps)
        switches += switch_evidence(arm.cluster, plan, samples, record.report["received"])
    counted = sorted(row.iteration_s for row in iterations if row.counted)
    idle_share, steal_share = cpu_shares
    box = BoxEvidence(
        idle_share=idle_share,
        steal_share=steal_share,
        lateness_s=[late for run in runs for late in run.lateness_s],
        iteration_s=counted[len(counted) // 2] if counted else 0.0,
        iterations_wanted=iterations_wanted(arm) * len(runs),
        iterations_measured=sum(len(run.measured) for run in runs),
    )
    return judge(invariants_of(ports, switches, box))
