"""Synergy's deployment on real workers: its dynamic trace on 4 servers of 8 GPUs (OSDI'22).

Simulated and emulated, with GPU-proportional shares and with TUNE. With ``--data`` on the published
trace; without it on the shipped one, which has the same statistics.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from emulator.interrupt import stop_on_signals
from emulator.session import Session
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
        Session(new_run_id(), limits=True) as session,
        stop_on_signals(lambda: say("stopping after the round under way")) as stop,
    ):
        require_limits(session)
        runs = simulate_all(scenario, None, lambda *_: None, stop.wanted)
        scale = scale_here(scenario, runs)
        for each in runs:
            if stop.wanted():
                break
            result = emulate_arm(
                session, each.arm, 1, scale, _teller(each.arm.name, say), stop.wanted
            )
            if not stop.wanted():
                each.emulated[1] = result
        interrupted = stop.wanted()
    return Reproduction(
        tuple(figures_of(runs)), inputs=(f"trace {trace}",), interrupted=interrupted
    )


def _teller(arm: str, say: Say) -> Any:
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
    errors: dict[str, CompletionErrors] = {}
    for each in runs:
        if not each.emulated:
            continue
        name, emulated = each.arm.name, each.emulated[1]
        found_errors = completion_errors(
            _completion(each.simulated[1]), _completion(emulated.result)
        )
        if found_errors is None:
            continue
        errors[name] = found_errors
        status = f"verdict: {emulated.measurement.verdict.status}"
        yield ReproducedFigure(
            f"{name}: mean JCT, emulated", "h", found_errors.emulated_mean_s / _S_PER_H, note=status
        )
        yield ReproducedFigure(
            f"{name}: mean JCT, simulated", "h", found_errors.simulated_mean_s / _S_PER_H
        )
        yield ReproducedFigure(
            f"{name}: simulator's error of the mean JCT, without sign",
            "",
            abs(found_errors.mean_error),
            expected=_TARGET,
            source=f"{PAPER}: simulator within 5 % of the physical cluster",
            tolerance=0.0,
            note=f"{found_errors.mean_error:+.1%}; {status}",
            compare="at most",
        )
        for what, value in (
            ("median, with sign", found_errors.median),
            ("mean, without sign", found_errors.mape),
            ("95th percentile, without sign", found_errors.p95),
            ("largest, without sign", found_errors.most),
        ):
            yield ReproducedFigure(f"{name}: error of single jobs, {what}", "", value)
    if {"proportional", "tune"} <= errors.keys():
        yield ReproducedFigure(
            "speed-up of the mean JCT by TUNE, emulated",
            "x",
            errors["proportional"].emulated_mean_s / errors["tune"].emulated_mean_s,
            expected=_PUBLISHED_SPEEDUP,
            source=f"{PAPER}: dynamic trace on the physical cluster, average JCT",
            tolerance=_SPEEDUP_TOLERANCE,
            note=_SPEEDUP_NOTE,
        )


def _completion(result: Any) -> pd.DataFrame:
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
