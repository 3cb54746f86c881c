"""The policy of Pollux: what it takes jobs for, how it goes on, and what it holds equal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harness.scheduling.pollux.goodput import BatchLimits, GradientNoise, IterationModel, best_batch
from harness.scheduling.pollux.policy import Decision, Job, Pollux
from harness.scheduling.pollux.speedup import Learned, speedups

RESTART_S = 30.0
LEARNED = Learned(
    IterationModel(0.1, 0.01, 0.2, 0.05, 0.1, 0.02, 1.5),
    GradientNoise(1.0, 5.0),
    BatchLimits(initial=32, largest=512, gpu_least=8, gpu_most=64),
)


def job(name: str, **changes: object) -> Job:
    new = Job(
        job=name,
        age_s=600.0,
        attained_gpu_s=0.0,
        restarts=0,
        most_gpus=8,
        learned=LEARNED,
        held=None,
    )
    return replace(new, **changes)  # type: ignore[arg-type]


def gpus(decision: Decision) -> dict[str, int]:
    return {name: int(row.sum()) for name, row in decision.chosen.items()}


def test_speedups_are_over_the_fair_share_on_one_server() -> None:
    """Two jobs and 8 GPUs: a fair share is 4. The second has not trained yet."""
    table = speedups([LEARNED, None], [8, 2], most_on_server=4, all_gpus=8)
    assert table.shape == (2, 2, 9)
    fair, _ = best_batch(LEARNED.model, LEARNED.noise, LEARNED.limits, 4, False)
    apart, _ = best_batch(LEARNED.model, LEARNED.noise, LEARNED.limits, 8, True)
    assert table[0, 0, 4] == 1
    assert table[0, 1, 8] == pytest.approx(apart / fair)
    assert table[0, :, 0].tolist() == [0, 0]
    assert np.isnan(table[0, 0, 5:]).all()
    assert np.isnan(table[0, 1, 1])
    assert table[1, :, :3].tolist() == [[0, 0.25, 0.5]] * 2
    assert np.isnan(table[1, :, 3:]).all()


def test_the_fair_share_is_at_most_what_the_largest_batch_can_be_split_over() -> None:
    """64 GPUs for one job, whose 512 examples are at least 8 on each; then at least 32."""
    narrow = replace(LEARNED, limits=BatchLimits(32, 512, 32, 64))
    table = speedups([narrow], [4], most_on_server=4, all_gpus=64)
    fair, _ = best_batch(narrow.model, narrow.noise, narrow.limits, 16, False)
    four, _ = best_batch(narrow.model, narrow.noise, narrow.limits, 4, False)
    assert table[0, 0, 4] == pytest.approx(four / fair)


def test_limits_that_allow_no_batch_are_refused() -> None:
    """10 examples or more on a GPU, of which 12 fit: one GPU alone cannot take two steps."""
    impossible = replace(LEARNED, limits=BatchLimits(8, 16, 10, 12))
    with pytest.raises(ValueError, match="no batch"):
        speedups([impossible], [1], most_on_server=4, all_gpus=1)


def test_a_gpu_that_two_want_goes_to_the_one_that_had_less() -> None:
    """One GPU; also among equals the one that came first."""
    policy = Pollux([1], 1, RESTART_S)
    jobs = [job("had", attained_gpu_s=50.0), job("late", age_s=500.0), job("early")]
    decision = policy.decide(jobs)
    assert decision.jobs == ("early", "late", "had")
    assert sum(gpus(decision).values()) == 1


def test_jobs_that_are_alike_share_the_cluster() -> None:
    decision = Pollux([4, 4], 1, RESTART_S).decide([job("a"), job("b")])
    assert gpus(decision) == {"a": 4, "b": 4}


def test_a_job_gets_no_more_than_it_may() -> None:
    decision = Pollux([4, 4], 1, RESTART_S).decide([job("a", most_gpus=2), job("b")])
    assert gpus(decision)["a"] <= 2


def test_jobs_keep_their_gpus_from_round_to_round() -> None:
    """A restart costs, and there is nothing to gain from one."""
    policy = Pollux([4, 4], 1, RESTART_S)
    first = policy.decide([job("a"), job("b")]).chosen
    for _ in range(3):
        later = policy.decide([job("a", held=first["a"]), job("b", held=first["b"])]).chosen
        assert {name: row.tolist() for name, row in later.items()} == {
            name: row.tolist() for name, row in first.items()
        }


def test_what_is_held_is_kept_also_where_something_else_chose_it() -> None:
    """Its own choice has either job on one server; whoever exchanged them has moved both."""
    policy = Pollux([4] * 8, 1, RESTART_S)
    names = [str(number) for number in range(8)]
    first = policy.decide([job(name) for name in names]).chosen
    held = dict(zip(names, [first[name] for name in reversed(names)], strict=True))
    later = policy.decide([job(name, held=held[name]) for name in names])
    assert {name: row.tolist() for name, row in later.chosen.items()} == {
        name: row.tolist() for name, row in held.items()
    }


def test_jobs_that_left_and_came_are_taken_out_of_and_into_what_was_found() -> None:
    policy = Pollux([4, 4], 1, RESTART_S)
    first = policy.decide([job("a"), job("b")]).chosen
    after = policy.decide([job("b", held=first["b"]), job("c", age_s=60.0)])
    assert sorted(after.jobs) == ["b", "c"]
    assert after.chosen["b"].tolist() == first["b"].tolist()
    assert gpus(after)["c"] == 4


def test_a_seed_repeats_its_decisions() -> None:
    def decisions(seed: int) -> list[list[int]]:
        policy = Pollux([2] * 6, seed, RESTART_S)
        jobs = [job(str(number), attained_gpu_s=float(number)) for number in range(5)]
        return [row.tolist() for _ in range(3) for row in policy.decide(jobs).chosen.values()]

    assert decisions(1) == decisions(1)
    assert decisions(1) != decisions(2)


def test_a_decision_has_several_placements_to_choose_from() -> None:
    """Eight jobs that come at once may each be on any of eight servers."""
    decision = Pollux([1] * 8, 1, RESTART_S).decide([job(str(number)) for number in range(8)])
    equal = decision.held_equal(10, 0.0, np.random.default_rng(1))
    assert len(equal) == len({str(each) for each in equal}) == 10
    assert str(equal[0]) == str(decision.chosen)
