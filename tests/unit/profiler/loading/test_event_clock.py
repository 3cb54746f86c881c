"""The clock of a loop, on the host and on a device that does what it is told later."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from profiler.loading.event_clock import EventClock, HostEvent

STEP_S = 0.02


class Device:
    """A thread that does what it is given, in order, while its host goes on."""

    def __init__(self) -> None:
        self._work: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def do(self, work: Callable[[], None]) -> None:
        self._work.put(work)

    def close(self) -> None:
        self._work.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()


class DeviceEvent:
    """Reached when the device gets to it."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._reached = threading.Event()
        self._host = HostEvent()

    def record(self) -> None:
        self._reached.clear()
        self._device.do(self._reach)

    def query(self) -> bool:
        return self._reached.is_set()

    def synchronize(self) -> None:
        self._reached.wait()

    def seconds_until(self, later: DeviceEvent) -> float:
        return self._host.seconds_until(later._host)

    def _reach(self) -> None:
        self._host.record()
        self._reached.set()


@pytest.fixture
def device() -> Iterator[Device]:
    device = Device()
    yield device
    device.close()


def test_on_the_host_each_part_holds_what_it_took() -> None:
    clock = EventClock(HostEvent)
    clock.begin()
    time.sleep(STEP_S)
    clock.arrived()
    time.sleep(2 * STEP_S)
    clock.copied()
    time.sleep(3 * STEP_S)
    clock.done()
    ((wait_s, copy_s, compute_s, iteration_s),) = clock.take()
    assert wait_s >= STEP_S
    assert copy_s >= 2 * STEP_S
    assert compute_s >= 3 * STEP_S
    assert iteration_s == pytest.approx(wait_s + copy_s + compute_s)
    assert clock.take() == []


def test_one_iteration_begins_where_the_last_one_was_done() -> None:
    clock = EventClock(HostEvent)
    before_s = time.monotonic()
    clock.begin()
    for _ in range(50):
        clock.arrived()
        clock.copied()
        clock.done()
    after_s = time.monotonic()
    times = clock.take()
    assert len(times) == 50
    assert 0 < sum(iteration_s for *_, iteration_s in times) <= after_s - before_s


def test_what_goes_on_between_two_loops_belongs_to_no_iteration() -> None:
    clock = EventClock(HostEvent)
    took_s = []
    for _ in range(2):
        began_s = time.monotonic()
        clock.begin()
        clock.arrived()
        clock.copied()
        clock.done()
        took_s.append(time.monotonic() - began_s)
        time.sleep(STEP_S)
    times = clock.take()
    assert all(each[3] <= whole_s for each, whole_s in zip(times, took_s, strict=True))


def test_the_loop_does_not_wait_for_a_device_that_is_behind(device: Device) -> None:
    may_go_on = threading.Event()
    clock = EventClock(lambda: DeviceEvent(device))
    clock.begin()
    clock.arrived()
    clock.copied()
    device.do(lambda: may_go_on.wait())  # what it is to compute
    clock.done()
    assert clock.take() == []
    may_go_on.set()
    clock.settle()
    assert len(clock.take()) == 1


def test_a_batch_that_comes_while_the_device_computes_was_not_waited_for(device: Device) -> None:
    may_go_on = threading.Event()
    clock = EventClock(lambda: DeviceEvent(device))
    clock.begin()
    clock.arrived()
    clock.copied()
    device.do(lambda: may_go_on.wait())
    clock.done()
    time.sleep(10 * STEP_S)  # until the next batch comes
    clock.arrived()
    may_go_on.set()
    clock.copied()
    clock.done()
    clock.settle()
    first, second = clock.take()
    assert second[0] < 10 * STEP_S <= first[2]


def test_a_late_batch_shows_as_the_time_that_the_device_stood_idle(device: Device) -> None:
    clock = EventClock(lambda: DeviceEvent(device))
    clock.begin()
    clock.arrived()
    clock.copied()
    clock.done()
    clock.settle()
    time.sleep(STEP_S)
    clock.arrived()
    clock.copied()
    clock.done()
    clock.settle()
    _, (wait_s, _, _, _) = clock.take()
    assert wait_s >= STEP_S


def test_events_are_used_again(device: Device) -> None:
    made = []

    def new_event() -> DeviceEvent:
        made.append(DeviceEvent(device))
        return made[-1]

    clock = EventClock(new_event)
    clock.begin()
    for _ in range(20):
        clock.arrived()
        clock.copied()
        clock.done()
        clock.settle()
        assert len(clock.take()) == 1
    assert len(made) <= 8
