"""The same job real and replayed, in the same three places. Pure but for the profiles' files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.experiments.reproduce.replay_real.jobs import (
    DATA_PARALLEL,
    LATER_BATCHES_S,
    RATE_BPS,
    UNLIKE,
    RealJob,
)
from traces.model_profile import ModelProfile, write_profile
from traces.quantities import format_rate
from traces.scenario import Scenario, scenario_of
from traces.yaml_source import YamlSource

TESTED, OTHER = "tested", "other"
REAL, REPLAYED = "real", "replayed"
ALONE, BESIDE, SHIFTED = "alone", "beside", "shifted"
PLACES = (ALONE, BESIDE, SHIFTED)
"""Alone; beside another real job on the middle link; with time-shifts beside one whose iterations
take as long."""

_WARMUP_ITERATIONS = 3


def arm_name(place: str, kind: str) -> str:
    """kind: REAL or REPLAYED, of the tested job; the other one is always real."""
    return f"{place}-{kind}"


def scenario(
    tested: RealJob, profiles: Mapping[str, ModelProfile], iterations: int, directory: Path
) -> Scenario:
    """``tested`` on two servers of a dumbbell, and a data-parallel job on the two others.

    directory: an existing one, for the files of the profiles.
    """
    unlike = f"{UNLIKE.name}-later"
    for name, profile in (*profiles.items(), (unlike, _with_later_batches(profiles[UNLIKE.name]))):
        write_profile(profile, directory / f"{name}.json")
    real = _job(TESTED, tested.name, 0) | {"command": list(tested.command)}
    replayed = _job(TESTED, tested.name, 0)
    beside = _job(OTHER, unlike, 1) | {"command": list(UNLIKE.command)}
    shifted = _job(OTHER, DATA_PARALLEL.name, 1) | {"command": list(DATA_PARALLEL.command)}
    arms: dict[str, Any] = {}
    for kind, job in ((REAL, real), (REPLAYED, replayed)):
        arms[arm_name(ALONE, kind)] = {"workload": {"jobs": [job]}}
        arms[arm_name(BESIDE, kind)] = {"workload": {"jobs": [job, beside]}}
        arms[arm_name(SHIFTED, kind)] = {
            "workload": {"jobs": [job, shifted]},
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
            "jobs": [real, beside],
        },
        "arms": {name: arms[name] for name in ordered},
    }
    return scenario_of(YamlSource(directory / "scenario.yaml", "", document))


def _job(name: str, profile: str, place: int) -> dict[str, Any]:
    return {
        "id": name,
        "profile": f"{profile}.json",
        "servers": [f"left{place}", f"right{place}"],
    }


def _with_later_batches(profile: ModelProfile) -> ModelProfile:
    """What UNLIKE sends, for the simulator alone: as DATA_PARALLEL, LATER_BATCHES_S later."""
    demand = profile.demand
    later = replace(
        demand,
        compute_s=demand.compute_s + LATER_BATCHES_S,
        transfers=tuple(
            replace(each, ready_s=each.ready_s + LATER_BATCHES_S) for each in demand.transfers
        ),
    )
    return profile.model_copy(update={"demand": later, "measured_iteration_s": None})
