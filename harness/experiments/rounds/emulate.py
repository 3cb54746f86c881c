"""A scenario of rounds on the emulated cluster: checked, scaled, run, arm by arm, seed by seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from emulator.rounds.evidence import StepSpan
from emulator.rounds.run import RoundsMeasurement
from emulator.rounds.scale import ClusterNeeds, RoundsScale, plan_rounds_scale
from emulator.scale import Budget
from emulator.session import Session
from emulator.verdict import Status
from harness.emulation.lease_builder import LeaseBuilder
from harness.emulation.lease_use import LeaseUse
from harness.emulation.round_cluster import EmulatedCluster
from harness.emulation.servers import ServersWanted, StartServers, start_servers
from harness.experiments.rounds.resume import (
    KeptState,
    RunState,
    check_resumable,
    identity_of,
    load_state,
    save_state,
)
from harness.experiments.rounds.run import (
    RoundsResult,
    mechanism_of,
    scheduler_of,
    semantics_of,
)
from harness.experiments.rounds.workload import Workload, build_workload, trace_of
from harness.leases import EndedLeases, Leases
from harness.rounds import Position, RoundScheduler, run_rounds
from harness.scheduling.scheduler import Scheduler
from traces.errors import BadInputError, EmulationError
from traces.rounds_scenario import RoundsArm, RoundsScenario
from traces.sensitivity import Sensitivity

UseColumns = dict[str, list[float | int | None]]
Ended = Callable[[Workload, EndedLeases, UseColumns], None]
Stepped = Callable[[Sequence[StepSpan]], None]

_SCALE_KEYS = ("duration", "stride", "cpu_divisor", "byte_divisor")


@dataclass(frozen=True)
class EmulatedResult:
    """One arm with one seed, emulated. incidents: what went wrong and was mended, in clauses."""

    result: RoundsResult
    incidents: tuple[str, ...]
    measurement: RoundsMeasurement


@dataclass(frozen=True)
class Standing:
    """How far an arm with a seed has come.

    emulated_s: time of the trace that has passed. verdict: on it until now.
    """

    running: int
    waiting: int
    finished: int
    jobs: int
    emulated_s: float
    verdict: Status


def check_emulation(scenario: RoundsScenario) -> None:
    """Refuse what only a simulator can do, before anything runs. Raises BadInputError."""
    first = scenario.arms[0]
    for arm in scenario.arms:
        for section, key, found, wanted in (
            (
                "scheduler",
                "mechanism",
                arm.scheduler.mechanism == "opt",
                "one that gives whole GPUs",
            ),
            ("simulation", "completion", arm.simulation.completion != "exact", "exact"),
            ("simulation", "progress", arm.simulation.progress != "continuous", "continuous"),
            ("simulation", "speeds", arm.simulation.speeds != "matrix", "matrix"),
        ):
            if found:
                problem = f"{getattr(getattr(arm, section), key)!r} cannot be emulated"
                raise scenario.file.error(arm.name, (section, key), problem, wanted)
        for key in _SCALE_KEYS:
            if getattr(arm.emulation, key) != getattr(first.emulation, key):
                raise scenario.file.error(
                    arm.name,
                    ("emulation", key),
                    "all arms have one scale, so that they can be compared",
                    f"as in arm {first.name!r}, or in the section 'emulation' of the scenario",
                )


def scale_of(
    scenario: RoundsScenario,
    predicted: Sequence[RoundsResult],
    cores: int,
    memory_available_bytes: float,
    budget: Budget,
) -> RoundsScale:
    """One scale for all that was simulated. Raises BadInputError with file and line."""
    models: dict[tuple[str, str], Sensitivity] = {}
    for result in predicted:
        sensitivities = result.arm.sensitivities
        kinds = {kind.model for kind in result.workload.demands.kinds}
        for entry in sensitivities.entries if sensitivities else ():
            if entry.model in kinds and entry.gpu_type in result.arm.pool.gpu_types:
                models[entry.model, entry.gpu_type] = entry
    needs = ClusterNeeds(
        pools=[arm.pool for arm in scenario.arms],
        models=list(models.values()),
        round_s=min(arm.scheduler.round for arm in scenario.arms),
        busy_s=sum(result.run.rounds * result.arm.scheduler.round for result in predicted),
    )
    first = scenario.arms[0]
    try:
        return plan_rounds_scale(needs, first.emulation, cores, memory_available_bytes, budget)
    except BadInputError as error:
        raise scenario.locate(error, first.name) from None


def emulate_arm(
    session: Session | None,
    arm: RoundsArm,
    seed: int,
    scale: RoundsScale,
    progress: Callable[[Standing], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
    ended: Ended | None = None,
    stepped: Stepped = lambda _: None,
    start: StartServers = start_servers,
    replay: Callable[[Workload], RoundScheduler] | None = None,
    keep: KeptState | None = None,
) -> EmulatedResult:
    """Emulate ``arm`` with ``seed``; once a stop is wanted, the round under way is the last.

    ended: is handed the leases as they end, with what was used; of a lease that was interrupted
    nothing is known. stepped: is handed the steps of each round. replay: makes the scheduler, where
    it is not the arm's own. keep: where the state is kept after each round, and whether to go on
    from there. Raises BadInputError where that state is of another run, or of a scheduler that
    cannot go on.
    """
    workload = build_workload(arm, trace_of(arm, seed), seed)
    table = workload.table
    mechanism = mechanism_of(arm, workload)
    scheduler = replay(workload) if replay else scheduler_of(arm, workload, mechanism)
    if keep and not isinstance(scheduler, Scheduler):
        raise EmulationError("a replayed schedule keeps no state that it could go on from")
    semantics = semantics_of(arm)

    identity = identity_of(keep.scenario_text, arm, seed, workload, scale) if keep else None
    resumed: RunState | None = None
    if keep and identity and keep.resumes:
        check_resumable(arm)
        resumed = load_state(keep.file, identity, len(table))

    def passed(position: Position) -> None:
        if keep and identity and isinstance(scheduler, Scheduler):
            state = RunState.of(
                table, position, scheduler, leases, servers.checkpoints, cluster.incidents
            )
            save_state(keep.file, identity, state)
        stepped(servers.take_spans())
        finished = int(np.count_nonzero(~np.isnan(table.finish_s)))
        waiting = max(position.active - position.running, 0)
        now_s = position.number * semantics.round_s
        progress(Standing(position.running, waiting, finished, len(table), now_s, servers.so_far()))

    wanted = ServersWanted(
        session,
        arm.pool,
        scale,
        semantics.round_s,
        seed,
        arm.emulation,
        arm.directory,
        resumed.checkpoints if resumed else {},
    )
    with start(wanted) as servers:
        cluster = EmulatedCluster(table, lease_builder(arm, workload), servers, semantics)
        resumed_s = resumed.position.number * semantics.round_s if resumed else 0.0
        leases = Leases(table, _with_use(workload, cluster.use, ended, resumed_s))
        if resumed and isinstance(scheduler, Scheduler):
            resumed.restore(table, scheduler, leases)
            cluster.incidents += resumed.incidents
            number = resumed.position.number
            cluster.incidents.append(f"resumed at round {number}; the verdict is on what followed")
        run = run_rounds(
            table,
            scheduler,
            cluster,
            leases,
            semantics.round_s,
            workload.measured,
            stop=stop,
            passed=passed,
            begin=resumed.position if resumed else None,
        )
        measurement = servers.finish()
    result = RoundsResult(arm, seed, workload, run, mechanism.report())
    return EmulatedResult(result, tuple(cluster.incidents), measurement)


def lease_builder(arm: RoundsArm, workload: Workload) -> LeaseBuilder:
    """Leases for the jobs of ``workload``."""
    kinds = workload.demands.kinds
    return LeaseBuilder(
        jobs=[str(job) for job in workload.jobs["job"]],
        models=[kinds[kind].model for kind in workload.table.kind],
        pool=arm.pool,
        sensitivities=arm.sensitivities,
        commands=arm.emulation.commands,
    )


def _with_use(
    workload: Workload, use: LeaseUse, ended: Ended | None, resumed_s: float
) -> Callable[[EndedLeases], None] | None:
    """Of leases that began before ``resumed_s`` only a part is known, which would mislead."""
    if ended is None:
        return None

    def report(rows: EndedLeases) -> None:
        columns = use.take(rows)
        whole = (rows.from_s >= resumed_s).tolist()
        known = {
            name: [
                value if is_whole else None for value, is_whole in zip(column, whole, strict=True)
            ]
            for name, column in columns.items()
        }
        ended(workload, rows, known)

    return report
