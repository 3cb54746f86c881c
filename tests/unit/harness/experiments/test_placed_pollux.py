"""Arms whose jobs Pollux places, alone and with CASSINI, simulated."""

from __future__ import annotations

from collections import Counter

import pytest

from harness.experiments.placed import PlacedRun, check_placed
from harness.experiments.predict import ArmPrediction, predict_placed
from harness.placed_cluster import Stint
from tests.unit.harness.placed_builders import (
    arriving,
    elastic,
    placed_arm,
    scheduler_spec,
    table_of,
)
from traces.arm import Arm
from traces.errors import BadInputError
from traces.topologies.cassini_24 import cassini_24
from traces.topologies.single_switch import single_switch

ITERATIONS = 60


def pollux_arm(interleaver: str, gpus: int = 1) -> Arm:
    """Jobs of any number of workers and one of five alone, two of which come late."""
    jobs = [
        *(elastic(name, 4, 24 * gpus, iterations=ITERATIONS) for name in ("one", "two", "three")),
        arriving("fixed", 5, iterations=ITERATIONS),
        *(
            elastic(name, 3, 24 * gpus, iterations=ITERATIONS, start_s=2.5)
            for name in ("late", "later")
        ),
    ]
    spec = scheduler_spec(placement="pollux", interleaver=interleaver, round="2 s")
    return placed_arm(jobs, cluster=cassini_24(), gpus=gpus, scheduler=spec)


def predicted(arm: Arm, seed: int = 1) -> tuple[ArmPrediction, PlacedRun]:
    prediction = predict_placed(arm, seed, lambda _done, _total: None, lambda: False)
    assert prediction.placed is not None
    return prediction, prediction.placed


@pytest.mark.parametrize("gpus", [1, 2])
@pytest.mark.parametrize("interleaver", ["none", "cassini"])
def test_all_work_is_done_once(interleaver: str, gpus: int) -> None:
    arm = pollux_arm(interleaver, gpus)
    prediction, run = predicted(arm)
    assert len(prediction.iterations) == run.iterations_wanted(arm)
    for job in arm.jobs:
        numbers = [row.iteration for row in prediction.iterations if row.job == job.id]
        assert numbers == list(range(len(numbers)))
        stints = [stint for stint in run.stints if stint.job == job.id]
        batches = sum(len(stint.spans) * len(stint.servers) for stint in stints)
        wanted = ITERATIONS * job.profile.num_gpus
        assert wanted <= batches < wanted + len(stints[-1].servers)
    assert {len(stint.servers) for stint in run.stints if stint.job == "fixed"} == {5}
    assert len({len(stint.servers) for stint in run.stints}) > 2


def test_no_gpu_is_given_twice() -> None:
    _, run = predicted(pollux_arm("cassini"))
    ends = [(s.spans[0].start_s, s.spans[-1].end_s, s.servers) for s in run.stints if s.spans]
    for start_s, _, _ in ends:
        meanwhile = [servers for first_s, last_s, servers in ends if first_s <= start_s < last_s]
        assert max(Counter(at for servers in meanwhile for at in servers).values()) == 1


def test_cassini_picks_among_what_pollux_holds_equal() -> None:
    _, alone = predicted(pollux_arm("none"))
    prediction, run = predicted(pollux_arm("cassini"))
    assert (alone.record.candidates, alone.record.scores) == (0, [])
    assert run.record.decisions >= 2
    assert run.record.candidates > run.record.decisions
    assert len(run.record.scores) == run.record.decisions - run.record.without_shifts
    assert set(prediction.adjustments) <= {job.id for job in pollux_arm("cassini").jobs}


def test_a_run_repeats_itself() -> None:
    (one, _), (again, _) = predicted(pollux_arm("cassini")), predicted(pollux_arm("cassini"))
    assert one.iterations == again.iterations


def stints(*done: tuple[int, int]) -> tuple[Stint, ...]:
    """Of (workers, iterations)."""
    (span,) = (predicted(placed_arm((arriving("a", iterations=1),)))[1].stints[0].spans,)
    return tuple(Stint("one", 0, ("server0",) * count, span * number) for count, number in done)


@pytest.mark.parametrize(
    ("done", "wanted"),
    [
        ([(3, 6)], 6),
        ([(3, 5)], 6),
        ([(3, 7)], 6),
        ([(2, 9)], 9),
        ([(2, 8)], 9),
        ([(1, 2), (6, 3)], 5),
        ([(1, 2), (6, 4)], 5),
        ([(1, 2), (6, 2)], 6),
        ([], 6),
    ],
)
def test_iterations_wanted_are_those_that_the_work_takes(
    done: list[tuple[int, int]], wanted: int
) -> None:
    """18 batches of a GPU; what is not done is done by the three workers that are asked for."""
    arm = placed_arm((elastic("one", 3, iterations=6),))
    _, run = predicted(placed_arm((arriving("a", iterations=1),)))
    run = PlacedRun(stints(*done), table_of(arm), run.record, stopped=False)
    assert run.iterations_wanted(arm) == wanted


def test_a_job_that_pollux_cannot_spread_is_refused() -> None:
    spec = scheduler_spec(placement="pollux")
    large = elastic("one", 17, 17)
    fixed = large.model_copy(update={"choices": (large.profile,)})
    arm = placed_arm((fixed,), cluster=single_switch(20, 1e9), gpus=1, scheduler=spec)
    with pytest.raises(BadInputError, match="on 16 servers at most") as caught:
        check_placed(arm)
    assert caught.value.key == "workload.jobs.0.workers"
    assert caught.value.allowed == "at most 16"
    check_placed(arm.model_copy(update={"gpus": 2}))
    check_placed(arm.model_copy(update={"jobs": (large,)}))
