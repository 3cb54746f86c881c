"""Jobs that come and go on a simulated network, in the middle of what they send."""

from __future__ import annotations

from collections import defaultdict

import pytest

from harness.simulation.fluid import FluidNetwork, RateSegment
from harness.simulation.network_jobs import SimulatedNetworkJobs
from tests.unit.builders import (
    GBIT,
    TOY_ALONE_S,
    TOY_BYTES,
    TOY_COMPUTE_S,
    TOY_TRANSFER_S,
    make_job,
    toy_cluster,
    toy_transfer,
)
from traces.cluster import Port
from traces.demand import Demand
from traces.link_events import Change, LinkEvent
from traces.schedule import TimeShift

LEFT = ("left0", "right0")
RIGHT = ("left1", "right1")
MIDDLE = Port("switch-left", "switch-right")


class Network:
    """Jobs on the toy cluster, and the bytes that each sent at each port."""

    def __init__(self, events: tuple[LinkEvent, ...] = ()) -> None:
        self.sent_bytes: dict[tuple[Port, str], float] = defaultdict(float)
        self._until_s = 0.0
        fluid = FluidNetwork(toy_cluster(), self._load, events)
        self.jobs = SimulatedNetworkJobs(toy_cluster(), fluid)

    def _load(self, segment: RateSegment) -> None:
        assert segment.start_s < segment.end_s
        seconds = segment.end_s - segment.start_s
        self.sent_bytes[segment.port, segment.job] += seconds * segment.rate_bps / 8

    def lengths(self, job: str) -> list[float]:
        return [span.end_s - span.start_s for span in self.jobs.spans(job)]


def test_time_passes_without_jobs() -> None:
    network = Network()
    network.jobs.run(5.0)
    network.jobs.start(make_job("one", LEFT, start_s=5.2), 2, None)
    network.jobs.run(6.0)
    assert [span.end_s for span in network.jobs.spans("one")] == pytest.approx([5.34, 5.48])


def test_a_job_that_comes_in_mid_transfer_shares_what_is_left() -> None:
    network = Network()
    network.jobs.start(make_job("one", LEFT), 2, None)
    network.jobs.run(0.12)  # half of the first transfer is through
    sending = Demand(0.0, (toy_transfer(ready_s=0.0),))
    network.jobs.start(make_job("two", RIGHT, sending, start_s=0.12), 1, None)
    network.jobs.run(2.0)
    # 20 ms are left of one, which take 40 ms beside two; two then has 20 ms left, alone.
    assert network.lengths("one") == pytest.approx([TOY_ALONE_S + 0.02, TOY_ALONE_S])
    assert network.lengths("two") == pytest.approx([0.06])
    for job, iterations in (("one", 2), ("two", 1)):
        assert network.sent_bytes[MIDDLE, job] == pytest.approx(iterations * TOY_BYTES)


def test_a_job_that_goes_in_mid_transfer_has_sent_just_so_much() -> None:
    network = Network()
    network.jobs.start(make_job("one", LEFT), 3, None)
    network.jobs.start(make_job("two", RIGHT), 3, None)
    network.jobs.run(TOY_COMPUTE_S + TOY_TRANSFER_S)  # both have sent half
    network.jobs.end("two")
    network.jobs.run(2.0)
    assert network.lengths("one")[0] == pytest.approx(TOY_COMPUTE_S + 1.5 * TOY_TRANSFER_S)
    assert network.sent_bytes[MIDDLE, "one"] == pytest.approx(3 * TOY_BYTES)
    assert network.sent_bytes[MIDDLE, "two"] == pytest.approx(TOY_BYTES / 2)


def test_a_job_that_starts_again_begins_a_whole_iteration() -> None:
    network = Network()
    network.jobs.start(make_job("one", LEFT), 5, None)
    network.jobs.run(0.2)
    assert len(network.jobs.spans("one")) == 1
    network.jobs.end("one")
    network.jobs.start(make_job("one", RIGHT, start_s=0.5), 4, None)
    assert network.jobs.spans("one") == []
    network.jobs.run(2.0)
    assert network.jobs.spans("one")[0].start_s == 0.5
    assert network.lengths("one") == pytest.approx([TOY_ALONE_S] * 4)


def test_events_come_also_while_nothing_runs() -> None:
    slower = LinkEvent(1.0, toy_cluster().link(MIDDLE), Change.RATE, GBIT / 2, GBIT / 2)
    network = Network((slower,))
    network.jobs.run(2.0)
    network.jobs.start(make_job("one", LEFT, start_s=2.0), 1, None)
    network.jobs.run(3.0)
    assert network.lengths("one") == pytest.approx([TOY_COMPUTE_S + 2 * TOY_TRANSFER_S])


def test_workers_of_one_server_exchange_in_no_time_and_load_no_link() -> None:
    network = Network()
    network.jobs.start(make_job("one", ("left0", "left0")), 3, None)
    network.jobs.run(1.0)
    assert network.lengths("one") == pytest.approx([TOY_COMPUTE_S] * 3)
    assert network.sent_bytes == {}


def test_workers_of_two_jobs_on_one_server_share_its_link() -> None:
    network = Network()
    network.jobs.start(make_job("one", ("left0", "right0")), 1, None)
    network.jobs.start(make_job("two", ("left0", "left1")), 1, None)
    network.jobs.run(1.0)
    for job in ("one", "two"):
        assert network.lengths(job) == pytest.approx([TOY_COMPUTE_S + 2 * TOY_TRANSFER_S])


def test_a_shift_holds_from_the_next_iteration_on_and_coming_to_it_is_no_adjustment() -> None:
    network = Network()
    network.jobs.start(make_job("one", LEFT), 4, None)
    network.jobs.run(0.05)
    network.jobs.change_shift("one", TimeShift(0.1, 0.145))
    network.jobs.run(2.0)
    starts = [span.start_s for span in network.jobs.spans("one")]
    assert starts == pytest.approx([0.0, 0.245, 0.39, 0.535])
    network.jobs.end("one")
    assert network.jobs.adjustments == {"one": 0}


def test_adjustments_of_all_stints_and_shifts_add_up() -> None:
    network = Network()
    too_short = TimeShift(0.0, 0.1)  # every iteration is late on it
    network.jobs.start(make_job("one", LEFT), 20, too_short)
    network.jobs.run(0.95)  # iterations start every 0.2 s; five were late
    network.jobs.change_shift("one", TimeShift(0.05, 0.1))
    network.jobs.run(1.5)
    network.jobs.end("one")
    # the one that begins at 1.15 comes to its grid; the two after it were late on it
    assert network.jobs.adjustments == {"one": 5 + 2}
    network.jobs.start(make_job("one", LEFT, start_s=2.0), 3, too_short)
    network.jobs.run(9.0)
    network.jobs.end("one")
    assert network.jobs.adjustments == {"one": 5 + 2 + 2}
