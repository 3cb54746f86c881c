"""One arm with one seed: checked, then through the round loop on the simulated cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

from harness.experiments.rounds.workload import Workload, build_workload, is_random, trace_of
from harness.leases import EndedLeases, Leases
from harness.rounds import RoundsRun, run_rounds
from harness.scheduling.mechanisms import MECHANISMS, PLACEMENTS
from harness.scheduling.mechanisms.mechanism import Mechanism, Placement
from harness.scheduling.policies import POLICIES
from harness.scheduling.scheduler import Scheduler
from harness.simulation.round_cluster import RoundSemantics, SimulatedCluster
from traces.errors import BadInputError
from traces.rounds_scenario import RoundsArm, RoundsScenario

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class RoundsResult:
    """One arm with one seed, simulated or emulated. figures: of the mechanism, by name."""

    arm: RoundsArm
    seed: int
    workload: Workload
    run: RoundsRun
    figures: dict[str, float]


def check_arms(scenario: RoundsScenario) -> None:
    """Refuse what no scheduler does, before anything runs. Raises BadInputError."""
    for arm in scenario.arms:
        scheduler = arm.scheduler
        for key, name, known in (
            ("policy", scheduler.policy, tuple(POLICIES)),
            ("mechanism", scheduler.mechanism, tuple(MECHANISMS)),
            ("placement", scheduler.placement, PLACEMENTS.get(scheduler.mechanism, ())),
        ):
            if name is not None and name not in known:
                raise scenario.file.error(
                    arm.name, ("scheduler", key), f"{name!r} is not known", ", ".join(known)
                )
        if scheduler.round == 0:
            raise scenario.file.error(
                arm.name, ("scheduler", "round"), "a round takes no time", "more than 0 s"
            )
        lost_s = arm.simulation.restart + arm.simulation.checkpoint
        if lost_s >= scheduler.round:
            raise scenario.file.error(
                arm.name,
                ("simulation", "restart"),
                f"restart and checkpoint take {lost_s:g} s, so that jobs which take turns would "
                "never progress",
                f"less than a round ({scheduler.round:g} s)",
            )
        _check_mechanism(scenario, arm)
    if len(scenario.seeds) > 1 and not any(is_random(arm) for arm in scenario.arms):
        raise scenario.file.error(
            scenario.arms[0].name,
            ("seeds",),
            "nothing in this workload is random, so that all seeds are the same",
            "seeds: 1, or a workload that is generated or split",
        )


def _check_mechanism(scenario: RoundsScenario, arm: RoundsArm) -> None:
    mechanism = arm.scheduler.mechanism
    where = ("scheduler", "mechanism")
    if mechanism == "opt" and arm.pool.gives_storage:
        raise scenario.file.error(
            arm.name, where, "opt gives out CPUs and memory only", "a cluster without 'storage'"
        )
    if mechanism == "tune-published" and len(arm.pool.groups) > 1:
        raise scenario.file.error(
            arm.name, where, "the published simulator knows one type of GPU", "tune"
        )


def check_workloads(scenario: RoundsScenario) -> None:
    """Refuse a job or a window of jobs that is no good, before anything runs.

    Raises BadInputError. Every arm's workload is built for this, with the first seed.
    """
    seed = scenario.seeds[0]
    for arm in scenario.arms:
        try:
            build_workload(arm, trace_of(arm, seed), seed)
        except BadInputError as error:
            raise error if error.file else scenario.locate(error, arm.name) from None


def run_arm(
    arm: RoundsArm,
    seed: int,
    progress: Progress = lambda _done, _total: None,
    stop: Callable[[], bool] = lambda: False,
    ended: Callable[[Workload, EndedLeases], None] | None = None,
) -> RoundsResult:
    """Simulate ``arm`` with ``seed``. Raises BadInputError with the key, or with file and line.

    progress: is told how many of the jobs that count have ended, and of how many. ended: is handed
    the leases as they end.
    """
    workload = build_workload(arm, trace_of(arm, seed), seed)
    return run_workload(arm, seed, workload, progress, stop, ended)


def run_workload(
    arm: RoundsArm,
    seed: int,
    workload: Workload,
    progress: Progress = lambda _done, _total: None,
    stop: Callable[[], bool] = lambda: False,
    ended: Callable[[Workload, EndedLeases], None] | None = None,
) -> RoundsResult:
    """Simulate ``arm`` on a workload that was built for it; see run_arm."""
    table = workload.table
    mechanism = mechanism_of(arm, workload)
    semantics = semantics_of(arm)
    leases = Leases(table, None if ended is None else lambda rows: ended(workload, rows))
    counted = int(workload.measured.sum())
    run = run_rounds(
        table,
        scheduler_of(arm, workload, mechanism),
        SimulatedCluster(table, semantics),
        leases,
        semantics.round_s,
        workload.measured,
        lambda done: progress(done, counted),
        stop,
    )
    return RoundsResult(arm, seed, workload, run, mechanism.report())


def mechanism_of(arm: RoundsArm, workload: Workload) -> Mechanism:
    """The mechanism that ``arm`` names."""
    return MECHANISMS[arm.scheduler.mechanism](workload.demands, arm.pool, placement_of(arm))


def scheduler_of(arm: RoundsArm, workload: Workload, mechanism: Mechanism) -> Scheduler:
    """The scheduler of ``arm``."""
    return Scheduler(
        POLICIES[arm.scheduler.policy](),
        mechanism,
        workload.table,
        workload.demands,
        arm.pool,
        arm.scheduler.priority_after,
    )


def semantics_of(arm: RoundsArm) -> RoundSemantics:
    """How time passes in a round of ``arm``."""
    simulation = arm.simulation
    return RoundSemantics(
        round_s=arm.scheduler.round,
        completion=simulation.completion,
        progress=simulation.progress,
        restart_s=simulation.restart,
        checkpoint_s=simulation.checkpoint,
        restarts=simulation.restarts,
    )


def placement_of(arm: RoundsArm) -> Placement:
    """The placement that ``arm`` names, or its mechanism's default."""
    name = arm.scheduler.placement or PLACEMENTS[arm.scheduler.mechanism][0]
    return next(placement for placement in get_args(Placement) if placement == name)
