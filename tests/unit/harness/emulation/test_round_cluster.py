"""The same loop over servers that count: what they say lands in the JobTable as if simulated."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from emulator.rounds.lease import JobProgress, JobState, Lease
from harness.emulation.lease_builder import LeaseBuilder
from harness.emulation.round_cluster import EmulatedCluster
from harness.experiments.rounds.figures import job_states, run_document
from harness.experiments.rounds.run import (
    RoundsResult,
    mechanism_of,
    run_workload,
    scheduler_of,
    semantics_of,
)
from harness.experiments.rounds.workload import Workload, build_workload
from harness.leases import Leases
from harness.rounds import run_rounds
from tests.unit.harness.emulation.counted_servers import CountedServers, Meddle, undisturbed
from tests.unit.harness.experiments.rounds.builders import make_arm, make_trace
from traces.errors import BadInputError, EmulationError
from traces.job_trace import JobTrace
from traces.rounds_scenario import RoundsArm

MODELS = ["alexnet", "lstm", "m5", "res50", "gnmt", "deepspeech", "shufflenet", "res18"]


def trace(count: int = 40) -> JobTrace:
    random = np.random.default_rng(3)
    return make_trace(
        job=[f"job-{number}" for number in range(count)],
        submit_s=np.sort(random.uniform(0, 4000, count)),
        model=[MODELS[number % len(MODELS)] for number in range(count)],
        num_gpus=random.choice([1, 1, 1, 2, 4], count),
        duration_s=random.uniform(200, 9000, count),
    )


def emulate(
    arm: RoundsArm, workload: Workload, meddle: Meddle = undisturbed
) -> tuple[RoundsResult, CountedServers, EmulatedCluster]:
    semantics, mechanism = semantics_of(arm), mechanism_of(arm, workload)
    servers = CountedServers(semantics.round_s, meddle)
    kinds = workload.demands.kinds
    builder = LeaseBuilder(
        workload.jobs["job"].tolist(),
        [kinds[kind].model for kind in workload.table.kind],
        arm.pool,
        arm.sensitivities,
        arm.emulation.commands,
    )
    cluster = EmulatedCluster(workload.table, builder, servers, semantics)
    run = run_rounds(
        workload.table,
        scheduler_of(arm, workload, mechanism),
        cluster,
        Leases(workload.table),
        semantics.round_s,
        workload.measured,
    )
    return RoundsResult(arm, 1, workload, run, mechanism.report()), servers, cluster


@pytest.mark.parametrize("mechanism", ["proportional", "tune"])
@pytest.mark.parametrize("policy", ["fifo", "srtf"])
@pytest.mark.parametrize(
    "simulation", ["{}", "{restart: 20 s, checkpoint: 7 s}", "{restart: 20 s, restarts: all}"]
)
def test_servers_that_keep_to_the_costs_give_what_the_simulator_says(
    mechanism: str, policy: str, simulation: str, tmp_path: Path
) -> None:
    arm = make_arm(
        tmp_path,
        scheduler=f"{{policy: {policy}, mechanism: {mechanism}}}",
        simulation=simulation,
    )
    jobs = trace()
    simulated = run_workload(arm, 1, build_workload(arm, jobs, 1)).workload.table
    emulated = emulate(arm, build_workload(arm, jobs, 1))[0].workload.table
    for column in ("start_s", "finish_s", "attained_s", "last_served_s"):
        assert getattr(emulated, column) == pytest.approx(getattr(simulated, column)), column
    assert emulated.leases.tolist() == simulated.leases.tolist()


def one_job(
    directory: Path, seconds: float, meddle: Meddle
) -> tuple[RoundsResult, CountedServers, EmulatedCluster]:
    """A job that computes for ``seconds``, in rounds of 10 s."""
    arm = make_arm(
        directory,
        workload="{trace: jobs.csv, profiles: none}",
        scheduler="{round: 10 s}",
        simulation="{restart: 2 s}",
    )
    return emulate(arm, build_workload(arm, make_trace(duration_s=[seconds]), 1), meddle)


def in_round(wanted: int, change: Callable[[JobProgress], JobProgress]) -> Meddle:
    return lambda number, _lease, progress: change(progress) if number == wanted else progress


def test_a_requeued_job_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    lost = JobProgress(JobState.REQUEUED, 0.0, reason="its worker ended")
    result, servers, cluster = one_job(tmp_path, 25.0, in_round(1, lambda _: lost))
    table = result.workload.table
    # 8 s in round 0, none in round 1, 8 s in round 2 and, of the 9 s left, 9 s in round 3.
    assert table.finish_s.tolist() == [39.0]
    assert table.requeued.tolist() == [1]
    assert table.attained_s.tolist() == [39.0]
    leases = [leases[0] for _, leases in servers.rounds]
    assert [lease.iterations_left for lease in leases] == [25, 17, 17, 9]
    assert [lease.is_new for lease in leases] == [True, False, True, False]
    assert [lease.lost_s for lease in leases] == [2, 0, 2, 0]
    assert cluster.incidents == ["a: its worker ended"]
    assert run_document(result)["jobs"]["requeued"] == 1


@pytest.mark.parametrize("state", [JobState.OUT_OF_MEMORY, JobState.FAILED])
def test_a_job_that_cannot_go_on_leaves_and_does_not_count(state: JobState, tmp_path: Path) -> None:
    gone = JobProgress(state, 3.0, ended_s=4.0, reason="it broke")
    result, servers, _ = one_job(tmp_path, 25.0, in_round(1, lambda _: gone))
    table = result.workload.table
    assert len(servers.rounds) == 2
    assert np.isnan(table.finish_s[0])
    assert (table.left_s[0], table.attained_s[0], table.done_iterations[0]) == (14, 14, 11)
    assert job_states(result) == [state.value]
    document = run_document(result)
    assert document["jobs"]["not_done"] == [{"job": "a", "state": state.value}]
    assert document["jobs"]["counted_and_finished"] == 0
    assert document["jct_s"]["all"] is None


def test_gpus_of_a_job_that_left_are_free(tmp_path: Path) -> None:
    arm = make_arm(
        tmp_path,
        cluster="{servers: 1, gpus: 1, cpus: 3, memory: 60 GB}",
        workload="{trace: jobs.csv, profiles: none}",
        scheduler="{round: 10 s}",
    )

    def fail_first(_number: int, lease: Lease, progress: JobProgress) -> JobProgress:
        failed = JobProgress(JobState.FAILED, 0.0, ended_s=1.0, reason="it broke")
        return failed if lease.job == "a" else progress

    workload = build_workload(arm, make_trace(duration_s=[100.0, 5.0]), 1)
    result, _, _ = emulate(arm, workload, fail_first)
    assert result.workload.table.start_s.tolist() == [0, 10]
    assert job_states(result) == ["failed", "finished"]


def test_a_round_that_forgets_a_job_is_an_error(tmp_path: Path) -> None:
    class Forgetful(CountedServers):
        def run_round(self, number, leases):  # type: ignore[no-untyped-def]
            return dataclasses.replace(super().run_round(number, leases), progress={})

    arm = make_arm(tmp_path, workload="{trace: jobs.csv, profiles: none}")
    workload = build_workload(arm, make_trace(duration_s=[100.0]), 1)
    builder = LeaseBuilder(["a"], [""], arm.pool, None, {})
    cluster = EmulatedCluster(workload.table, builder, Forgetful(300.0), semantics_of(arm))
    allocation = scheduler_of(arm, workload, mechanism_of(arm, workload)).decide(np.array([0]), 0.0)
    with pytest.raises(EmulationError, match="what became of job a"):
        cluster.run(allocation, np.array([True]), 0, 1)


@pytest.mark.parametrize(
    ("placement", "words"),
    [("super-machine", "GPUs of no server in particular"), ("servers", r"gets 0\.\d+ GPUs")],
)
def test_what_no_process_can_run_on_is_refused(placement: str, words: str, tmp_path: Path) -> None:
    arm = make_arm(tmp_path, scheduler=f"{{mechanism: opt, placement: {placement}}}")
    with pytest.raises(BadInputError, match=words):
        emulate(arm, build_workload(arm, trace(10), 1))
