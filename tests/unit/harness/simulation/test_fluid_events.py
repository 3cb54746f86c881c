"""Links that change under the fluid simulator, against times worked out by hand.

The toy job computes for 100 ms, and then sends for 40 ms at 1 Gbit/s.
"""

from __future__ import annotations

import pytest

from harness.experiments.predict import predict_arm
from harness.simulation.fluid import simulate
from tests.unit.builders import GBIT, make_arm, make_job, toy_cluster
from traces.cluster import Port
from traces.link_events import Change, LinkEvent

MIDDLE = Port("switch-left", "switch-right")
LINK = toy_cluster().link(MIDDLE)


def event(at_s: float, change: Change, rate_bps: float) -> LinkEvent:
    return LinkEvent(at_s, LINK, change, rate_bps, rate_bps)


def ends(*events: LinkEvent, iterations: int = 1) -> list[float]:
    found = simulate(toy_cluster(), [make_job("one")], iterations, events=events)
    return [span.end_s for span in found.iterations["one"]]


@pytest.mark.parametrize(
    ("events", "end_s"),
    [
        ([event(0.0, Change.RATE, GBIT / 2)], 0.18),  # from the first moment on
        ([event(0.12, Change.RATE, GBIT / 2)], 0.16),  # 20 ms at the full rate, 40 at half
        ([event(0.12, Change.RATE, 2 * GBIT)], 0.14),  # the servers' own links are no faster
        ([event(0.12, Change.DOWN, 0.0), event(0.5, Change.UP, GBIT)], 0.52),
        ([event(0.02, Change.DOWN, 0.0), event(0.05, Change.UP, GBIT)], 0.14),  # it computes
        ([event(0.2, Change.RATE, GBIT / 2)], 0.14),  # after the end
        ([event(0.12, Change.LATENCY, GBIT)], 0.14),  # not modelled
        (
            [
                event(0.12, Change.DOWN, 0.0),
                event(0.13, Change.RATE, 0.0),
                event(0.2, Change.UP, GBIT / 4),
            ],
            0.28,
        ),
    ],
)
def test_a_transfer_takes_what_the_rates_allow(events: list[LinkEvent], end_s: float) -> None:
    assert ends(*events) == pytest.approx([end_s])


def test_the_next_iteration_has_the_new_rate_all_along() -> None:
    found = ends(event(0.14, Change.RATE, GBIT / 2), iterations=2)
    assert found == pytest.approx([0.14, 0.14 + 0.18])


def test_a_prediction_lists_events_until_the_end_and_capacities_in_force() -> None:
    arm = make_arm(
        [make_job("one")],
        iterations=1,
        warmup_iterations=0,
        events=(
            event(0.12, Change.DOWN, 0.0),
            event(0.5, Change.UP, GBIT),
            event(9.0, Change.RATE, 2 * GBIT),
        ),
    )
    found = predict_arm(arm, {})
    assert [(row.at_s, row.done_s) for row in found.events] == [(0.12, 0.12), (0.5, 0.5)]
    assert found.events[0].event == "switch-left-switch-right down"
    rows = [row for row in found.links if row.port == str(MIDDLE)]
    capacity = {round(row.t_s, 3): row.capacity_bps for row in rows}
    assert (capacity[0.1], capacity[0.3], capacity[0.52]) == (GBIT, 0.0, GBIT)
