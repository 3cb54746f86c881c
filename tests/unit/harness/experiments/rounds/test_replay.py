"""A recorded schedule is given out again as it was, and a recording of anything else is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from harness.experiments.rounds.replay import read_recorded
from harness.experiments.rounds.run import run_workload, semantics_of
from harness.experiments.rounds.store import RoundsStore
from harness.experiments.rounds.workload import Workload, build_workload
from harness.leases import Leases
from harness.rounds import run_rounds
from harness.scheduling.recorded import RecordedSchedule
from harness.simulation.round_cluster import SimulatedCluster
from tests.unit.harness.experiments.rounds.builders import make_arm, make_trace
from tests.unit.harness.scheduling_builders import LeaseLog
from traces.errors import BadInputError
from traces.rounds_scenario import RoundsArm

MODELS = ["alexnet", "lstm", "m5", "res50", "gnmt", "deepspeech", "shufflenet", "res18"]


def workload_of(arm: RoundsArm, count: int = 40, slower: float = 1.0) -> Workload:
    """On more GPUs than there are, for a while."""
    random = np.random.default_rng(3)
    trace = make_trace(
        job=[f"job-{number}" for number in range(count)],
        submit_s=np.sort(random.uniform(0, 4000, count)),
        model=[MODELS[number % len(MODELS)] for number in range(count)],
        num_gpus=random.choice([1, 1, 1, 2, 4], count),
        duration_s=random.uniform(200, 9000, count) * slower,
    )
    return build_workload(arm, trace, 1)


def arm_of(directory: Path, policy: str = "srtf", mechanism: str = "tune") -> RoundsArm:
    scheduler = f"{{policy: {policy}, mechanism: {mechanism}}}"
    return make_arm(directory, scheduler=scheduler, simulation="{restart: 20 s}")


def record(arm: RoundsArm, directory: Path) -> tuple[Workload, LeaseLog]:
    """What was run, and its leases; they are in rounds.parquet too."""
    log = LeaseLog()
    workload = workload_of(arm)
    with RoundsStore(directory) as store:

        def keep(of: Workload, rows) -> None:  # type: ignore[no-untyped-def]
            store.add_leases(arm, 1, of, rows)
            log(rows)

        run_workload(arm, 1, workload, ended=keep)
    return workload, log


def replay(
    arm: RoundsArm, directory: Path, workload: Workload
) -> tuple[RecordedSchedule, LeaseLog, float]:
    log = LeaseLog()
    schedule = read_recorded(directory, "arm", 1, arm, workload)
    semantics = semantics_of(arm)
    run = run_rounds(
        workload.table,
        schedule,
        SimulatedCluster(workload.table, semantics),
        Leases(workload.table, log),
        semantics.round_s,
        workload.measured,
        stop=iter([False] * 2000 + [True]).__next__,
    )
    assert not run.stopped
    return schedule, log, run.end_s


@pytest.mark.parametrize("policy", ["fifo", "srtf", "las"])
@pytest.mark.parametrize("mechanism", ["proportional", "tune"])
def test_a_replay_is_what_was_recorded(policy: str, mechanism: str, tmp_path: Path) -> None:
    arm = arm_of(tmp_path, policy, mechanism)
    recorded, recorded_leases = record(arm, tmp_path)
    again = workload_of(arm)
    schedule, leases, _ = replay(arm, tmp_path, again)
    assert schedule.overran == schedule.waited_rounds == 0
    # Where the policy is steady, the recorded run summed up many rounds at once.
    for column in ("start_s", "finish_s", "attained_s"):
        expected = pytest.approx(getattr(recorded.table, column), rel=1e-12)
        assert getattr(again.table, column) == expected, column
    assert again.table.leases.tolist() == recorded.table.leases.tolist()
    assert (recorded.table.leases > 1).any()
    assert len(leases.rows) == len(recorded_leases.rows)
    pairs = zip(
        sorted(leases.rows, key=lambda row: (row.job, row.from_s, row.server)),
        sorted(recorded_leases.rows, key=lambda row: (row.job, row.from_s, row.server)),
        strict=True,
    )
    for found, expected_row in pairs:
        assert vars(found) == pytest.approx(vars(expected_row), rel=1e-12)


def test_jobs_that_take_longer_keep_their_leases_and_others_wait_for_them(tmp_path: Path) -> None:
    """Nothing is ever given out twice."""
    arm = arm_of(tmp_path)
    record(arm, tmp_path)
    slower = workload_of(arm, slower=1.3)
    schedule, leases, _ = replay(arm, tmp_path, slower)
    assert not np.isnan(slower.table.finish_s).any()
    assert schedule.overran > len(slower.table) / 2
    assert schedule.waited_rounds > 0
    rows = pd.DataFrame([vars(row) for row in leases.rows])
    for moment_s in np.unique(rows["from_s"]):
        held = rows[(rows["from_s"] <= moment_s) & (rows["until_s"] > moment_s)]
        used = held.groupby("server")[["gpus", "cpus", "memory_bytes"]].sum()
        capacity = np.column_stack([arm.pool.gpus, arm.pool.resources[:, :2]])[used.index]
        assert (used.to_numpy() <= capacity * (1 + 1e-6)).all()


def test_what_a_shorter_job_frees_nobody_gets(tmp_path: Path) -> None:
    arm = arm_of(tmp_path)
    recorded, _ = record(arm, tmp_path)
    shorter = workload_of(arm, slower=0.7)
    schedule, _, _ = replay(arm, tmp_path, shorter)
    assert schedule.overran == 0
    assert shorter.table.start_s.tolist() == recorded.table.start_s.tolist()
    assert (shorter.table.finish_s < recorded.table.finish_s).all()


def shifted(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(from_s=rows["from_s"] + 10.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows.assign(arm="other"), "has no leases of arm 'arm'; allowed: other"),
        (lambda rows: rows.assign(seed=7), "has no leases of seed 1; allowed: 7"),
        (lambda rows: rows.assign(job="strange"), "job 'strange' is not in this workload"),
        (shifted, "does not begin at a round's start"),
        (lambda rows: rows.assign(server=2), "on a server that the cluster lacks"),
        (lambda rows: rows.assign(server=-1), "on a server that the cluster lacks"),
        (lambda rows: rows.assign(gpus=0.5), "a part of a GPU"),
        (lambda rows: rows.assign(gpus=rows["gpus"] * 2), "neither what it wishes"),
        (lambda rows: rows.assign(cpus=rows["cpus"] * 1.5), "neither what it wishes"),
        (lambda rows: rows.assign(from_s=0.0), "overlaps|not alike|another number"),
        (lambda rows: rows.assign(until_s=np.nan), "lacks a value"),
        (lambda rows: rows[rows["job"] != "job-0"], "'job-0' counts, and was never given"),
        (lambda rows: rows.drop(columns="cpus"), "cannot be read"),
    ],
)
def test_another_recording_is_refused(
    change: Callable[[pd.DataFrame], pd.DataFrame], words: str, tmp_path: Path
) -> None:
    arm = arm_of(tmp_path)
    record(arm, tmp_path)
    file = tmp_path / "rounds.parquet"
    change(pd.read_parquet(file)).to_parquet(file)
    with pytest.raises(BadInputError, match=words) as raised:
        read_recorded(tmp_path, "arm", 1, arm, workload_of(arm))
    assert str(raised.value).startswith(str(file))


def test_a_directory_without_a_recording_is_refused(tmp_path: Path) -> None:
    arm = arm_of(tmp_path)
    with pytest.raises(BadInputError, match="no such file"):
        read_recorded(tmp_path, "arm", 1, arm, workload_of(arm))
