"""The same job real and replayed, in the same three places. Pure but for the profiles' files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.experiments.reproduce.replay_real.jobs import DATA_PARALLEL, RATE_BPS, RealJob
from traces.model_profile import ModelProfile, write_profile
from traces.quantities import format_duration, format_rate
from traces.scenario import Scenario, scenario_of
from traces.yaml_source import YamlSource

TESTED, OTHER = "tested", "other"
REAL, REPLAYED = "real", "replayed"
ALONE, BESIDE, SHIFTED = "alone", "beside", "shifted"
PLACES = (ALONE, BESIDE, SHIFTED)
"""Alone; beside another real job on the middle link; there with time-shifts."""

_WARMUP_ITERATIONS = 3


def arm_name(place: str, kind: str) -> str:
    """kind: REAL or REPLAYED, of the tested job; the other one is always real."""
    return f"{place}-{kind}"


def scenario(
    tested: RealJob,
    profiles: Mapping[str, ModelProfile],
    iterations: int,
    other_start_s: float,
    directory: Path,
) -> Scenario:
    """``tested`` on two servers of a dumbbell, and a data-parallel job on the two others.

    other_start_s: from the beginning of the tested job to that of the other one.
    directory: an existing one, for the files of the profiles.
    """
    for name, profile in profiles.items():
        write_profile(profile, directory / f"{name}.json")
    real = _job(TESTED, tested, 0) | {"command": list(tested.command)}
    replayed = _job(TESTED, tested, 0)
    other = _job(OTHER, DATA_PARALLEL, 1) | {
        "command": list(DATA_PARALLEL.command),
        "start": format_duration(other_start_s),
    }
    arms: dict[str, Any] = {}
    for kind, job in ((REAL, real), (REPLAYED, replayed)):
        arms[arm_name(ALONE, kind)] = {"workload": {"jobs": [job]}}
        arms[arm_name(BESIDE, kind)] = {"workload": {"jobs": [job, other]}}
        arms[arm_name(SHIFTED, kind)] = {
            "workload": {"jobs": [job, other]},
            "scheduler": {"interleaver": "cassini"},
        }
    ordered = {arm_name(place, kind): None for place in PLACES for kind in (REAL, REPLAYED)}
    document: dict[str, Any] = {
        "name": f"replay-{tested.name.replace('_', '-')}",
        "cluster": {
            "preset": "dumbbell",
            "servers_left": 2,
            "servers_right": 2,
            "rate": format_rate(RATE_BPS),
        },
        "workload": {
            "iterations": iterations,
            "warmup_iterations": _WARMUP_ITERATIONS,
            "jobs": [real, other],
        },
        "arms": {name: arms[name] for name in ordered},
    }
    return scenario_of(YamlSource(directory / "scenario.yaml", "", document))


def _job(name: str, job: RealJob, place: int) -> dict[str, Any]:
    return {
        "id": name,
        "profile": f"{job.name}.json",
        "servers": [f"left{place}", f"right{place}"],
    }
