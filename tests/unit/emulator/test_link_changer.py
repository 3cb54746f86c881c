"""The thread that changes links: at its times, stopped with the run, loud when it fails."""

from __future__ import annotations

import threading
from collections.abc import Iterable

import pytest

from emulator import link_changer
from emulator.coordinator import now_s
from emulator.link_changer import LinkChanger
from emulator.networks import PlannedNetwork, plan_arm
from emulator.scale import ScalePlan
from netshaper.plan import Command
from tests.unit.builders import GBIT, make_arm, toy_cluster
from traces.errors import EmulationError
from traces.link_events import Change, LinkEvent

SCALE = ScalePlan(10.0, 1e10, "a test", 1e9, 1000.0, "a test")
LINK = toy_cluster().links[0]


def networks(*times_s: float) -> list[PlannedNetwork]:
    events = tuple(LinkEvent(at_s, LINK, Change.RATE, GBIT / 2, GBIT / 2) for at_s in times_s)
    return plan_arm(make_arm(events=events, dedicated=True), SCALE, "run1")


class Kernel:
    """Takes commands, and fails where it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.commands: list[Command] = []
        self.ran = threading.Semaphore(0)
        self.error: Exception | None = None
        monkeypatch.setattr(link_changer, "run_commands", self._run)
        monkeypatch.setattr(link_changer, "check_ports", lambda *_: None)

    def _run(self, commands: Iterable[Command]) -> None:
        self.ran.release()
        if self.error is not None:
            raise self.error
        self.commands += commands


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    return Kernel(monkeypatch)


def test_every_network_is_changed_at_its_times(kernel: Kernel) -> None:
    planned = networks(0.01, 0.02)
    anchor_s = now_s()
    with LinkChanger(planned, anchor_s) as changer:
        for _ in range(4):
            assert kernel.ran.acquire(timeout=10)
    for network in planned:
        applied = changer.applied(network.name)
        assert [each.change for each in applied] == list(network.changes)
        for each in applied:
            assert anchor_s + each.change.event.at_s <= each.begun_s <= each.done_s
    assert len(kernel.commands) == sum(len(c.commands) for n in planned for c in n.changes)


def test_what_is_due_after_the_end_is_never_done(kernel: Kernel) -> None:
    planned = networks(1000.0)
    with LinkChanger(planned, now_s()) as changer:
        pass
    assert changer.applied("n0") == ()
    assert kernel.commands == []


def test_a_failure_is_seen_at_once_and_raised_at_the_end(kernel: Kernel) -> None:
    kernel.error = EmulationError("tc: no such class")
    changer = LinkChanger(networks(0.0), now_s())
    with pytest.raises(EmulationError, match="no such class"), changer:
        assert kernel.ran.acquire(timeout=10)
    assert changer.failed


def test_an_error_of_the_run_itself_comes_first(kernel: Kernel) -> None:
    kernel.error = EmulationError("tc: no such class")
    changer = LinkChanger(networks(0.0), now_s())
    changer.__enter__()
    assert kernel.ran.acquire(timeout=10)
    changer.__exit__(KeyError, KeyError(), None)
    assert changer.failed


def test_without_events_there_is_no_thread(kernel: Kernel) -> None:
    before = threading.active_count()
    with LinkChanger(networks(), now_s()):
        assert threading.active_count() == before
