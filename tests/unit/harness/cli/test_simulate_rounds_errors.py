"""Of a scenario of rounds that is no good, simulate says so in a line and leaves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.builders import ROUNDS_SCENARIO, edited, line_of, write_scenario
from tests.unit.harness.cli.conftest import Roundelay
from tests.unit.harness.cli.said import one_line
from tests.unit.traces.rounds_scenarios import GENERATE, TUNE

BAD_SCENARIOS = [
    # what is written, instead of what, key of the error
    ("sead: 5", "seed: 5", "sead"),
    ("memory: 500 Gbit/s", "memory: 500 GB", "cluster.memory"),
    ("    scheduler: {mechanism: tunes}", TUNE, "arms.tune.scheduler.mechanism"),
    ("    scheduler: {policy: lifo}", TUNE, "arms.tune.scheduler.policy"),
    ("    scheduler: {round: 0 s}", TUNE, "arms.tune.scheduler.round"),
    ("    measure: {count: 51}", TUNE, "arms.tune.measure.count"),
    ("    simulation: {speeds: two-point}\n    cluster: {cpus: 16}", TUNE,
     "arms.tune.simulation.speeds"),
    ("    simulation: {progress: whole-iterations}\n    scheduler: {round: 100 ms}", TUNE,
     "arms.tune.simulation.progress"),
    ("    cluster: {gpu_type: a100}", TUNE, "workload.profiles"),
    ("  trace: jobs.csv", GENERATE.rstrip(), "workload.trace"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("new", "old", "key"), BAD_SCENARIOS, ids=[f"{each[2]}={each[0]}" for each in BAD_SCENARIOS]
)
def test_a_bad_scenario_is_one_line_and_leaves_nothing(
    roundelay: Roundelay, tmp_path: Path, new: str, old: str, key: str
) -> None:
    """Also where only the last arm is bad: nothing runs before all arms are sound."""
    text = edited(ROUNDS_SCENARIO, old, new)
    file = write_scenario(tmp_path, text)
    said = one_line(roundelay("simulate", file, "-o", tmp_path / "out"), exit_code=2)
    line = line_of(text, "profiles:" if key == "workload.profiles" else new.splitlines()[0])
    assert said.startswith(f"roundelay: {file}:{line}: {key}: ")
    assert "; allowed: " in said
    assert not (tmp_path / "out").exists()


def test_a_scenario_that_forgets_its_jobs_is_told_so(roundelay: Roundelay, tmp_path: Path) -> None:
    text = edited(ROUNDS_SCENARIO, GENERATE, "")
    file = write_scenario(tmp_path, text)
    said = one_line(roundelay("simulate", file), exit_code=2)
    assert "the jobs are not given once" in said
    assert "either 'trace' (a file) or 'generate', not both" in said
