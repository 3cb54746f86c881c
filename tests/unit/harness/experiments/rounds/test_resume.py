"""A run that was stopped goes on from its file as if it had not been."""

from __future__ import annotations

import functools
import json
import stat
import tempfile
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.rounds.checkpoint import Checkpoint, WorkerCheckpoint
from emulator.training.specification import EpochPosition, PipelineState
from harness.experiments.rounds.resume import (
    Identity,
    RunState,
    check_resumable,
    identity_of,
    load_state,
    save_state,
)
from harness.experiments.rounds.run import mechanism_of, scheduler_of, semantics_of
from harness.experiments.rounds.workload import Workload
from harness.job_table import JobTable
from harness.leases import Leases
from harness.rounds import Position, RoundsRun, run_rounds
from harness.scheduling.policies import POLICIES
from harness.simulation.round_cluster import SimulatedCluster
from tests.unit.harness.experiments.rounds.builders import make_arm
from tests.unit.harness.experiments.rounds.test_replay import workload_of
from tests.unit.harness.scheduling_builders import LeaseLog
from traces.errors import BadInputError
from traces.rounds_scenario import RoundsArm

TEXT = "the scenario"
KEPT = {"job-3": Checkpoint((WorkerCheckpoint(0.25, PipelineState(EpochPosition(2, 7), (4, 1))),))}


def arm_of(policy: str, mechanism: str, **keys: str) -> RoundsArm:
    more = "".join(f", {key}: {value}" for key, value in keys.items())
    with tempfile.TemporaryDirectory() as directory:
        return make_arm(
            Path(directory),
            scheduler=f"{{policy: {policy}, mechanism: {mechanism}{more}}}",
            simulation="{restart: 20 s, checkpoint: 7 s}",
        )


def run(
    arm: RoundsArm, file: Path, *, resumes: bool = False, decisions: int | None = None
) -> tuple[Workload, RoundsRun, LeaseLog]:
    """With new objects; stopped after ``decisions``. Its state is kept all along."""
    workload = workload_of(arm)
    table, log = workload.table, LeaseLog()
    scheduler = scheduler_of(arm, workload, mechanism_of(arm, workload))
    leases, semantics = Leases(table, log), semantics_of(arm)
    identity = identity_of(TEXT, arm, 1, workload)
    state = load_state(file, identity, len(table)) if resumes else None
    if state:
        state.restore(table, scheduler, leases)
        assert state.checkpoints == KEPT
        assert state.incidents == ("one",)

    def passed(position: Position) -> None:
        now = RunState.of(table, position, scheduler, leases, KEPT, ["one"])
        save_state(file, identity, now)

    made = iter(range(1, 10**6))
    rounds = run_rounds(
        table,
        scheduler,
        SimulatedCluster(table, semantics),
        leases,
        semantics.round_s,
        workload.measured,
        stop=lambda: next(made) == decisions,
        passed=passed,
        begin=state.position if state else None,
    )
    return workload, rounds, log


@functools.cache
def whole_run(policy: str, mechanism: str, **keys: str) -> tuple[Workload, RoundsRun, LeaseLog]:
    with tempfile.TemporaryDirectory() as directory:
        return run(arm_of(policy, mechanism, **keys), Path(directory) / "state.json")


def check_stops(policy: str, mechanism: str, stops: list[int], **keys: str) -> None:
    arm = arm_of(policy, mechanism, **keys)
    whole, whole_rounds, whole_log = whole_run(policy, mechanism, **keys)
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "state.json"
        seen = []
        for position, decisions in enumerate(stops):
            stopped = run(arm, file, resumes=position > 0, decisions=decisions)
            seen.append(stopped[1].stopped)
        resumed, rounds, log = run(arm, file, resumes=True)
    for column in fields(JobTable):
        np.testing.assert_array_equal(
            getattr(resumed.table, column.name), getattr(whole.table, column.name), column.name
        )
    assert (rounds.rounds, rounds.decisions, rounds.end_s) == (
        whole_rounds.rounds,
        whole_rounds.decisions,
        whole_rounds.end_s,
    )
    # Leases that were held at the stop end as they would have, from where they began.
    assert log.rows == whole_log.rows[len(whole_log.rows) - len(log.rows) :]
    assert any(seen)


@pytest.mark.parametrize("policy", ["fifo", "srtf", "las"])
@pytest.mark.parametrize("mechanism", ["proportional", "tune"])
def test_a_stop_changes_nothing(policy: str, mechanism: str) -> None:
    check_stops(policy, mechanism, [1, 3, 17])


def test_nor_does_it_where_jobs_have_priority_after_a_while() -> None:
    check_stops("srtf", "tune", [12, 20], priority_after="2000 s")


@settings(max_examples=15, deadline=None)
@given(
    policy=st.sampled_from(["fifo", "srtf", "las"]),
    mechanism=st.sampled_from(["proportional", "tune", "greedy"]),
    stops=st.lists(st.integers(1, 30), min_size=1, max_size=3),
)
def test_nor_do_any_stops(policy: str, mechanism: str, stops: list[int]) -> None:
    check_stops(policy, mechanism, stops)


def test_policies_with_a_history_are_refused() -> None:
    with_history = {"tiresias", "themis-max-min", "themis-muri"}
    for policy in with_history:
        with pytest.raises(BadInputError, match=policy) as caught:
            check_resumable(arm_of(policy, "proportional"))
        assert caught.value.key == "scheduler.policy"
    for policy in POLICIES.keys() - with_history:
        check_resumable(arm_of(policy, "proportional"))


def test_opt_is_refused() -> None:
    with pytest.raises(BadInputError, match="'opt' cannot go on"):
        check_resumable(arm_of("fifo", "opt"))


def test_restarts_of_all_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="'all' cannot go on"):
        check_resumable(make_arm(tmp_path, simulation="{restarts: all}"))


@pytest.fixture
def stopped(tmp_path: Path) -> tuple[Path, Identity]:
    arm = arm_of("fifo", "tune")
    workload, _, _ = run(arm, tmp_path / "state.json", decisions=3)
    return tmp_path / "state.json", identity_of(TEXT, arm, 1, workload)


def test_only_its_owner_reads_the_file_and_nothing_is_left_beside_it(
    stopped: tuple[Path, Identity],
) -> None:
    file, _ = stopped
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.glob("state*")] == ["state.json"]


@pytest.mark.parametrize("key", ["scenario", "arm", "seed", "jobs", "scale"])
def test_the_state_of_another_run_is_refused(key: str, stopped: tuple[Path, Identity]) -> None:
    file, identity = stopped
    with pytest.raises(BadInputError, match=f"state.json: is of another {key}"):
        load_state(file, {**identity, key: "other"}, 40)


def test_other_jobs_are_another_identity() -> None:
    arm = arm_of("fifo", "tune")
    first, other = (
        identity_of(TEXT, arm, 1, workload_of(arm, slower=slower)) for slower in (1.0, 1.1)
    )
    assert first["jobs"] != other["jobs"]
    assert {**first, "jobs": None} == {**other, "jobs": None}


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda text: text[:-20], "is not JSON"),
        (lambda _: "[]", "is damaged"),
        (lambda text: json.dumps({**json.loads(text), "version": 2}), "another version"),
        (lambda text: json.dumps({**json.loads(text), "from_s": [1.0]}), "not all columns"),
        (lambda text: json.dumps({**json.loads(text), "before": {}}), "is damaged"),
        (lambda text: json.dumps({**json.loads(text), "position": None}), "is damaged"),
    ],
)
def test_a_damaged_file_is_refused(
    damage: Callable[[str], str], words: str, stopped: tuple[Path, Identity]
) -> None:
    file, identity = stopped
    file.write_text(damage(file.read_text()))
    with pytest.raises(BadInputError, match=words):
        load_state(file, identity, 40)
