"""Rounds on real workers: how far jobs come, what moves with them, and what outlives a fault."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from emulator.cgroups import processes_in
from emulator.rounds import servers as servers_module
from emulator.rounds import worker_starter
from emulator.rounds.lease import JobState
from emulator.rounds.run import EmulatedRun
from netshaper.run_state import STATE_DIRECTORY_VARIABLE
from tests.kernel.command import roundelay
from tests.kernel.emulated_cluster import COMPUTING, READING, cluster, lease
from tests.kernel.machine import leftovers
from tests.kernel.undisturbed import on_an_undisturbed_box
from traces.errors import EmulationError
from traces.stage_costs import StageCosts

ROUND_S = 30.0


def trainers(run: EmulatedRun, job: str) -> list[int]:
    """Ids of the processes of ``job``'s workers, without their input pipelines."""
    group = run.session.cgroup
    assert group is not None
    found = []
    for directory in sorted(group.glob(f"job{job[-1]}-server*")):
        if not directory.name.endswith("-loader"):
            found += processes_in(directory)
    loaders = {pid for directory in group.glob("*-loader") for pid in processes_in(directory)}
    return [pid for pid in found if pid not in loaders]


def loaders(run: EmulatedRun, job: str) -> list[int]:
    """Ids of the input pipelines of ``job``."""
    group = run.session.cgroup
    assert group is not None
    return [
        pid
        for directory in sorted(group.glob(f"job{job[-1]}-server*-loader"))
        for pid in processes_in(directory)
    ]


def test_a_job_computes_for_all_of_a_round_and_ends_inside_one() -> None:
    with cluster("round1") as run:
        first = run.servers.run_round(0, [lease("a1", 0, left=150.0, new=True)])
        assert first.progress["a1"].state is JobState.RUNNING
        assert first.progress["a1"].iterations == pytest.approx(ROUND_S / COMPUTING.gpu_s, rel=1e-3)
        left = 150.0 - first.progress["a1"].iterations
        second = run.servers.run_round(1, [lease("a1", 0, left=left)])
    assert second.progress["a1"].state is JobState.FINISHED
    assert second.progress["a1"].iterations == left
    assert second.progress["a1"].ended_s == pytest.approx(left * COMPUTING.gpu_s, rel=1e-3)


def test_what_a_new_lease_costs_is_lost_at_the_start_of_its_round() -> None:
    with cluster("round2") as run:
        outcome = run.servers.run_round(0, [lease("a1", 0, new=True, lost_s=12.0)])
    expected = (ROUND_S - 12.0) / COMPUTING.gpu_s
    assert outcome.progress["a1"].iterations == pytest.approx(expected, rel=1e-3)


def test_a_job_that_moves_goes_on_where_it_was() -> None:
    left = 250.0  # two rounds and a bit
    done = []
    with cluster("round3") as run:
        for number, server in enumerate((0, 1, 0)):
            held = lease("a1", server, left=left - sum(done), new=True)
            done.append(run.servers.run_round(number, [held]).progress["a1"].iterations)
        gone = run.servers.run_round(3, [])
    assert not gone.progress
    assert sum(done) == left
    assert done[:2] == pytest.approx([ROUND_S / COMPUTING.gpu_s] * 2, rel=1e-3)


def test_a_job_on_two_servers_does_its_steps_together() -> None:
    """Where one of its workers cannot, no other goes on: it takes the pace of the slower."""
    with cluster("round4") as run:
        outcome = run.servers.run_round(0, [lease("a1", 0, 1, left=40.0, new=True)])
    assert outcome.progress["a1"].state is JobState.FINISHED
    assert outcome.progress["a1"].ended_s == pytest.approx(40.0 * COMPUTING.gpu_s, rel=0.05)
    assert len(outcome.progress["a1"].use) == 2


def test_cpu_is_what_the_lease_gives_and_changes_with_it() -> None:
    stages = StageCosts(gpu_s=0.25, cpu_s=1.0)

    def check() -> None:
        with cluster("round5", round_s=60.0) as run:
            run.servers.run_round(0, [lease("a1", 0, stages=stages, cpus=2.0, new=True)])
            two = run.servers.run_round(1, [lease("a1", 0, stages=stages, cpus=2.0)])
            pid = trainers(run, "a1")
            run.servers.run_round(2, [lease("a1", 0, stages=stages, cpus=3.0, new=True)])
            three = run.servers.run_round(3, [lease("a1", 0, stages=stages, cpus=3.0)])
            assert trainers(run, "a1") == pid, "a worker that stays on its server is not restarted"
        for outcome, cpus in ((two, 2.0), (three, 3.0)):
            use = outcome.progress["a1"].use[0]
            assert use.cpu_s is not None
            assert use.enforced_cpus == pytest.approx(cpus, rel=1e-2)
            assert use.cpu_s / 60.0 == pytest.approx(cpus, rel=0.05)
            assert outcome.progress["a1"].iterations == pytest.approx(60.0 * cpus, rel=0.15)

    on_an_undisturbed_box(check)


def test_a_killed_worker_loses_its_round_and_nothing_else() -> None:
    with cluster("fault1") as run:
        first = run.servers.run_round(0, [lease("a1", 0, new=True), lease("b2", 1, new=True)])
        before = first.progress["a1"].iterations
        os.kill(trainers(run, "a1")[0], signal.SIGKILL)
        second = run.servers.run_round(1, [lease("a1", 0, left=1e6 - before), lease("b2", 1)])
        assert second.progress["a1"].state is JobState.REQUEUED
        assert second.progress["a1"].iterations == 0
        assert "ended" in second.progress["a1"].reason
        assert second.incidents
        assert second.progress["b2"].state is JobState.RUNNING
        third = run.servers.run_round(2, [lease("a1", 0, left=1e6 - before, new=True)])
        assert third.progress["a1"].iterations == pytest.approx(before, rel=1e-3)
        failed = [each.name for each in run.finish().verdict.failed]
    assert "no worker lost" in failed


def test_a_killed_input_pipeline_is_noticed() -> None:
    with cluster("fault2") as run:
        run.servers.run_round(0, [lease("a1", 0, stages=READING, new=True)])
        os.kill(loaders(run, "a1")[0], signal.SIGKILL)
        outcome = run.servers.run_round(1, [lease("a1", 0, stages=READING)])
        assert outcome.progress["a1"].state is JobState.REQUEUED
        assert "-9" in outcome.progress["a1"].reason


def test_a_hung_worker_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers_module, "HANG_TIMEOUT_S", 1.0)
    with cluster("fault3") as run:
        run.servers.run_round(0, [lease("a1", 0, new=True), lease("b2", 1, new=True)])
        os.kill(trainers(run, "a1")[0], signal.SIGSTOP)
        outcome = run.servers.run_round(1, [lease("a1", 0), lease("b2", 1)])
        assert outcome.progress["a1"].state is JobState.REQUEUED
        assert "did not answer" in outcome.progress["a1"].reason
        assert outcome.progress["b2"].state is JobState.RUNNING


def test_a_worker_that_is_stopped_for_a_while_is_waited_for() -> None:
    with cluster("fault4") as run:
        run.servers.run_round(0, [lease("a1", 0, new=True)])
        (pid,) = trainers(run, "a1")
        stop = subprocess.Popen(
            (sys.executable, "-c", _STOP, str(pid), "3"),
        )
        time.sleep(0.3)
        outcome = run.servers.run_round(1, [lease("a1", 0)])
        assert stop.wait() == 0
        assert outcome.progress["a1"].state is JobState.RUNNING
        most = ROUND_S / COMPUTING.gpu_s
        assert 0 <= outcome.progress["a1"].iterations <= most * (1 + 1e-3)
        after = run.servers.run_round(2, [lease("a1", 0)])
        assert after.progress["a1"].iterations == pytest.approx(most, rel=1e-2)


_STOP = """
import os, signal, sys, time
os.kill(int(sys.argv[1]), signal.SIGSTOP)
time.sleep(float(sys.argv[2]))
os.kill(int(sys.argv[1]), signal.SIGCONT)
"""


def test_out_of_memory_ends_one_job_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    with cluster("fault5") as run:
        starved = lease("a1", 0, stages=READING, new=True)
        with monkeypatch.context() as patched:
            patched.setattr(worker_starter, "GUARD_BYTES", -(2**19))  # less than the cache
            first = run.servers.run_round(0, [starved])
        assert first.progress["a1"].state is JobState.OUT_OF_MEMORY
        assert "memory guard" in first.progress["a1"].reason
        second = run.servers.run_round(1, [lease("b2", 0, stages=READING, new=True)])
        assert second.progress["b2"].state is JobState.RUNNING


def test_an_emptied_cgroup_is_a_lost_worker() -> None:
    with cluster("fault6") as run:
        run.servers.run_round(0, [lease("a1", 0, new=True)])
        group = run.session.cgroup
        assert group is not None
        for pid in processes_in(group / "job1-server0"):
            os.kill(pid, signal.SIGKILL)
        outcome = run.servers.run_round(1, [lease("a1", 0)])
        assert outcome.progress["a1"].state is JobState.REQUEUED


def test_a_full_disk_is_an_error_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = tmp_path / "small"
    full.mkdir()
    mount = ("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(full))
    subprocess.run(mount, check=True)
    try:
        monkeypatch.setenv(STATE_DIRECTORY_VARIABLE, str(full / "state"))
        with pytest.raises(EmulationError, match="does not fit"), cluster("fault7"):
            pass
        assert not any(leftovers("fault7", full / "state").values())
    finally:
        subprocess.run(("umount", str(full)), check=True)


_CONTROLLER = """
import time
from tests.kernel.command import roundelay
from tests.kernel.emulated_cluster import cluster, lease
with cluster("fault8") as run:
    run.servers.run_round(0, [lease("a1", 0, new=True)])
    print("ran", flush=True)
    run.servers.run_round(1, [lease("a1", 0)])
    time.sleep(60)
"""


def test_workers_of_a_killed_controller_end_and_clean_removes_the_rest(
    state_directory: Path,
) -> None:
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        (sys.executable, "-c", _CONTROLLER), stdout=subprocess.PIPE, text=True, cwd=root
    ) as controller:
        assert controller.stdout is not None
        assert controller.stdout.readline() == "ran\n"
        controller.kill()
    deadline_s = time.monotonic() + 5
    while leftovers("fault8", state_directory)["processes"] and time.monotonic() < deadline_s:
        time.sleep(0.05)
    assert not leftovers("fault8", state_directory)["processes"]
    assert roundelay("clean", "--run", "fault8").returncode == 0
    assert not any(leftovers("fault8", state_directory).values())


def test_a_run_goes_on_from_its_checkpoints() -> None:
    with cluster("again1") as run:
        run.servers.run_round(0, [lease("a1", 0, stages=READING, left=500.0, new=True)])
        kept = dict(run.servers.checkpoints)
    assert kept["a1"].workers[0].pipeline.cached
    with cluster("again2", checkpoints=kept) as run:
        run.servers.run_round(1, [lease("a1", 1, stages=READING, left=400.0, new=True)])
        after = run.servers.checkpoints["a1"].workers[0].pipeline
    before = kept["a1"].workers[0].pipeline
    assert (after.position.epoch, after.position.item) > (
        before.position.epoch,
        before.position.item,
    )
    assert set(before.cached) <= set(after.cached)


def test_whole_cores_are_a_workers_own_and_never_all_of_them() -> None:
    """On two cores: the first job has one of them, the second none, until the first is gone."""
    box = os.sched_getaffinity(0)
    if len(box) != 2:
        pytest.skip("says what becomes of two cores")
    with cluster("cores1", cpu_divisor=1.0) as run:
        first, second = (lease(job, 0, cpus=1.0, new=True) for job in ("a1", "b2"))
        run.servers.run_round(0, [first, second])
        (one,), (two,) = set(loaders(run, "a1")), set(loaders(run, "b2"))
        assert os.sched_getaffinity(one) == {min(box)}
        assert os.sched_getaffinity(two) == box
        run.servers.run_round(1, [lease("b2", 0, cpus=1.0, new=True)])
        assert os.sched_getaffinity(two) == {min(box)}
        run.servers.run_round(2, [lease("b2", 0, cpus=0.5, new=True)])
        assert os.sched_getaffinity(two) == box
