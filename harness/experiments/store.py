"""Writes run directories: one for what was simulated, one for what was emulated, same tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from emulator.scale import ScalePlan
from harness.experiments.run import ArmResult
from harness.experiments.summary import all_jobs, job_rows, verdict_document
from harness.job_table import Floats
from harness.report.page import write_report
from harness.scheduling.cassini.interleaving import RotatedLink
from traces.provenance import provenance
from traces.results import EventRow, IterationRow, LinkRow
from traces.run_directory import write_json, write_table
from traces.scenario import Scenario
from traces.timeline import chrome_trace


class _Side(Protocol):
    """What a prediction and a measurement have in common."""

    @property
    def iterations(self) -> list[IterationRow]: ...
    @property
    def links(self) -> list[LinkRow]: ...
    @property
    def events(self) -> list[EventRow]: ...
    @property
    def adjustments(self) -> dict[str, int]: ...


def write_simulated(directory: Path, scenario: Scenario, results: Sequence[ArmResult]) -> None:
    """The run directory of the predictions."""
    done = [(result, result.prediction) for result in results if result.prediction]
    _write(directory, scenario, None, None, done)


def write_emulated(
    directory: Path,
    scenario: Scenario,
    run_id: str,
    scale: ScalePlan,
    results: Sequence[ArmResult],
) -> None:
    """The run directory of the measurements, with each arm's verdict."""
    done = [(result, result.measurement) for result in results if result.measurement]
    _write(directory, scenario, run_id, scale, done)
    verdicts = {result.arm.name: verdict_document(measured.verdict) for result, measured in done}
    write_json(directory / "verdict.json", verdicts)


def finish_run(
    directory: Path,
    scenario: Scenario,
    run_id: str | None,
    scale: ScalePlan | None,
    results: Sequence[ArmResult],
    summary: dict[str, Any],
) -> None:
    """What stands beside the tables: the summary, the circles, and the report on all of it."""
    _write_scenario(directory, scenario, run_id, scale)
    write_json(directory / "summary.json", summary)
    write_json(directory / "circles.json", _circles_document(results))
    write_report([directory], directory / "report.html")


def _write(
    directory: Path,
    scenario: Scenario,
    run_id: str | None,
    scale: ScalePlan | None,
    done: Sequence[tuple[ArmResult, _Side]],
) -> None:
    directory.mkdir(exist_ok=True)
    _write_scenario(directory, scenario, run_id, scale)
    iterations = [row for _, side in done for row in side.iterations]
    write_table(directory, "iterations", iterations)
    write_table(directory, "links", [row for _, side in done for row in side.links])
    jobs = [
        row for result, side in done for row in job_rows(result, side.iterations, side.adjustments)
    ]
    write_table(directory, "jobs", jobs)
    events = [row for _, side in done for row in side.events]
    write_json(directory / "timeline.json", chrome_trace(iterations, events))


def _write_scenario(
    directory: Path, scenario: Scenario, run_id: str | None, scale: ScalePlan | None
) -> None:
    """The scenario as it was read, and where the result comes from."""
    (directory / "scenario.yaml").write_text(scenario.text, encoding="utf-8")
    document = provenance(scenario.text, scenario.seed, run_id)
    document["profiles"] = {
        job.id: {"model": job.profile.model, "source": job.profile.source}
        for job in all_jobs(scenario)
    }
    if scale is not None:
        document["budget"] = {"hop_bps": scale.budget_hop_bps, "source": scale.budget_source}
    write_json(directory / "provenance.json", document)


def _circles_document(results: Sequence[ArmResult]) -> list[dict[str, Any]]:
    """Demands and shifts of every group of contended links, for the report's circles.

    A group that several arms have alike stands once, with the shifts that each arm applies.
    """
    groups: dict[RotatedLink, dict[str, list[float]]] = {}
    for result in results:
        for each in result.decision.interleaving.links:
            shifts_s = [result.decision.shift_s(job) for job in each.link.jobs]
            groups.setdefault(each, {})[result.arm.name] = shifts_s
    return [
        {
            "applied_shifts_s": applied,
            "jobs": list(each.link.jobs),
            "ports": [str(port) for port in each.link.ports],
            "capacity_bps": each.link.capacity_bps,
            "perimeter_s": each.rotation.circle.perimeter_s,
            "repeats": list(each.rotation.circle.repeats),
            "demand": [_steps(row) for row in each.rotation.circle.demand_bps],
            "best_shifts_s": list(each.rotation.shifts_s),
            "best_score": each.rotation.score,
        }
        for each, applied in groups.items()
        if each.rotation is not None  # otherwise summary.json says why
    ]


def _steps(rates_bps: Floats) -> list[tuple[int, float]]:
    """How many slices of the circle, one after the other, have which rate: (slices,) to steps."""
    starts = np.flatnonzero(np.diff(rates_bps, prepend=np.nan))
    lengths = np.diff(starts, append=len(rates_bps))
    return list(zip(lengths.tolist(), rates_bps[starts].tolist(), strict=True))
