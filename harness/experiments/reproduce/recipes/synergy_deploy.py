"""Synergy's deployment on real workers: its dynamic trace on 4 servers of 8 GPUs (OSDI'22).

Simulated and emulated, with GPU-proportional shares and with TUNE. With ``--data`` on the published
trace; without it on the shipped one, which has the same statistics.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from emulator.fork_server import ROUNDS_KINDS
from emulator.interrupt import stop_on_signals
from emulator.rounds.scale import RoundsScale
from emulator.session import Session
from harness.emulation.servers import StartServers, start_servers
from harness.experiments.reproduce.data_files import found
from harness.experiments.reproduce.recipe import Recipe, ReproducedFigure, Reproduction, Say
from harness.experiments.reproduce.synergy import PAPER
from harness.experiments.rounds.both import (
    ArmRuns,
    check,
    require_limits,
    scale_here,
    simulate_all,
)
from harness.experiments.rounds.emulate import Standing, emulate_arm
from harness.experiments.rounds.figures import run_document
from harness.experiments.rounds.run import RoundsResult
from harness.fidelity.completion import CompletionErrors, completion_errors
from netshaper.run_state import new_run_id
from traces.errors import BadInputError
from traces.generators.synergy_deployment import deployment_jobs
from traces.rounds_scenario import RoundsScenario, rounds_scenario_of
from traces.sensitivity import builtin_sensitivities
from traces.yaml_source import YamlSource

_S_PER_H = 3600.0
_TARGET = 0.05
_PUBLISHED_SPEEDUP = 1.5
_SPEEDUP_TOLERANCE = 0.1
_SAY_EVERY = 50  # rounds

ARM_SEED = 1
"""Of both sides; nothing in the trace is random."""

TRACE = Path("synergy", "deploy_dynamic_srtf.csv")
_SEED = 3
"""Of the trace that is made where the published one is not there: the shipped example's."""
_SPEEDUP_NOTE = (
    "the paper's is of its physical cluster; the profiles that were published with its simulator, "
    "on which both sides rest here, give the same jobs no more"
)


def deployment(trace: Path) -> RoundsScenario:
    """The scenario of ``trace``: examples/synergy-deploy.yaml."""
    document: dict[str, Any] = {
        "name": "synergy-deploy",
        "cluster": {
            "servers": 4, "gpus": 8, "cpus": 24, "memory": "500 GB", "gpu_type": "v100",
        },
        "workload": {"trace": str(trace.resolve()), "profiles": "synergy"},
        "scheduler": {"policy": "srtf", "round": "300 s"},
        "emulation": {"duration": "12 min"},
        "arms": {
            "proportional": {"scheduler": {"mechanism": "proportional"}},
            "tune": {"scheduler": {"mechanism": "tune"}},
        },
    }  # fmt: skip
    return rounds_scenario_of(YamlSource(Path("scenario.yaml"), "", document))


def _run(data: Path, seeds: int | None, say: Say) -> Reproduction:
    if seeds not in (None, 1):
        raise BadInputError(
            "nothing in the deployment's trace is random", allowed="--seeds 1", key="--seeds"
        )
    published = found(data, TRACE)
    with tempfile.TemporaryDirectory() as made:
        trace = published or _made(Path(made))
        return _emulate(deployment(trace), trace.name, say)


def _made(directory: Path) -> Path:
    """The trace of the shipped example."""
    file = directory / "synergy-deploy.csv"
    jobs = deployment_jobs(builtin_sensitivities("synergy"), "v100", _SEED)
    file.write_text("".join(f"{job}\n" for job in jobs))
    return file


def _emulate(scenario: RoundsScenario, trace: str, say: Say) -> Reproduction:
    check(scenario)
    with (
        Session(new_run_id(), limits=True, kinds=ROUNDS_KINDS) as session,
        stop_on_signals(lambda: say("stopping after the round under way")) as stop,
    ):
        require_limits(session)
        runs = simulate_all(scenario, None, lambda *_: None, stop.wanted)
        if not stop.wanted():
            emulate_all(session, runs, scale_here(scenario, runs), say, stop.wanted)
        interrupted = stop.wanted()
    return Reproduction(
        tuple(figures_of(runs)), inputs=(f"trace {trace}",), interrupted=interrupted
    )


def emulate_all(
    session: Session | None,
    runs: list[ArmRuns],
    scale: RoundsScale,
    say: Say,
    stop: Callable[[], bool],
    start: StartServers = start_servers,
) -> None:
    """Every arm, one after the other; one that was stopped on its way does not count."""
    for each in runs:
        if stop():
            return
        tell = _teller(each.arm.name, say)
        result = emulate_arm(session, each.arm, ARM_SEED, scale, tell, stop, start=start)
        if not result.result.run.stopped:
            each.emulated[ARM_SEED] = result


def _teller(arm: str, say: Say) -> Callable[[Standing], None]:
    rounds = 0

    def tell(standing: Standing) -> None:
        nonlocal rounds
        rounds += 1
        if rounds % _SAY_EVERY == 0:
            say(
                f"{arm}: {standing.finished} of {standing.jobs} jobs, "
                f"{standing.emulated_s / _S_PER_H:.1f} h, {standing.verdict}"
            )

    return tell


def figures_of(runs: list[ArmRuns]) -> Iterator[ReproducedFigure]:
    """The figures of those arms that were emulated to their end."""
    done = {each.arm.name: each for each in runs if each.emulated}
    for each in done.values():
        yield from _of_arm(each)
    if {"proportional", "tune"} <= done.keys():
        yield from _gains(done["proportional"], done["tune"])


def arm_errors(each: ArmRuns) -> CompletionErrors | None:
    """Of the simulator, over the jobs that ended on both sides; None where none did."""
    simulated, emulated = each.simulated[ARM_SEED], each.emulated[ARM_SEED].result
    return completion_errors(_completion(simulated), _completion(emulated))


def _of_arm(each: ArmRuns) -> Iterator[ReproducedFigure]:
    name, verdict = each.arm.name, each.emulated[ARM_SEED].measurement.verdict
    failed = [invariant.name for invariant in verdict.failed]
    yield ReproducedFigure(
        f"{name}: checks of the emulation that failed",
        "",
        float(len(failed)),
        expected=0.0,
        source="a valid emulation fails none",
        tolerance=0.0,
        note=": ".join([f"verdict {verdict.status}", *([", ".join(failed)] if failed else [])]),
        compare="at most",
    )
    errors = arm_errors(each)
    if errors is None:
        yield _error_of_mean(name, None, "no job ended on both sides")
        return
    unpaired = errors.only_emulated + errors.only_simulated
    pairs = f"{errors.jobs} jobs" + (f"; {unpaired} ended on one side only" if unpaired else "")
    yield ReproducedFigure(
        f"{name}: mean JCT, emulated", "h", errors.emulated_mean_s / _S_PER_H, note=pairs
    )
    yield ReproducedFigure(
        f"{name}: mean JCT, simulated", "h", errors.simulated_mean_s / _S_PER_H, note=pairs
    )
    yield _error_of_mean(name, abs(errors.mean_error), f"{errors.mean_error:+.1%}")
    for what, value in (
        ("median, with sign", errors.median),
        ("mean, without sign", errors.mape),
        ("95th percentile, without sign", errors.p95),
        ("largest, without sign", errors.most),
    ):
        yield ReproducedFigure(f"{name}: error of single jobs, {what}", "", value)


def _error_of_mean(arm: str, error: float | None, note: str) -> ReproducedFigure:
    return ReproducedFigure(
        f"{arm}: simulator's error of the mean JCT, without sign",
        "",
        error,
        expected=_TARGET,
        source=f"{PAPER}: simulator within 5 % of the physical cluster",
        tolerance=0.0,
        note=note,
        compare="at most",
    )


def _gains(proportional: ArmRuns, tune: ArmRuns) -> Iterator[ReproducedFigure]:
    slow, fast = (run_document(each.emulated[ARM_SEED].result) for each in (proportional, tune))
    yield ReproducedFigure(
        "speed-up of the mean JCT by TUNE, emulated",
        "x",
        _ratio(_mean_jct_s(slow), _mean_jct_s(fast)),
        expected=_PUBLISHED_SPEEDUP,
        source=f"{PAPER}: dynamic trace on the physical cluster, average JCT",
        tolerance=_SPEEDUP_TOLERANCE,
        note=_SPEEDUP_NOTE,
    )
    yield ReproducedFigure(
        "makespan, proportional over TUNE, emulated",
        "x",
        _ratio(slow["makespan_s"], fast["makespan_s"]),
    )


def _mean_jct_s(document: dict[str, Any]) -> float | None:
    times = document["jct_s"]["all"]
    return times["mean"] if times else None


def _ratio(of: float | None, over: float | None) -> float | None:
    return of / over if of is not None and over else None


def _completion(result: RoundsResult) -> pd.DataFrame:
    table, workload = result.workload.table, result.workload
    return pd.DataFrame(
        {
            "seed": np.full(len(table), result.seed),
            "job": workload.jobs["job"].to_numpy(),
            "jct_s": table.finish_s - table.submit_s,
            "counted": workload.measured,
        }
    )


RECIPE = Recipe(
    id="synergy-deploy",
    title="Synergy's deployment: 100 jobs on 32 emulated GPUs, proportional and TUNE",
    source=f"{PAPER}, dynamic trace on the physical cluster",
    seconds=800,
    needs_data=False,
    run=_run,
)
