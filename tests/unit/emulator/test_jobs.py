"""What a worker is told of its job's traffic."""

from __future__ import annotations

from emulator.jobs import worker_timeline
from emulator.scale import ScalePlan
from tests.unit.builders import TOY_BYTES, TOY_COMPUTE_S, make_job, toy_transfer
from traces.demand import Demand, Pattern

SCALE = ScalePlan(100.0, 1.0, "a test", 1.0, 1.0, "")


def test_rates_and_bytes_are_divided_and_times_are_not() -> None:
    limited = Demand(TOY_COMPUTE_S, (toy_transfer(rate_limit_bps=8e6, blocking=True),))
    timeline = worker_timeline(make_job("one", demand=limited), 0, SCALE)
    assert timeline["compute_s"] == TOY_COMPUTE_S
    (transfer,) = timeline["transfers"]
    payload_bytes = SCALE.payload_bytes(TOY_BYTES)
    assert payload_bytes < TOY_BYTES / 100
    assert transfer["send"] == transfer["receive"] == [[1, payload_bytes]]
    assert transfer["rate_limit_bytes_per_s"] == SCALE.payload_bytes(1e6)
    assert (transfer["ready_s"], transfer["blocking"]) == (TOY_COMPUTE_S, True)


def test_what_stays_inside_a_server_is_not_sent() -> None:
    """Two workers on one server and one beside them: of all pairs, those across are left."""
    servers = ("left0", "left0", "left1")
    demand = Demand(TOY_COMPUTE_S, (toy_transfer(pattern=Pattern.ALL_TO_ALL),))
    job = make_job("one", servers, demand)
    for rank, others in enumerate(([2], [2], [0, 1])):
        (transfer,) = worker_timeline(job, rank, SCALE)["transfers"]
        assert [other for other, _ in transfer["send"]] == others
        assert [other for other, _ in transfer["receive"]] == others


def test_a_job_inside_one_server_has_its_transfers_and_nothing_to_send() -> None:
    timeline = worker_timeline(make_job("one", ("left0", "left0")), 0, SCALE)
    (transfer,) = timeline["transfers"]
    assert (transfer["send"], transfer["receive"]) == ([], [])
