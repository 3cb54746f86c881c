"""Counters of ports become loads in time of the cluster."""

from __future__ import annotations

from emulator.evidence import samples_by_port
from emulator.rounds.clock import RoundClock
from emulator.rounds.link_load import LinkLoad, link_loads
from netshaper.disciplines import FIRST_JOB_CLASS, ROOT_CLASS
from tests.unit.emulator.test_evidence import DIVISOR, network, sample

MEGABYTE = 10**6


def loads() -> list[LinkLoad]:
    """Of one port, in rounds of 1 s on the wall that stand for 20 s, at 10-11 and 12-13 s."""
    _, plan = network()
    clock = RoundClock(stride=20.0)
    clock.add(0.0, 10.0, 1.0)
    clock.add(60.0, 12.0, 1.0)
    samples = [
        row
        for t_s, sent, backlog, dropped in (
            (10.0, 0, 0, 0),
            (10.5, 1, 0, 0),
            (11.5, 3, 0, 0),  # half a second of it in the first round
            (11.8, 4, 0, 0),  # between two rounds
            (12.5, 6, 7, 2),
        )
        for row in sample(
            plan,
            t_s,
            t_s,
            left0_switchleft={
                ROOT_CLASS: [sent * MEGABYTE, sent, 0, 0],
                FIRST_JOB_CLASS: [sent * MEGABYTE, sent, dropped, backlog],
            },
        )
    ]
    found = link_loads(plan, samples_by_port(samples), clock, DIVISOR)
    return [load for load in found if load.port == "left0->switch-left"]


def test_times_are_those_of_the_cluster() -> None:
    assert [load.t_s for load in loads()] == [10.0, 20.0, 70.0]


def test_rates_are_unscaled_and_over_the_time_that_rounds_took() -> None:
    assert [load.rate_bps for load in loads()] == [
        8 * MEGABYTE / 0.5 * DIVISOR,
        8 * 2 * MEGABYTE / 0.5 * DIVISOR,
        8 * 3 * MEGABYTE / 0.5 * DIVISOR,
    ]
    assert {load.capacity_bps for load in loads()} == {1e9}


def test_what_waits_is_unscaled_and_drops_are_counted_once() -> None:
    assert [load.backlog_bytes for load in loads()] == [0.0, 0.0, 7 * DIVISOR]
    assert [load.dropped_packets for load in loads()] == [0, 0, 2]
