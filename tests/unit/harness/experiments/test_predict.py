"""A prediction as the rows that a measurement has."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.experiments.decide import decide
from harness.experiments.predict import SAMPLE_INTERVAL_S, ArmPrediction, predict_arm
from harness.simulation.fluid import simulate
from harness.simulation.rates import SHARINGS
from tests.unit.builders import (
    CASSINI,
    GBIT,
    TOY_ALONE_S,
    TOY_BYTES,
    TOY_COMPUTE_S,
    TOY_TRANSFER_S,
    all_to_all_job,
    make_arm,
    make_job,
    toy_cluster,
    toy_pair,
    toy_transfer,
)
from traces.cluster import Sharing
from traces.demand import Demand


def bytes_by_port_and_job(prediction: ArmPrediction) -> dict[tuple[str, str, str | None], float]:
    carried: dict[tuple[str, str, str | None], float] = defaultdict(float)
    for row in prediction.links:
        carried[(row.network, row.port, row.job)] += row.rate_bps * SAMPLE_INTERVAL_S / 8
    return carried


def iteration_times(prediction: ArmPrediction) -> list[float]:
    return [row.iteration_s for row in prediction.iterations]


def test_every_iteration_is_a_row_and_the_first_are_not_counted() -> None:
    prediction = predict_arm(make_arm(), {})
    assert [(row.job, row.iteration, row.counted) for row in prediction.iterations] == [
        (job, number, number >= 1) for job in ("one", "two") for number in range(5)
    ]
    assert {row.arm for row in prediction.iterations} == {"arm"}


def test_the_rows_say_what_was_simulated() -> None:
    row = predict_arm(make_arm(toy_pair()[:1]), {}).iterations[1]
    assert row.start_s == pytest.approx(TOY_ALONE_S)
    assert row.communication_start_s == pytest.approx(TOY_ALONE_S + TOY_COMPUTE_S)
    assert row.end_s == pytest.approx(2 * TOY_ALONE_S)
    assert row.iteration_s == pytest.approx(TOY_ALONE_S)


def test_a_wait_for_the_grid_is_part_of_the_iteration() -> None:
    arm = make_arm(scheduler=CASSINI)
    prediction = predict_arm(arm, decide(arm).shifts)
    for row in prediction.iterations:
        expected = TOY_ALONE_S if row.iteration == 0 else TOY_ALONE_S * 1.005
        assert row.iteration_s == pytest.approx(expected)
    assert prediction.adjustments == {"one": 0, "two": 0}


def test_in_a_dedicated_arm_every_job_has_a_network_of_its_own() -> None:
    prediction = predict_arm(make_arm(dedicated=True), {})
    assert iteration_times(prediction) == pytest.approx([TOY_ALONE_S] * 10)
    assert {(row.network, row.job) for row in prediction.links} == {("n0", "one"), ("n1", "two")}


@pytest.mark.parametrize("sharing", SHARINGS)
def test_link_rows_add_up_to_the_bytes_sent(sharing: Sharing) -> None:
    carried = bytes_by_port_and_job(predict_arm(make_arm(cluster=toy_cluster(sharing)), {}))
    assert len(carried) == 2 * 6
    assert list(carried.values()) == pytest.approx([5 * TOY_BYTES] * 12)


@given(st.floats(0.001, 0.1), st.floats(1e4, 1e7), st.floats(0, 0.2))
def test_whatever_is_sent_the_link_rows_add_up(ready_s: float, size: float, start: float) -> None:
    demand = Demand(0.1, (toy_transfer(ready_s=ready_s, bytes=size),))
    jobs = (make_job("one", demand=demand), make_job("two", ("left1", "right1"), start_s=start))
    carried = bytes_by_port_and_job(predict_arm(make_arm(jobs, iterations=2), {}))
    for (_, _, job), total in carried.items():
        assert total == pytest.approx(3 * (size if job == "one" else TOY_BYTES), rel=1e-6)


def test_link_rows_are_at_a_steady_interval_and_within_the_links_rate() -> None:
    rows = predict_arm(make_arm(toy_pair()[:1]), {}).links
    port = [row for row in rows if row.port == "left0->switch-left"]
    assert [row.t_s for row in port] == pytest.approx(
        [SAMPLE_INTERVAL_S * number for number in range(1, len(port) + 1)]
    )
    assert {row.capacity_bps for row in rows} == {GBIT}
    assert max(row.rate_bps for row in rows) <= GBIT * (1 + 1e-9)
    busy = [row.t_s for row in port if row.rate_bps > 0]
    # the first transfer: from 100 to 140 ms
    assert [t for t in busy if t < 0.2] == pytest.approx([0.12, 0.14])


def test_link_rows_of_several_flows_through_one_port_are_their_sum_at_every_moment() -> None:
    job = all_to_all_job()
    prediction = predict_arm(make_arm([job], iterations=2), {})
    segments = simulate(toy_cluster(), [job], 3).segments
    for row in prediction.links:
        since_s = row.t_s - SAMPLE_INTERVAL_S
        bits = sum(
            part.rate_bps * max(0.0, min(row.t_s, part.end_s) - max(since_s, part.start_s))
            for part in segments
            if str(part.port) == row.port
        )
        assert row.rate_bps == pytest.approx(bits / SAMPLE_INTERVAL_S, rel=1e-6, abs=1.0)


def test_without_traffic_there_are_no_link_rows() -> None:
    arm = make_arm([make_job("quiet", demand=Demand(0.1, ()))])
    prediction = predict_arm(arm, {})
    assert prediction.links == []
    assert iteration_times(prediction) == pytest.approx([0.1] * 5)


def test_together_takes_compute_and_twice_the_transfer() -> None:
    expected = TOY_COMPUTE_S + 2 * TOY_TRANSFER_S
    assert iteration_times(predict_arm(make_arm(), {})) == pytest.approx([expected] * 10)
