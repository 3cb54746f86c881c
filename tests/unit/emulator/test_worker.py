"""What a worker is told to send and receive, and its timeline where no byte is due."""

from __future__ import annotations

import socket
import time
from typing import Any, cast

import pytest

from emulator.input import AlwaysThere
from emulator.jobs import worker_timeline
from emulator.messages import Message, MessageSocket
from emulator.networks import plan_arm
from emulator.scale import ScalePlan
from emulator.streams import PieceReader
from emulator.worker import _Worker, flows_by_rank
from netshaper.shaping import window_bytes
from tests.unit.builders import all_to_all_job, make_arm, make_job, toy_pair, toy_transfer
from traces.demand import Demand

SCALE = ScalePlan(10.0, 1e9, "assumed", 1e8, 300.0, "a test")


def test_flows_are_sorted_by_both_ends() -> None:
    table = flows_by_rank([(0, 1, 5), (0, 2, 6), (2, 0, 7)])
    assert table["send"] == {0: [[1, 5], [2, 6]], 2: [[0, 7]]}
    assert table["receive"] == {1: [[0, 5]], 2: [[0, 6]], 0: [[2, 7]]}


def test_what_one_worker_sends_another_expects() -> None:
    job = all_to_all_job()
    timelines = [worker_timeline(job, rank, SCALE) for rank in range(4)]
    sent = {(a, b, size) for a in range(4) for b, size in timelines[a]["transfers"][0]["send"]}
    due = {(a, b, size) for b in range(4) for a, size in timelines[b]["transfers"][0]["receive"]}
    assert sent == due
    assert len(sent) == 12


def test_sizes_and_limits_are_scaled_and_times_are_not() -> None:
    limited = toy_transfer(rate_limit_bps=8e6, blocking=True)
    timeline = worker_timeline(make_job("one", demand=Demand(0.1, (limited,))), 1, SCALE)
    (transfer,) = timeline["transfers"]
    assert timeline["compute_s"] == 0.1
    assert (transfer["ready_s"], transfer["blocking"]) == (0.1, True)
    assert transfer["send"] == [[0, SCALE.payload_bytes(5e6)]]
    assert transfer["rate_limit_bytes_per_s"] == SCALE.payload_bytes(1e6)
    free = worker_timeline(make_job("one"), 0, SCALE)["transfers"][0]
    assert free["rate_limit_bytes_per_s"] is None


def test_a_dedicated_arm_has_a_network_for_each_job() -> None:
    together = plan_arm(make_arm(), SCALE, "run1")
    apart = plan_arm(make_arm(dedicated=True), SCALE, "run1", first_network=1)
    assert [(one.name, [job.id for job in one.jobs]) for one in together] == [
        ("n0", ["one", "two"])
    ]
    assert [(one.name, [job.id for job in one.jobs]) for one in apart] == [
        ("n1", ["one"]),
        ("n2", ["two"]),
    ]
    names = [name for one in together + apart for name in one.plan.namespaces.values()]
    assert len(set(names)) == len(names)


def test_buffers_are_made_for_the_connections_of_all_jobs() -> None:
    (network,) = plan_arm(make_arm(), SCALE, "run1")
    connections = 2 * len(toy_pair())
    for end in network.plan.ports.values():
        assert end.shape.buffer_bytes >= connections * window_bytes(end.shape.rate_bps)


class Echo:
    """A controller that lets a lone worker go on from what it says itself."""

    def __init__(self) -> None:
        self.heard: list[Message] = []

    def send(self, message: Message) -> None:
        self.heard.append(message)

    def receive(self) -> Message:
        return {"do": "resume", "resume_s": self.heard[-1]["at_s"]}


def lone_iteration(*transfers: dict[str, Any], compute_s: float = 0.0) -> tuple[float, Message]:
    """(start, report) of one iteration of a worker without peers."""
    nothing: dict[str, Any] = {"ready_s": 0.0, "blocking": False, "rate_limit_bytes_per_s": None}
    nothing |= {"send": [], "receive": []}
    timeline = {"compute_s": compute_s, "transfers": [nothing | each for each in transfers]}
    worker = _Worker({"timeline": timeline}, cast("MessageSocket", Echo()), AlwaysThere())
    start_s = time.monotonic()
    return start_s, worker.iterate(start_s)


def test_the_timeline_ends_after_its_compute() -> None:
    start_s, report = lone_iteration({}, {}, compute_s=0.25)
    assert report["timeline_end_s"] == pytest.approx(start_s + 0.25)
    assert len(report["started_s"]) == len(report["received_s"]) == 2
    assert len(report["lateness_s"]) == 3  # two sends and the end of the timeline
    assert min(report["started_s"]) >= start_s


def test_computing_takes_its_time() -> None:
    began_s, report = lone_iteration(compute_s=0.05)
    assert time.monotonic() - began_s >= 0.05 - 0.005
    assert report["timeline_end_s"] == pytest.approx(began_s + 0.05)
    assert len(report["lateness_s"]) == 1


def test_a_blocking_transfer_without_bytes_does_not_turn_back_time() -> None:
    start_s, report = lone_iteration({"blocking": True})
    assert report["timeline_end_s"] >= start_s


def test_a_reader_takes_exactly_what_is_due_and_sees_the_end() -> None:
    sender, receiver = socket.socketpair()
    reader = PieceReader(receiver, window_bytes=16)
    sender.sendall(b"x" * 25)
    assert reader.read(10)
    assert reader.read(15)
    receiver.setblocking(False)
    with pytest.raises(BlockingIOError):
        receiver.recv(1)
    sender.sendall(b"x" * 3)
    sender.close()
    assert not reader.read(4)
    receiver.close()
