"""Jobs and their cluster, second by second; and Tiresias' queues. See `toy` for the times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from harness.experiments.reproduce.pollux.applications import Application
from harness.experiments.reproduce.pollux.cluster import completion_times_s
from harness.experiments.reproduce.pollux.job import Held, Submitted, TrainingJob
from harness.experiments.reproduce.pollux.scheduled import ScheduledByPollux
from harness.experiments.reproduce.pollux.tiresias import QUEUE_LIMIT_GPU_S, Tiresias
from tests.unit.harness.experiments.reproduce.pollux.toy import write_toy


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Application:
    return Application(write_toy(tmp_path_factory.mktemp("traces") / "toy"))


def jobs_of(toy: Application, *num_gpus: int) -> list[TrainingJob]:
    return [TrainingJob(Submitted(f"job-{n}", 0, toy, gpus, 16)) for n, gpus in enumerate(num_gpus)]


def ends_s(submitted: Sequence[Submitted], held_at: Mapping[int, Held]) -> list[int]:
    """Completion times where every job is placed as ``held_at`` says of a time, and then stays."""
    last: Held = ()

    def decide(now_s: int, jobs: Sequence[TrainingJob]) -> Mapping[str, Held]:
        nonlocal last
        last = held_at.get(now_s, last)
        return {job.submitted.job: last for job in jobs}

    return completion_times_s(submitted, decide).tolist()


def test_a_job_starts_at_the_next_minute_and_restarts_for_half_of_one(toy: Application) -> None:
    """An iteration takes 0.26 s, an epoch of 100 iterations 26 s."""
    job = Submitted("a", 50, toy, 1, 16)
    assert ends_s([job], {60: ((0, 1),)}) == [60 + 30 + 26 + 26 - 50]


def test_more_gpus_with_the_same_batch(toy: Application) -> None:
    """Two with 8 each on one server: 0.28 s; on two servers 0.38 s."""
    job = Submitted("a", 0, toy, 2, 16)
    assert ends_s([job], {60: ((0, 2),)}) == [60 + 30 + 2 * 28]
    assert ends_s([job], {60: ((0, 1), (5, 1))}) == [60 + 30 + 2 * 38]


def test_a_larger_batch_in_two_steps(toy: Application) -> None:
    """64 on one GPU: two steps of 32, 0.42 s each, and 2.5 times the progress of 16."""
    job = Submitted("a", 0, toy, 1, 64)
    assert ends_s([job], {60: ((0, 1),)}) == [60 + 30 + 2 * round(100 * 0.84 / 2.5)]


def test_a_move_costs_a_restart_and_so_does_another_order_of_servers(toy: Application) -> None:
    """Two GPUs on two servers take 76 s; the second restart is at 120 s."""
    job = Submitted("a", 0, toy, 2, 16)
    one_way, other_way = ((0, 1), (5, 1)), ((5, 1), (0, 1))
    assert ends_s([job], {60: one_way}) == [60 + 30 + 76]
    assert ends_s([job], {60: one_way, 120: other_way}) == [60 + 30 + 76 + 30]


def test_a_job_that_is_stopped_keeps_its_progress(toy: Application) -> None:
    """52 s of training, 30 of them from 90 s; then nothing until 240 s."""
    job = Submitted("a", 0, toy, 1, 16)
    held: Mapping[int, Held] = {60: ((0, 1),), 120: (), 240: ((3, 1),)}
    assert ends_s([job], held) == [240 + 30 + 52 - 30]


def test_service_counts_restarts_and_ends_with_the_job(toy: Application) -> None:
    (job,) = jobs_of(toy, 2)
    job.place(((0, 2),))
    job.run(0, 60)
    assert (job.attained_gpu_s, job.restarts, job.most_gpus_seen) == (120, 0, 2)
    job.place(((1, 2),))
    job.run(60, 60)
    job.run(120, 60)
    assert job.finish_s == 60 + 30 + 56 - 30
    assert job.attained_gpu_s == 120 + 2 * (30 + 26)
    assert job.restarts == 1


def test_what_a_job_learns_of_itself(toy: Application) -> None:
    """Before it has trained, nothing; then its batch is the one with the most goodput."""
    job = TrainingJob(Submitted("a", 0, toy, 4, None))
    assert job.model is None
    job.place(((0, 4),))
    job.run(0, 31)
    assert job.model is not None
    assert job.model.alpha_grad_s + 4 * job.model.beta_grad_s == pytest.approx(0.14, rel=0.01)
    assert job.noise == pytest.approx((1, 4))


def held_by(tiresias: Tiresias, now_s: int, jobs: Sequence[TrainingJob]) -> dict[str, Held]:
    return dict(tiresias.decide(now_s, jobs))


def test_tiresias_fills_the_server_with_the_most_free_gpus(toy: Application) -> None:
    held = held_by(Tiresias(), 60, jobs_of(toy, 2, 6, 1))
    assert held["job-0"] == ((0, 2),)
    assert held["job-1"] == ((1, 4), (2, 2))
    assert held["job-2"] == ((3, 1),)


def test_tiresias_lets_a_job_that_fits_run_before_one_that_does_not(toy: Application) -> None:
    held = held_by(Tiresias(), 60, jobs_of(toy, 40, 30, 24))
    assert set(held) == {"job-0", "job-2"}


def test_tiresias_keeps_who_runs_and_gives_what_gets_free_to_who_waits(toy: Application) -> None:
    tiresias, jobs = Tiresias(), jobs_of(toy, 40, 30, 24)
    before = held_by(tiresias, 60, jobs)
    after = held_by(tiresias, 120, jobs[1:])
    assert after["job-2"] == before["job-2"]
    assert sum(gpus for _, gpus in after["job-1"]) == 30


def test_tiresias_puts_whoever_had_sixteen_gpu_hours_behind_the_others(toy: Application) -> None:
    """With all 64 GPUs a job has had them after a quarter of an hour; then another one runs."""
    tiresias, jobs = Tiresias(), jobs_of(toy, 64, 64)
    limit_s = QUEUE_LIMIT_GPU_S // 64
    assert set(held_by(tiresias, 60, jobs)) == {"job-0"}
    assert set(held_by(tiresias, 60 + limit_s - 1, jobs)) == {"job-0"}
    assert set(held_by(tiresias, 60 + limit_s, jobs)) == {"job-1"}
    assert set(held_by(tiresias, 60 + 2 * limit_s, jobs)) == {"job-0"}


def test_pollux_tries_twice_as_many_gpus_as_a_job_has_trained_on(toy: Application) -> None:
    policy = ScheduledByPollux(seed=1, one_gpu=frozenset())
    (job,) = [TrainingJob(Submitted("a", 0, toy, 1, None))]
    counts = []
    for now_s in (60, 120, 180):
        held = policy.decide(now_s, [job])["a"]
        counts.append(sum(gpus for _, gpus in held))
        if held != job.held:
            job.place(held)
        job.run(now_s, 31)
    assert counts == [1, 2, 4]


def test_pollux_keeps_some_applications_on_one_gpu(toy: Application) -> None:
    policy = ScheduledByPollux(seed=1, one_gpu=frozenset({"toy"}))
    jobs = [TrainingJob(Submitted("a", 0, toy, 4, 64))]
    jobs[0].place(((0, 4),))
    jobs[0].run(0, 31)
    assert [gpus for _, gpus in policy.decide(600, jobs)["a"]] == [1]
