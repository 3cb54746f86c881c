"""A run of rounds whose controller is killed goes on from its state, and counts nothing twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from emulator.fork_server import ROUNDS_KINDS
from emulator.rounds.scale import RoundsScale
from emulator.rounds.steps import Divisors
from emulator.session import Session
from harness.experiments.rounds.emulate import EmulatedResult, emulate_arm
from harness.experiments.rounds.resume import KeptState
from tests.kernel.command import roundelay, wait_until
from tests.kernel.machine import leftovers
from traces.rounds_scenario import rounds_scenario_of
from traces.scenario_file import ScenarioFile

SCENARIO = """\
name: resumed
cluster: {servers: 2, gpus: 2, cpus: 8, memory: 200 GB}
workload: {trace: jobs.csv, profiles: none}
scheduler: {policy: srtf, mechanism: proportional, round: 30 s}
"""
JOBS = """\
timestamp,duration,num_gpus,gpu_time,cluster
2017-10-09 07:00:00,200,1,200,vc
2017-10-09 07:00:00,160,2,320,vc
2017-10-09 07:00:00,110,2,220,vc
2017-10-09 07:00:20,70,1,70,vc
2017-10-09 07:00:40,50,4,200,vc
"""
ROOT = Path(__file__).parents[2]
SCALE = RoundsScale(
    divisors=Divisors(stride=30.0, cpu=20.0, bytes=400.0),
    storage_bytes_per_s=500e6,
    round_s=30.0,
    wall_s=20.0,
    cpus=16.0,
    cores=2,
    cache_bytes=1e6,
    storage_load_hop_bps=4e7,
    budget_hop_bps=1.6e9,
    budget_source="a test",
    models=(),
    reason="a test",
)
CONTROLLER = """
import sys
from pathlib import Path
from tests.kernel.test_resumed_rounds import emulate
emulate("resume1", Path(sys.argv[1]), resumes=False)
"""


def emulate(run_id: str, directory: Path, *, resumes: bool) -> EmulatedResult:
    """The scenario in ``directory``, whose state is kept there."""
    scenario = rounds_scenario_of(ScenarioFile.read(directory / "scenario.yaml"))
    keep = KeptState(directory / "rounds-state.json", scenario.text, resumes)
    with Session(run_id, limits=True, kinds=ROUNDS_KINDS) as session:
        return emulate_arm(session, scenario.arms[0], 1, SCALE, keep=keep)


def kept(directory: Path) -> dict[str, Any]:
    """The state as it stands; empty before there is one."""
    file = directory / "rounds-state.json"
    document: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return document


def test_a_killed_run_goes_on_and_counts_nothing_twice(
    tmp_path: Path, state_directory: Path
) -> None:
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    (tmp_path / "jobs.csv").write_text(JOBS)
    with subprocess.Popen((sys.executable, "-c", CONTROLLER, str(tmp_path)), cwd=ROOT) as run:
        try:
            wait_until(
                lambda: (
                    run.poll() is not None
                    or kept(tmp_path).get("position", {}).get("number", 0) >= 4
                ),
                "four rounds",
                timeout_s=60.0,
            )
        finally:
            run.kill()
    assert run.returncode == -signal.SIGKILL, "it ended before it was killed"
    assert roundelay("clean", "--run", "resume1").returncode == 0
    assert not any(leftovers("resume1", state_directory).values())

    before = kept(tmp_path)
    now_s = before["position"]["number"] * SCALE.round_s
    done = np.array(before["progress"]["done_iterations"])
    unfinished = np.array([time is None for time in before["progress"]["finish_s"]])
    assert (done[unfinished] > 0).any(), "nothing was under way when it was killed"

    found = emulate("resume2", tmp_path, resumes=True)
    table = found.result.workload.table
    assert not np.isnan(table.finish_s).any()
    assert table.done_iterations.tolist() == table.iterations.tolist()
    assert np.isnan(table.left_s).all()
    alone_s = found.result.workload.alone_s
    assert (table.finish_s - table.submit_s >= alone_s * 0.999).all()
    # What was left at the kill has been computed after it, and what had ended was not touched.
    left_s = (table.iterations - done) * alone_s / table.iterations
    assert (table.finish_s - now_s >= left_s * 0.999)[unfinished].all()
    finished_before = np.array(before["progress"]["finish_s"], dtype=float)
    assert table.finish_s[~unfinished].tolist() == finished_before[~unfinished].tolist()
    assert any("resumed at round" in clause for clause in found.incidents)
