"""Arms, traces and runs that the tests of scenarios of rounds share.

A job without a profile runs for its duration, whatever it is given: what becomes of a few of them
on one server can be said by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from harness.experiments.rounds.run import RoundsResult, run_workload
from harness.experiments.rounds.workload import build_workload
from tests.unit.builders import write_scenario
from traces.job_trace import JobTrace, checked_trace
from traces.rounds_scenario import RoundsArm, RoundsScenario, rounds_scenario_of
from traces.scenario_file import ScenarioFile
from traces.sensitivity import Sensitivities, Sensitivity, write_sensitivities

ROUND_S = 10.0


def read_rounds(directory: Path, text: str) -> RoundsScenario:
    return rounds_scenario_of(ScenarioFile.read(write_scenario(directory, text)))


def make_arm(directory: Path, **sections: str) -> RoundsArm:
    """The only arm of a scenario with these ``sections``; else two servers and a trace file."""
    (directory / "jobs.csv").touch()
    defaults = {"cluster": "{servers: 2}", "workload": "{trace: jobs.csv}"}
    lines = [f"{key}: {value}\n" for key, value in ({"name": "arm"} | defaults | sections).items()]
    (arm,) = read_rounds(directory, "".join(lines)).arms
    return arm


def make_trace(**columns: Any) -> JobTrace:
    """Jobs ``a``, ``b``, ... of one GPU from the lines 1, 2, ... that come at once, unless said
    otherwise."""
    count = len(next(iter(columns.values())))
    defaults: dict[str, Any] = {
        "job": [chr(ord("a") + number) for number in range(count)],
        "submit_s": np.zeros(count),
        "num_gpus": np.ones(count, dtype=np.int64),
        "line": np.arange(1, count + 1),
    }
    return checked_trace(pd.DataFrame(defaults | columns), source="a test", format="test")


def run_durations(
    directory: Path,
    duration_s: Sequence[float],
    *,
    submit_s: Sequence[float] | None = None,
    num_gpus: Sequence[int] | None = None,
    gpus: int = 1,
    **sections: str,
) -> RoundsResult:
    """Jobs of these durations in order of arrival on one server of ``gpus``, in rounds of 10 s."""
    columns: dict[str, Any] = {"duration_s": np.array(duration_s, dtype=float)}
    if submit_s is not None:
        columns["submit_s"] = np.array(submit_s, dtype=float)
    if num_gpus is not None:
        columns["num_gpus"] = np.array(num_gpus, dtype=np.int64)
    defaults = {
        "cluster": f"{{servers: 1, gpus: {gpus}}}",
        "workload": "{trace: jobs.csv, profiles: none}",
        "scheduler": f"{{round: {ROUND_S:g} s}}",
    }
    arm = make_arm(directory, **(defaults | sections))
    return run_workload(arm, 1, build_workload(arm, make_trace(**columns), 1))


def make_sensitivity(
    model: str, gpu_type: str, iteration_s: float, *, needs_memory: bool = False
) -> Sensitivity:
    """Takes ``iteration_s`` at 3 CPUs and 62.5 GB for each GPU, and half of it with twice that.

    needs_memory: whether it stands still with 10 GB, rather than run as with 62.5 GB.
    """
    least = 0.0 if needs_memory else 1.0
    return Sensitivity(
        model=model,
        kind="image",
        gpu_type=gpu_type,
        batch_size=8,
        iteration_s=iteration_s,
        reference_cpus=3.0,
        reference_memory_bytes=62.5e9,
        cpus=np.array([3.0, 6.0]),
        memory_bytes=np.array([10e9, 62.5e9, 125e9]),
        throughput=np.array([[least, 1.0, 1.0], [least, 1.0, 2.0]]),
        provenance="measured",
        source="a test",
    )


def write_profiles(
    directory: Path, *entries: tuple[str, str, float], needs_memory: bool = False
) -> None:
    """mine.json, with one (model, GPU type, seconds of an iteration) each."""
    made = tuple(make_sensitivity(*entry, needs_memory=needs_memory) for entry in entries)
    found = Sensitivities(made, "of a test")
    write_sensitivities(found, directory / "mine.json")
