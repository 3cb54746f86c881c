"""A scenario of rounds, simulated and emulated side by side: what is done, and what it gave."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from emulator.budget_store import budget_here
from emulator.memory import available_memory_bytes
from emulator.rounds.evidence import StepSpan
from emulator.rounds.scale import RoundsScale
from emulator.session import Session
from harness.experiments.rounds.emulate import (
    EmulatedResult,
    Standing,
    check_emulation,
    emulate_arm,
    scale_of,
)
from harness.experiments.rounds.emulated_tables import EmulatedTables
from harness.experiments.rounds.figures import run_document
from harness.experiments.rounds.replay import read_recorded
from harness.experiments.rounds.resume import KeptState
from harness.experiments.rounds.run import RoundsResult, check_arms, check_workloads
from harness.experiments.rounds.simulate import Say, label, simulate_seed
from harness.experiments.rounds.store import RoundsStore
from harness.experiments.rounds.summary import summarise
from harness.experiments.rounds.timeline import write_timeline
from harness.experiments.rounds.workload import Workload
from harness.experiments.summary import verdict_document
from harness.fidelity.completion import CompletionErrors, completion_errors
from harness.rounds import RoundScheduler
from traces.errors import BadInputError, MissingCapabilityError
from traces.rounds_scenario import RoundsArm, RoundsScenario
from traces.run_directory import write_json

STATES = "states"
"""Of a run directory, where the states are that it can be gone on from."""

Stand = Callable[[str, Standing], None]


@dataclass
class ArmRuns:
    """One arm, and what was done of it, by seed."""

    arm: RoundsArm
    simulated: dict[int, RoundsResult] = field(default_factory=dict)
    emulated: dict[int, EmulatedResult] = field(default_factory=dict)


@dataclass(frozen=True)
class Origin:
    """Where schedules and states come from, and where states go to.

    states: directory that keeps the state of each arm and seed after every round. schedule: a run
    whose recorded schedule is replayed, instead of a scheduler's; it keeps no states. resume: a run
    whose states are gone on from.
    """

    states: Path
    schedule: Path | None = None
    resume: Path | None = None

    def replay(self, arm: RoundsArm, seed: int) -> Callable[[Workload], RoundScheduler] | None:
        """What makes the scheduler of ``arm``, where it is not its own."""
        schedule = self.schedule
        if schedule is None:
            return None
        return lambda workload: read_recorded(schedule, arm.name, seed, arm, workload)

    def kept(self, arm: RoundsArm, seed: int, scenario_text: str) -> KeptState | None:
        """Where the state of ``arm`` is kept; with what there is of it to go on from."""
        if self.schedule is not None:
            return None
        name = f"{arm.name}-{seed}.json"
        self.states.mkdir(exist_ok=True)
        before = self.resume and states_of(self.resume) / name
        if before and before.is_file():
            shutil.copyfile(before, self.states / name)
            return KeptState(self.states / name, scenario_text, resumes=True)
        return KeptState(self.states / name, scenario_text)


def states_of(run: Path) -> Path:
    """Where the states of a run directory are. BadInputError where there are none."""
    for place in (run / STATES, run / "emulated" / STATES):
        if place.is_dir():
            return place
    raise BadInputError(
        "there is no state that could be gone on from",
        allowed="the directory of an emulated scenario of rounds",
        file=run,
        key="--resume",
    )


def check(scenario: RoundsScenario) -> None:
    """Refuse what cannot be emulated, before anything runs. Raises BadInputError."""
    check_arms(scenario)
    check_emulation(scenario)
    check_workloads(scenario)


def simulate_all(
    scenario: RoundsScenario, store: RoundsStore | None, say: Say, stop: Callable[[], bool]
) -> list[ArmRuns]:
    """Every arm with every seed. It takes seconds, and the scale rests on how long they take.

    store: of the prediction, where that is wanted.
    """
    runs = [ArmRuns(arm) for arm in scenario.arms]

    def tell(what: str, done: int, total: int) -> None:
        say(f"simulating {what}", done, total)

    for each in runs:
        for seed in scenario.seeds:
            each.simulated[seed] = simulate_seed(scenario, each.arm, seed, tell, stop, store)
    return runs


def scale_here(scenario: RoundsScenario, runs: list[ArmRuns]) -> RoundsScale:
    """The one scale of all arms on this box. Raises BadInputError where it cannot carry them."""
    predicted = [result for each in runs for result in each.simulated.values()]
    cores = len(os.sched_getaffinity(0))
    return scale_of(scenario, predicted, cores, available_memory_bytes(), budget_here())


def require_limits(session: Session) -> None:
    """MissingCapabilityError where this box cannot hold jobs to the CPUs that they get."""
    missing = session.missing_limits
    if "cpu" in missing:
        raise MissingCapabilityError(
            "jobs cannot be held to the CPUs that the scheduler gives them here",
            remedy=missing["cpu"],
        )


def emulate_all(
    session: Session,
    runs: list[ArmRuns],
    scenario: RoundsScenario,
    scale: RoundsScale,
    store: RoundsStore,
    tables: EmulatedTables,
    stand: Stand,
    stop: Callable[[], bool],
    origin: Origin,
) -> None:
    """Every arm with every seed, one after the other. Stops after the round under way."""
    require_limits(session)
    for each in runs:
        for seed in scenario.seeds:
            if stop():
                return
            arm, name = each.arm, label(scenario, each.arm, seed)

            def tell(standing: Standing, name: str = name) -> None:
                stand(f"emulating {name}", standing)

            def keep(
                workload: Any, rows: Any, use: Any, arm: RoundsArm = arm, seed: int = seed
            ) -> None:
                store.add_leases(arm, seed, workload, rows, use)

            def step(spans: Sequence[StepSpan], arm: RoundsArm = arm, seed: int = seed) -> None:
                tables.add_steps(arm.name, seed, spans)

            found = emulate_arm(
                session,
                arm,
                seed,
                scale,
                tell,
                stop,
                keep,
                step,
                replay=origin.replay(arm, seed),
                keep=origin.kept(arm, seed, scenario.text),
            )
            each.emulated[seed] = found
            store.add_jobs(found.result)
            tables.add_links(arm.name, seed, found.measurement.links)


def summary_of(
    scenario: RoundsScenario,
    runs: list[ArmRuns],
    scale: RoundsScale | None,
    errors: Mapping[str, CompletionErrors | None],
    *,
    predicts: bool,
    interrupted: bool,
) -> dict[str, Any]:
    """The summary of a scenario of rounds with what was emulated of each arm.

    errors: of the simulation, by arm. Where nothing is to be predicted, the figures of the arms are
    those of the emulation.
    """
    documents = [
        (
            each.arm,
            [run_document(result) for result in each.simulated.values()]
            if predicts
            else [run_document(found.result) for found in each.emulated.values()],
        )
        for each in runs
    ]
    summary = summarise(scenario, documents, interrupted=interrupted)
    summary["scale"] = scale.document if scale else None
    for arm, each in zip(summary["arms"], runs, strict=True):
        arm["emulated"] = _emulated(each, errors.get(each.arm.name)) if each.emulated else None
    return summary


def _emulated(each: ArmRuns, errors: CompletionErrors | None) -> dict[str, Any]:
    verdicts = [verdict_document(found.measurement.verdict) for found in each.emulated.values()]
    order = ("valid", "suspect", "invalid")
    return {
        "runs": [run_document(found.result) for found in each.emulated.values()],
        "verdict": max(verdicts, key=lambda verdict: order.index(verdict["status"])),
        "errors": None if errors is None else asdict(errors),
        "incidents": [clause for found in each.emulated.values() for clause in found.incidents],
    }


def errors_of(directory: Path, runs: list[ArmRuns]) -> dict[str, CompletionErrors | None]:
    """Simulated against emulated completion times, by arm, from the tables of both sides."""
    simulated = pd.read_parquet(directory / "simulated" / "jobs.parquet")
    emulated = pd.read_parquet(directory / "emulated" / "jobs.parquet")
    return {
        each.arm.name: completion_errors(
            simulated[simulated["arm"] == each.arm.name],
            emulated[emulated["arm"] == each.arm.name],
        )
        for each in runs
    }


def write_verdicts(directory: Path, summary: dict[str, Any]) -> None:
    """verdict.json: by arm, the worst of its seeds."""
    arms = [arm for arm in summary["arms"] if arm["emulated"]]
    verdicts = {arm["name"]: arm["emulated"]["verdict"] for arm in arms}
    write_json(directory / "verdict.json", verdicts)


def write_timelines(directory: Path, place: Path, runs: Sequence[ArmRuns]) -> None:
    """timeline.json of what was emulated, in ``place``, and of the prediction, if there is one."""
    settings = runs[0].arm.emulation
    until_s = math.inf if settings.timeline_until is None else settings.timeline_until
    emulated = [(each.arm.name, seed) for each in runs for seed in each.emulated]
    write_timeline(place, emulated, (settings.timeline_from, until_s))
    if (directory / "simulated").is_dir():
        simulated = [(each.arm.name, seed) for each in runs for seed in each.simulated]
        write_timeline(directory / "simulated", simulated)
