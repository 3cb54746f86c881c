"""Parts of the small scenario of rounds that tests put others in place of, and how it is read."""

from __future__ import annotations

from pathlib import Path

from tests.unit.builders import ROUNDS_SCENARIO, write_scenario
from tests.unit.refusal import refusal_of
from traces.errors import BadInputError
from traces.rounds_scenario import GenerateSpec, RoundsArm, RoundsScenario, rounds_scenario_of
from traces.scenario_file import ScenarioFile
from traces.sensitivity import Sensitivities, builtin_sensitivities, write_sensitivities

HEAD = ROUNDS_SCENARIO[: ROUNDS_SCENARIO.index("arms:")]
GENERATE = "  generate:\n    jobs: 60\n    load: 1.0\n    gpus: single\n"
TUNE = "    scheduler: {mechanism: tune}"
SERVER_KEYS = "servers, gpus, cpus, memory, storage, gpu_type"


def read(file: Path) -> RoundsScenario:
    return rounds_scenario_of(ScenarioFile.read(file))


def scenario_of(directory: Path, text: str = ROUNDS_SCENARIO) -> RoundsScenario:
    return read(write_scenario(directory, text))


def arms_of(directory: Path, text: str) -> dict[str, RoundsArm]:
    return {arm.name: arm for arm in scenario_of(directory, text).arms}


def refusal(directory: Path, text: str) -> BadInputError:
    file = write_scenario(directory, text)
    return refusal_of(file, read, file)


def generated(arm: RoundsArm) -> GenerateSpec:
    assert arm.workload.generate is not None
    return arm.workload.generate


def models(arm: RoundsArm) -> tuple[str, ...]:
    return () if arm.sensitivities is None else arm.sensitivities.models


def write_neighbours(directory: Path) -> Sensitivities:
    """A trace, jobs.csv, and profiles, mine.json, that are a part of Synergy's."""
    (directory / "jobs.csv").write_text("1,gnmt,0,10,1\n")
    known = builtin_sensitivities("synergy")
    some = Sensitivities((known.of("alexnet", "v100"), known.of("gnmt", "v100")), "a part")
    write_sensitivities(some, directory / "mine.json")
    return some
