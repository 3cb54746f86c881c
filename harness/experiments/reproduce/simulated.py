"""Many runs of the round simulator, in several processes: plain scenarios in, plain results out."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import pandas as pd

from harness.experiments.reproduce.recipe import Say
from harness.experiments.reproduce.workers import in_parallel, usable_cores
from harness.experiments.rounds.figures import run_document
from harness.experiments.rounds.run import check_arms, run_workload
from harness.experiments.rounds.workload import build_workload, trace_of
from harness.job_table import Flags, Floats
from traces.job_trace import checked_trace
from traces.rounds_scenario import RoundsArm, rounds_scenario_of
from traces.yaml_source import YamlSource

Arm = TypeVar("Arm", bound=Hashable)

_S_PER_H = 3600.0


@dataclass(frozen=True)
class Simulation(Generic[Arm]):
    """A run to make. scenario: what a scenario file says, as plain data, without arms.

    arm: what the figures know it by; as text it tells of progress. jobs: those of the scenario's
    trace that run, where not all of them do or they were changed; its columns are JOB_COLUMNS.
    """

    arm: Arm
    seed: int
    scenario: dict[str, Any]
    jobs: pd.DataFrame | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Simulated:
    """A run that was made; arrays are (jobs,). document: what summary.json would say of it.

    measured: the jobs that count. alone_s: duration at the fair share, without waiting.
    """

    document: dict[str, Any]
    policy: str
    submit_s: Floats
    finish_s: Floats
    alone_s: Floats
    measured: Flags

    @property
    def jct_h(self) -> Floats:
        """Completion times of the jobs that count, in order of submission."""
        taken: Floats = (self.finish_s - self.submit_s)[self.measured] / _S_PER_H
        return taken

    @property
    def mean_h(self) -> float:
        """Their mean."""
        return float(self.jct_h.mean())

    @property
    def load(self) -> float:
        """rho: see run_document."""
        return float(self.document["load"])

    def is_short(self, up_to_h: float) -> Flags:
        """Of the jobs that count, those that take no longer than ``up_to_h`` when alone."""
        short: Flags = self.alone_s[self.measured] <= up_to_h * _S_PER_H
        return short

    @property
    def ran_dry(self) -> bool:
        """Whether arrivals ended before the last job that counts did, which helps the jobs that
        others would have overtaken. Under FIFO none would have, and a whole trace has no more.
        """
        whole = bool(self.measured[-1])
        dry = bool(self.submit_s[-1] < self.document["end_s"])
        return dry and not whole and self.policy != "fifo"


@dataclass(frozen=True)
class Runs(Generic[Arm]):
    """What was simulated, by arm and seed. interrupted: not all that was wanted."""

    by_arm: dict[Arm, dict[int, Simulated]]
    interrupted: bool

    def of(self, *arms: Arm) -> list[tuple[Simulated, ...]]:
        """For each seed that all of ``arms`` have, their runs, in the order of seeds."""
        found = [self.by_arm.get(arm, {}) for arm in arms]
        seeds = functools.reduce(lambda a, b: a & b, (set(each) for each in found))
        return [tuple(each[seed] for each in found) for seed in sorted(seeds)]

    @property
    def inputs(self) -> tuple[str, ...]:
        """Their workloads, in words."""
        every = (run for runs in self.by_arm.values() for run in runs.values())
        return tuple(sorted({str(run.document["source"]) for run in every}))


def simulate_all(
    simulations: Sequence[Simulation[Arm]], say: Say, processes: int | None = None
) -> Runs[Arm]:
    """Make all of them; after Ctrl-C, those that were done until then.

    Hand them over by seed, so that a part of them has every arm. Raises BadInputError.
    """
    by_arm: dict[Arm, dict[int, Simulated]] = {}
    interrupted = False
    results = in_parallel(_simulate, simulations, processes or usable_cores())
    try:
        with contextlib.closing(results):
            for done, (index, result) in enumerate(results, 1):
                simulation = simulations[index]
                by_arm.setdefault(simulation.arm, {})[simulation.seed] = result
                say(f"{done} of {len(simulations)}: {simulation.arm}, seed {simulation.seed}")
    except KeyboardInterrupt:
        interrupted = True
    return Runs(by_arm, interrupted)


def arm_of(scenario: dict[str, Any]) -> RoundsArm:
    """The only arm of a plain scenario, checked. Its paths count from the current directory."""
    checked = rounds_scenario_of(YamlSource(Path("scenario.yaml"), "", scenario))
    check_arms(checked)
    return checked.arms[0]


def _simulate(simulation: Simulation[Any]) -> Simulated:
    arm = arm_of(simulation.scenario)
    if simulation.jobs is None:
        trace = trace_of(arm, simulation.seed)
    else:
        words = f"{len(simulation.jobs):,} jobs of {arm.workload.trace}"
        trace = checked_trace(
            simulation.jobs, source=words, format="part of a trace", file=arm.trace_file
        )
    result = run_workload(arm, simulation.seed, build_workload(arm, trace, simulation.seed))
    table = result.workload.table
    return Simulated(
        document=run_document(result),
        policy=arm.scheduler.policy,
        submit_s=table.submit_s,
        finish_s=table.finish_s,
        alone_s=result.workload.alone_s,
        measured=result.workload.measured,
    )
