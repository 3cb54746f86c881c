"""A scenario, arm by arm: decide, predict, emulate."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from emulator.budget_store import budget_here
from emulator.cpu_scale import CpuScale, check_input_pipelines, plan_cpu_scale
from emulator.emulate import Progress, emulate_arm, emulate_scheduled
from emulator.kernel_features import require_netem
from emulator.measurement import ArmMeasurement
from emulator.network_jobs import EmulatedNetworkJobs
from emulator.networks import PlannedNetwork, plan_arm
from emulator.scale import ScalePlan, plan_scale
from emulator.session import Session
from harness.experiments.decide import Decision, decide
from harness.experiments.placed import PlacedRun, rehearse, run_placed
from harness.experiments.predict import ArmPrediction, predict_arm, predict_placed
from harness.scheduling.shares import with_shares
from netshaper.ecn.marking import Marking
from traces.arm import Arm
from traces.errors import BadInputError, MissingCapabilityError
from traces.link_events import Change
from traces.results import IterationRow
from traces.scenario import Scenario


@dataclass
class ArmResult:
    """One arm with whatever was done of it.

    seed: of the scheduler that places its jobs, where there is one. schedule: how that went under
    emulation.
    """

    arm: Arm
    decision: Decision
    seed: int = 1
    prediction: ArmPrediction | None = None
    measurement: ArmMeasurement | None = None
    schedule: PlacedRun | None = None


def scale_of(scenario: Scenario) -> ScalePlan:
    """The one ScalePlan of a scenario on this box, within its budget as measured or assumed."""
    divisor = scenario.scale.rate_divisor
    try:
        plan = plan_scale(scenario.arms, budget_here(), None if divisor == "auto" else divisor)
    except BadInputError as error:
        raise scenario.locate(error) from None
    return replace(plan, cpu=_cpu_scale_of(scenario))


def _cpu_scale_of(scenario: Scenario) -> CpuScale | None:
    scale = plan_cpu_scale(scenario.arms, len(os.sched_getaffinity(0)))
    if scale is not None:
        for arm in scenario.arms:
            try:
                check_input_pipelines(arm, scale)
            except BadInputError as error:
                raise scenario.locate(error, arm.name) from None
    return scale


def arms_of(scenario: Scenario) -> list[Arm]:
    """The arms, with the weights and priorities that their schedulers give their jobs."""
    arms = []
    for arm in scenario.arms:
        try:
            arms.append(with_shares(arm))
        except BadInputError as error:
            raise scenario.locate(error, arm.name) from None
    return arms


def decide_all(scenario: Scenario) -> list[ArmResult]:
    """Decide for every arm before anything runs, so that bad input shows at once."""
    results = []
    for arm in arms_of(scenario):
        try:
            results.append(ArmResult(arm, decide(arm), scenario.seed))
        except BadInputError as error:
            raise scenario.locate(error, arm.name) from None
    return results


def predict_all(
    results: Sequence[ArmResult], progress: Progress, stop_wanted: Callable[[], bool]
) -> None:
    """Simulate every arm. Stops between two when asked."""
    for number, result in enumerate(results):
        if stop_wanted():
            return
        progress("simulating", number, len(results))
        if result.arm.is_scheduled:
            shown = _shown(progress, f"simulating {result.arm.name}")
            result.prediction = predict_placed(result.arm, result.seed, shown, stop_wanted)
        else:
            result.prediction = predict_arm(result.arm, result.decision.shifts)
    progress("simulating", len(results), len(results))


def emulate_all(
    session: Session,
    results: Sequence[ArmResult],
    scale: ScalePlan,
    progress: Progress,
    stop_wanted: Callable[[], bool],
    logs: Path | None = None,
) -> None:
    """Emulate every arm, one after the other: they would disturb each other. Stops when asked.

    logs: for what the commands of jobs write, in a directory for each arm; None where it is not
        kept.
    """
    if any(event.change is Change.LATENCY for result in results for event in result.arm.events):
        require_netem()
    if any(result.arm.resources for result in results) and "cpu" in session.missing_limits:
        raise MissingCapabilityError(
            "shares of CPUs cannot be kept here", remedy=session.missing_limits["cpu"]
        )
    first_network = 0
    for result in results:
        if stop_wanted():
            return
        marking = Marking.MARKER
        if result.arm.transport.ecn_threshold is not None:
            marking = session.marking
        run_id = session.state.run_id
        networks = plan_arm(result.arm, scale, run_id, first_network, marking)
        first_network += len(networks)
        if result.arm.is_scheduled:
            _emulate_scheduled(session, result, networks[0], scale, progress, stop_wanted)
            continue
        result.measurement = emulate_arm(
            session, result.arm, networks, scale, result.decision.shifts, progress, stop_wanted,
            logs and logs / result.arm.name,
        )  # fmt: skip


def _emulate_scheduled(
    session: Session,
    result: ArmResult,
    network: PlannedNetwork,
    scale: ScalePlan,
    progress: Progress,
    stop_wanted: Callable[[], bool],
) -> None:
    def drive(
        jobs: EmulatedNetworkJobs, stop: Callable[[], bool]
    ) -> tuple[list[IterationRow], int]:
        shown = _shown(progress, f"emulating {result.arm.name}")
        result.schedule = run_placed(result.arm, result.seed, jobs, shown, stop)
        rows = result.schedule.iteration_rows(result.arm)
        return rows, result.schedule.iterations_wanted(result.arm)

    rehearse(result.arm, result.seed)
    result.measurement = emulate_scheduled(session, result.arm, network, scale, drive, stop_wanted)


def _shown(progress: Progress, what: str) -> Callable[[int, int], None]:
    return lambda done, total: progress(what, done, total)
