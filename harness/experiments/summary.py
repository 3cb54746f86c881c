"""summary.json: the one document of a run, which ``--json`` prints. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from emulator.scale import ScalePlan
from emulator.verdict import Verdict
from harness.experiments.placed import PlacedRun
from harness.experiments.run import ArmResult
from harness.fidelity.compare import Comparison, IterationTimes
from traces.arm import Arm, Job
from traces.link_events import Change
from traces.results import IterationRow, JobRow, LinkRow
from traces.scenario import Scenario


def summarise(
    scenario: Scenario, scale: ScalePlan | None, results: Sequence[ArmResult], *, interrupted: bool
) -> dict[str, Any]:
    """The summary of what was done of ``scenario`` so far. scale: None if nothing is emulated."""
    return {
        "scenario": scenario.name,
        "description": scenario.description,
        "seed": scenario.seed,
        "interrupted": interrupted,
        "warnings": list(scenario.warnings),
        "jobs": [
            {
                "job": job.id,
                "model": job.profile.model,
                "provenance": job.profile.provenance,
                "source": job.profile.source,
            }
            for job in all_jobs(scenario)
        ],
        "arms": [_arm(scale, result) for result in results],
    }


def all_jobs(scenario: Scenario) -> list[Job]:
    """Every job of any arm, each id once."""
    jobs: dict[str, Job] = {}
    for arm in scenario.arms:
        for job in arm.jobs:
            jobs.setdefault(job.id, job)
    return list(jobs.values())


def _arm(scale: ScalePlan | None, result: ArmResult) -> dict[str, Any]:
    measurement, prediction = result.measurement, result.prediction
    measured = _times(measurement.iterations) if measurement else None
    predicted = _times(prediction.iterations) if prediction else None
    document: dict[str, Any] = {
        "name": result.arm.name,
        "sharing": str(result.arm.cluster.sharing),
        "dedicated": result.arm.dedicated,
        "interleaver": result.arm.interleaver,
        "transport": result.arm.transport.model_dump(),
        "events": _events(result),
        "measured": measured and {"iteration_s": asdict(measured)},
        "predicted": predicted and {"iteration_s": asdict(predicted)},
        "difference": _difference(result.arm.name, measured, predicted),
        "time_shifts_s": {job.id: result.decision.shift_s(job.id) for job in result.arm.jobs},
        "score": result.decision.score,
        "incomparable": list(result.decision.interleaving.incomparable),
        "clipped": result.decision.interleaving.clipped,
        "affinity_loops": {
            "consistent": result.decision.interleaving.loops,
            "contradicting": len(result.decision.interleaving.contradictions),
        },
        "verdict": verdict_document(measurement.verdict) if measurement else None,
        "scale": _scale(scale) if measurement and scale else None,
    }
    if result.arm.is_scheduled:
        predicted_schedule = prediction.placed if prediction else None
        document["schedule"] = {
            "placement": result.arm.scheduler.placement,
            "mechanism": result.arm.scheduler.mechanism,
            "cpu_use": _cpu_use(result),
            "round_s": result.arm.scheduler.round,
            "measured": result.schedule and _schedule(result.arm, result.schedule),
            "predicted": predicted_schedule and _schedule(result.arm, predicted_schedule),
        }
        schedule = result.schedule or predicted_schedule
        document["score"] = _mean_score(schedule)
        document["clipped"] = schedule.record.clipped if schedule else {}
    if measurement:
        document["adjustments"] = measurement.adjustments
        document["sampling"] = {
            "interval_s": measurement.sample_interval_s,
            "cpu_share": measurement.sampler_cpu_share,
        }
        document["interrupted"] = measurement.interrupted
        if result.arm.transport.ecn_threshold is not None:
            document["marked_packets"] = _marked_packets(measurement.links)
    return document


def _schedule(arm: Arm, run: PlacedRun) -> dict[str, Any]:
    """How the scheduler's decisions went, and when jobs ended."""
    table = run.table
    return {
        **{name: value for name, value in asdict(run.record).items() if name != "scores"},
        "starts": len(run.stints),
        "completion_s": {
            job.id: None if math.isnan(finish_s) else finish_s - submit_s
            for job, submit_s, finish_s in zip(
                arm.jobs, table.submit_s.tolist(), table.finish_s.tolist(), strict=True
            )
        },
    }


def _cpu_use(result: ArmResult) -> dict[str, dict[str, float]] | None:
    """CPU seconds on this box of each job's input pipelines, over all its starts."""
    if result.measurement is None or result.arm.resources is None:
        return None
    found: dict[str, dict[str, float]] = {}
    for use in result.measurement.cpu:
        of_job = found.setdefault(use.job, {"allowed_s": 0.0, "used_s": 0.0})
        of_job["allowed_s"] += use.allowed_s
        of_job["used_s"] += use.used_s
    return found


def _mean_score(run: PlacedRun | None) -> float | None:
    """Of the placements that the interleaver chose; None where there is none."""
    if run is None or not run.record.scores:
        return None
    return sum(run.record.scores) / len(run.record.scores)


def _events(result: ArmResult) -> list[dict[str, Any]]:
    """Every event of an arm, and when it was made on each of its emulated networks."""
    made = result.measurement.events if result.measurement else []
    return [
        {
            "at_s": event.at_s,
            "link": [event.link.a, event.link.b],
            "change": str(event.change),
            "value": event.value if event.change in (Change.RATE, Change.LATENCY) else None,
            "simulated": event.change is not Change.LATENCY,
            "made": [
                {"network": row.network, "begun_s": row.begun_s, "done_s": row.done_s}
                for row in made
                if (row.at_s, row.event) == (event.at_s, str(event))
            ],
        }
        for event in result.arm.events
    ]


def _marked_packets(links: Sequence[LinkRow]) -> dict[str, int] | None:
    """Packets that ports marked, by job; ``all jobs`` where their queue is a shared one.

    None where nothing could mark them.
    """
    marked: dict[str, int] = defaultdict(int)
    for row in links:
        if row.marked_packets is None:
            return None
        marked[row.job or "all jobs"] += row.marked_packets
    return dict(marked)


def counted_times(rows: Sequence[IterationRow]) -> list[float]:
    """Iteration times after the warm-up, in seconds."""
    return [row.iteration_s for row in rows if row.counted]


def _times(rows: Sequence[IterationRow]) -> IterationTimes | None:
    return IterationTimes.of(counted_times(rows))


def _difference(
    arm: str, measured: IterationTimes | None, predicted: IterationTimes | None
) -> dict[str, float] | None:
    """Prediction over measurement - 1, by statistic."""
    if measured is None or predicted is None:
        return None
    return Comparison(arm, reference=measured, prediction=predicted).difference


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """A verdict as plain data."""
    return {
        "status": str(verdict.status),
        "invariants": [
            {
                "name": invariant.name,
                "ok": invariant.ok,
                "value": invariant.value,
                "limit": invariant.limit,
                "bound": invariant.bound,
                "unit": invariant.unit,
                "explanation": invariant.explanation,
                "on_failure": str(invariant.on_failure),
            }
            for invariant in verdict.invariants
        ],
        "unenforced": list(verdict.unenforced),
    }


def _scale(scale: ScalePlan) -> dict[str, Any]:
    packets = scale.smallest_transfer_packets
    return {
        "rate_divisor": scale.rate_divisor,
        "reason": scale.reason,
        "load_hop_bps": scale.load_hop_bps,
        "budget_hop_bps": scale.budget_hop_bps,
        "budget_source": scale.budget_source,
        "smallest_transfer_packets": packets if math.isfinite(packets) else None,
        "cpu": scale.cpu and {"divisor": scale.cpu.divisor, "reason": scale.cpu.reason},
        "warnings": list(scale.warnings),
    }


def job_rows(
    result: ArmResult, iterations: Sequence[IterationRow], adjustments: dict[str, int]
) -> list[JobRow]:
    """The jobs table of one arm; a job without counted iterations has not-a-number times."""
    rows = []
    for job in result.arm.jobs:
        own = counted_times([row for row in iterations if row.job == job.id])
        times = IterationTimes.of(own) or IterationTimes(math.nan, math.nan, math.nan)
        rows.append(
            JobRow(
                arm=result.arm.name,
                job=job.id,
                model=job.profile.model,
                workers=job.profile.num_gpus,
                iterations=len(own),
                mean_iteration_s=times.mean,
                p50_iteration_s=times.p50,
                p99_iteration_s=times.p99,
                time_shift_s=result.decision.shift_s(job.id),
                adjustments=adjustments.get(job.id, 0),
            )
        )
    return rows
