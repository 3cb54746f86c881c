"""Arms whose jobs a scheduler places, simulated: against times worked out by hand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np
import pytest

from harness.experiments.placed import PlacedRun, check_placed, run_placed
from harness.experiments.predict import PLACED_INTERVAL_S, ArmPrediction, predict_placed
from harness.scheduling.cassini.time_shifts import GRID_SLACK
from harness.simulation.fluid import FluidNetwork
from harness.simulation.network_jobs import SimulatedNetworkJobs
from tests.unit.builders import TOY_ALONE_S, TOY_BYTES
from tests.unit.harness.placed_builders import arriving, placed_arm
from traces.arm import Arm
from traces.errors import BadInputError


def three_jobs() -> tuple[Arm, ArmPrediction]:
    """Two that share the links of server1, and a short one that comes between.

    Together an iteration takes 180 ms, alone 140 ms. At 1 s both have done four; the one that fares
    best makes room for the short one.
    """
    arm = placed_arm(
        (
            arriving("first", iterations=8),
            arriving("second", iterations=6),
            arriving("late", iterations=2, start_s=0.5),
        )
    )
    return arm, predicted(arm)


def predicted(arm: Arm, stop: Callable[[], bool] = lambda: False) -> ArmPrediction:
    return predict_placed(arm, 1, lambda _done, _total: None, stop)


def placed(prediction: ArmPrediction) -> PlacedRun:
    assert prediction.placed is not None
    return prediction.placed


def test_jobs_end_when_they_should_by_hand() -> None:
    _, prediction = three_jobs()
    table = placed(prediction).table
    assert table.start_s == pytest.approx([0.2, 0.2, 1.2])
    # second: 4 x 0.18 until 0.92, then alone; late: 2 x 0.14 from 1.2; first: 4 x 0.14 from 2.2
    assert table.finish_s == pytest.approx([2.76, 1.2, 1.48])
    assert table.attained_s == pytest.approx([1.76, 1.2, 0.48])
    assert table.leases.tolist() == [2, 1, 1]


def test_every_iteration_is_counted_once() -> None:
    arm, prediction = three_jobs()
    for job in arm.jobs:
        numbers = [row.iteration for row in prediction.iterations if row.job == job.id]
        assert numbers == list(range(job.iterations or 0))
    times = [row.iteration_s for row in prediction.iterations if row.job == "first"]
    assert times == pytest.approx([0.18] * 4 + [0.14] * 4)


def test_every_start_warms_up_anew() -> None:
    arm, _ = three_jobs()
    arm = arm.model_copy(update={"warmup_iterations": 1})
    counted = [row.counted for row in predicted(arm).iterations if row.job == "first"]
    assert counted == [False, True, True, True] * 2


def test_the_links_carry_what_the_jobs_sent() -> None:
    arm, prediction = three_jobs()
    sent_bytes: dict[str, float] = defaultdict(float)
    for row in prediction.links:
        if row.port.endswith("->switch"):
            sent_bytes[row.job or ""] += row.rate_bps * PLACED_INTERVAL_S / 8
    # Of three workers two are on one server, so that two of the ring's three pairs cross links.
    assert sent_bytes == pytest.approx(
        {job.id: 2 * TOY_BYTES * (job.iterations or 0) for job in arm.jobs}
    )


def test_time_shifts_keep_them_apart() -> None:
    jobs = (arriving("first", iterations=12), arriving("second", iterations=12))
    prediction = predicted(placed_arm(jobs, "cassini"))
    record = placed(prediction).record
    assert (record.decisions, record.without_shifts) == (1, 0)
    assert record.scores == pytest.approx([1.0])
    for job in ("first", "second"):
        times = [row.iteration_s for row in prediction.iterations if row.job == job]
        assert times == pytest.approx([TOY_ALONE_S] + [TOY_ALONE_S * (1 + GRID_SLACK)] * 11)
    assert prediction.adjustments == {"first": 0, "second": 0}


def test_two_workers_of_one_job_on_one_server_exchange_in_no_time() -> None:
    prediction = predicted(placed_arm((arriving("one", 2, iterations=4),)))
    (stint,) = placed(prediction).stints
    assert len(set(stint.servers)) == 1
    assert [row.iteration_s for row in prediction.iterations] == pytest.approx([0.1] * 4)
    assert prediction.links == []


def test_a_run_repeats_itself() -> None:
    (_, one), (_, again) = three_jobs(), three_jobs()
    assert one.iterations == again.iterations
    assert one.links == again.links


def test_a_stop_ends_the_run_with_the_round_and_keeps_what_was_done() -> None:
    arm, _ = three_jobs()
    prediction = predicted(arm, stop=lambda: True)
    run = placed(prediction)
    assert run.stopped
    assert [(stint.job, len(stint.spans)) for stint in run.stints] == [("first", 4), ("second", 4)]
    assert np.isnan(run.table.finish_s).all()


def test_progress_counts_iterations() -> None:
    arm, _ = three_jobs()
    told: list[tuple[int, int]] = []
    network = SimulatedNetworkJobs(arm.cluster, FluidNetwork(arm.cluster, lambda _: None))
    run_placed(arm, 1, network, lambda done, total: told.append((done, total)))
    assert told == [(0, 16), (8, 16), (12, 16), (16, 16)]


def test_a_job_larger_than_the_cluster_is_refused() -> None:
    arm = placed_arm((arriving("small"), arriving("large", 7)))
    with pytest.raises(BadInputError, match="'large' has 7 workers") as caught:
        check_placed(arm)
    assert caught.value.key == "workload.jobs.1.workers"
    assert caught.value.allowed == "at most 6"
    check_placed(placed_arm((arriving("fits", 6),)))


def test_jobs_out_of_the_order_of_their_arrival_are_refused() -> None:
    arm = placed_arm((arriving("one", start_s=3.0), arriving("two", start_s=2.0)))
    with pytest.raises(BadInputError, match="'two' arrives before") as caught:
        check_placed(arm)
    assert caught.value.key == "workload.jobs.1.start"
