"""The figures of small runs, each worked out by hand."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.experiments.rounds.figures import CompletionTimes, job_states, run_document
from harness.experiments.rounds.run import RoundsResult, run_arm, run_workload
from harness.experiments.rounds.workload import build_workload
from tests.unit.harness.experiments.rounds.builders import make_arm, make_trace, run_durations

KEYS = {
    "seed", "source", "jobs", "load", "jct_s", "waited_mean_s", "makespan_s", "gpu_utilisation",
    "leases_per_job", "rounds", "decisions", "end_s", "mechanism",
}  # fmt: skip


@pytest.fixture
def queue(tmp_path: Path) -> dict[str, Any]:
    """Three jobs on one GPU, in rounds of 10 s: 0 to 25 s, 30 to 40 s and 40 to 57 s."""
    return run_document(run_durations(tmp_path, [25, 10, 17], submit_s=[0, 3, 12]))


def test_the_document_has_these_keys(queue: dict[str, Any]) -> None:
    assert set(queue) == KEYS
    assert (queue["seed"], queue["source"], queue["mechanism"]) == (1, "a test", {})


def test_completion_times_count_from_submission(queue: dict[str, Any]) -> None:
    """25, 37 and 45 s."""
    times = queue["jct_s"]["all"]
    assert times["count"] == 3
    assert times["mean"] == pytest.approx(107 / 3)
    assert times["p50"] == 37
    assert times["p99"] == pytest.approx(37 + 0.98 * 8)
    assert times["p99_9"] == pytest.approx(37 + 0.998 * 8)


def test_waiting_is_what_is_not_running(queue: dict[str, Any]) -> None:
    """0, 27 and 28 s."""
    assert queue["waited_mean_s"] == pytest.approx(55 / 3)


def test_the_makespan_ends_with_the_last_job_and_not_with_its_round(queue: dict[str, Any]) -> None:
    assert queue["makespan_s"] == 57
    assert queue["end_s"] == 60
    assert queue["rounds"] == 6


def test_gpus_are_used_while_jobs_hold_them(queue: dict[str, Any]) -> None:
    assert queue["gpu_utilisation"] == pytest.approx(52 / 60)


def test_the_load_is_the_work_that_arrives_over_what_could_be_done(queue: dict[str, Any]) -> None:
    """52 s of work arrive within 12 s."""
    assert queue["load"] == pytest.approx(52 / 12)


def test_nobody_is_moved_in_a_queue(queue: dict[str, Any]) -> None:
    assert queue["leases_per_job"] == 1


def test_gpus_are_weights_in_the_load_and_the_utilisation(tmp_path: Path) -> None:
    """1 x 20 s from 0 s, and 3 x 50 s from 40 s, on 4 GPUs: an end at 90 s."""
    document = run_document(
        run_durations(tmp_path, [20, 50], submit_s=[0, 40], num_gpus=[1, 3], gpus=4)
    )
    assert document["load"] == pytest.approx((20 + 150) / (4 * 40))
    assert document["gpu_utilisation"] == pytest.approx((20 + 150) / (4 * 90))


def test_time_before_the_first_job_and_empty_rounds_do_not_count(tmp_path: Path) -> None:
    document = run_document(run_durations(tmp_path, [10, 10], submit_s=[1000, 1020]))
    assert document["gpu_utilisation"] == pytest.approx(20 / 30)
    assert document["makespan_s"] == 30
    assert document["rounds"] == 2


def test_jobs_that_come_at_once_have_no_load(tmp_path: Path) -> None:
    document = run_document(run_durations(tmp_path, [10, 10]))
    assert document["load"] is None
    assert document["gpu_utilisation"] == 1


def test_completion_times_of_four_jobs() -> None:
    times = CompletionTimes.of(np.array([40.0, 10.0, 20.0, 30.0]))
    assert times is not None
    assert (times.count, times.mean, times.p50) == (4, 25.0, 25.0)
    assert times.p99 == pytest.approx(39.7)
    assert times.p99_9 == pytest.approx(39.97)
    assert CompletionTimes.of(np.empty(0)) is None


def test_short_jobs_are_those_with_little_work_however_long_they_wait(tmp_path: Path) -> None:
    """They come together: the short ones end at 20, 25 and 32 s, the long one at 102 s."""
    result = run_durations(
        tmp_path, [20, 5, 7, 70], scheduler="{round: 1 s}", measure="{short: 20 s}", gpus=1
    )
    times = run_document(result)["jct_s"]
    assert (times["short"]["count"], times["long"]["count"]) == (3, 1)
    assert times["short"]["mean"] == pytest.approx((20 + 25 + 32) / 3)
    assert times["long"]["mean"] == 102
    assert times["all"]["mean"] == pytest.approx((20 + 25 + 32 + 102) / 4)


def test_without_long_jobs_there_is_no_figure_of_them(queue: dict[str, Any]) -> None:
    assert queue["jct_s"]["long"] is None
    assert queue["jct_s"]["short"] == queue["jct_s"]["all"]


def window(directory: Path) -> RoundsResult:
    """Two GPUs; of five jobs, which come at 0, 3, 12, 13 and 200 s, only the first counts.

    It ends at 25 s, and the run with its round at 30 s: the second job runs since 10 s, the third
    and the fourth wait for a GPU, and the last has not come.
    """
    return run_durations(
        directory, [25, 100, 17, 10, 10], submit_s=[0, 3, 12, 13, 200], gpus=2,
        measure="{count: 1}",
    )  # fmt: skip


def test_the_run_ends_with_the_last_job_that_counts(tmp_path: Path) -> None:
    result = window(tmp_path)
    assert result.run.end_s == 30
    assert job_states(result) == ["finished", "running", "waiting", "waiting", "not arrived"]
    jobs = run_document(result)["jobs"]
    assert jobs["states"] == {"finished": 1, "not arrived": 1, "running": 1, "waiting": 2}
    assert (jobs["read"], jobs["ran"]) == (5, 5)
    assert (jobs["counted"], jobs["counted_and_finished"]) == (1, 1)


def test_figures_of_jobs_rest_on_those_that_count(tmp_path: Path) -> None:
    document = run_document(window(tmp_path))
    assert document["jct_s"]["all"]["count"] == 1
    assert document["jct_s"]["all"]["mean"] == 25
    assert (document["makespan_s"], document["waited_mean_s"]) == (25, 0)


def test_figures_of_the_cluster_rest_on_all(tmp_path: Path) -> None:
    document = run_document(window(tmp_path))
    assert document["gpu_utilisation"] == pytest.approx((25 + 20) / (2 * 30))
    assert document["load"] == pytest.approx(162 / (2 * 200))


def test_a_makespan_begins_with_the_first_job_that_counts(tmp_path: Path) -> None:
    result = run_durations(
        tmp_path, [25, 10, 17], submit_s=[0, 3, 12], measure="{first: 1, count: 1}"
    )
    document = run_document(result)
    assert document["makespan_s"] == 37
    assert document["jct_s"]["all"]["mean"] == 37
    assert document["jobs"]["states"] == {"finished": 2, "waiting": 1}


def test_a_job_that_comes_as_the_run_ends_waits(tmp_path: Path) -> None:
    result = run_durations(tmp_path, [25, 10], submit_s=[0, 30], measure="{count: 1}")
    assert result.run.end_s == 30
    assert job_states(result) == ["finished", "waiting"]


def test_a_job_that_is_being_profiled_has_not_arrived(tmp_path: Path) -> None:
    arm = make_arm(
        tmp_path, workload="{trace: jobs.csv, profiles: none}", cluster="{servers: 1, gpus: 1}",
        scheduler="{round: 10 s}", simulation="{profiling: 20 s}", measure="{count: 1}",
    )  # fmt: skip
    trace = make_trace(duration_s=[15.0, 15.0, 15.0], submit_s=[0.0, 5.0, 25.0])
    result = run_workload(arm, 1, build_workload(arm, trace, 1))
    assert result.run.end_s == 40
    assert job_states(result) == ["finished", "waiting", "not arrived"]


def stopped(directory: Path, duration_s: list[float]) -> RoundsResult:
    """One GPU, stopped after 256 rounds of 10 s in which the least served job ran."""
    arm = make_arm(
        directory, workload="{trace: jobs.csv, profiles: none}", cluster="{servers: 1, gpus: 1}",
        scheduler="{policy: las, round: 10 s}",
    )  # fmt: skip
    submit_s = [0.0] * (len(duration_s) - 1) + [1e6]
    trace = make_trace(duration_s=duration_s, submit_s=submit_s)
    answers = itertools.chain([False] * 255, itertools.repeat(True))
    return run_workload(arm, 1, build_workload(arm, trace, 1), stop=lambda: next(answers))


def test_a_run_that_was_stopped_says_how_far_its_jobs_are(tmp_path: Path) -> None:
    document = run_document(stopped(tmp_path, [30.0, 5000.0, 5000.0, 10.0]))
    assert document["end_s"] == 2560
    jobs = document["jobs"]
    assert jobs["states"] == {"finished": 1, "not arrived": 1, "running": 1, "waiting": 1}
    assert (jobs["counted"], jobs["counted_and_finished"]) == (4, 1)
    assert document["jct_s"]["all"]["count"] == 1
    assert document["gpu_utilisation"] == 1


def test_a_run_in_which_nothing_ended_has_no_figures_of_jobs(tmp_path: Path) -> None:
    document = run_document(stopped(tmp_path, [5000.0, 5000.0, 10.0]))
    assert document["jct_s"] == {"all": None, "short": None, "long": None}
    for key in ("waited_mean_s", "makespan_s", "leases_per_job"):
        assert document[key] is None, key
    assert document["gpu_utilisation"] == 1


def test_leases_are_counted_by_job(tmp_path: Path) -> None:
    """Least attained service on one GPU: two jobs of 30 s take turns of 10 s."""
    result = run_durations(tmp_path, [30, 30], scheduler="{policy: las, round: 10 s}")
    document = run_document(result)
    assert result.workload.table.leases.tolist() == [3, 3]
    assert document["leases_per_job"] == 3
    assert document["jct_s"]["all"]["mean"] == 55
    assert document["waited_mean_s"] == 25


def test_what_was_left_out_and_put_in_order_is_said(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text(
        "1,gnmt,9,100,1\n2,gnmt,4,100,99\n\n3,gnmt,0,100,1\n4,gnmt,5,100,1\n"
    )
    jobs = run_document(run_arm(make_arm(tmp_path), 1))["jobs"]
    assert (jobs["read"], jobs["ran"], jobs["counted"]) == (4, 3, 3)
    assert jobs["reordered"] == 2
    assert jobs["notes"] == ["blank lines left out: 1"]
    assert jobs["refused"] == [
        {
            "reason": "asks for more than the 16 GPUs of one type that it can run on",
            "count": 1,
            "where": "line 2",
        }
    ]
