"""The first signal asks, the second ends, and cleaning is not cut short."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from emulator.interrupt import StopRequest, interrupts_ignored, stop_on_signals

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def send(number: int) -> None:
    """A signal to this process; its handler has run when this returns."""
    os.kill(os.getpid(), number)


@pytest.fixture(autouse=True)
def harmless_without_handler() -> object:
    """A test that fails must not end the test run."""
    previous = {number: signal.signal(number, lambda *_: None) for number in SIGNALS}
    yield
    for number, handler in previous.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_is_a_request_and_the_second_ends(number: int) -> None:
    told: list[str] = []
    with stop_on_signals(lambda: told.append("stopping")) as stop:
        assert not stop.wanted()
        send(number)
        assert stop.wanted()
        with pytest.raises(KeyboardInterrupt):
            send(number)
    assert told == ["stopping"]


def test_who_is_interrupted_while_it_holds_what_telling_needs_goes_on_first() -> None:
    console = threading.Lock()
    told: list[str] = []

    def tell() -> None:
        with console:
            told.append("stopping")

    with stop_on_signals(tell), console:
        send(signal.SIGINT)
        assert told == []
    assert told == ["stopping"]


def test_two_different_signals_are_two() -> None:
    with stop_on_signals(lambda: None):
        send(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            send(signal.SIGINT)


def test_afterwards_the_signals_mean_what_they_did() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with stop_on_signals(lambda: None):
        assert [signal.getsignal(number) for number in SIGNALS] != before
    with interrupts_ignored():
        pass
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_also_after_an_error() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with pytest.raises(RuntimeError), stop_on_signals(lambda: None):
        raise RuntimeError
    with pytest.raises(RuntimeError), interrupts_ignored():
        raise RuntimeError
    assert [signal.getsignal(number) for number in SIGNALS] == before


@pytest.mark.parametrize("number", SIGNALS)
def test_cleaning_is_not_interrupted(number: int) -> None:
    with stop_on_signals(lambda: None) as stop:
        with interrupts_ignored():
            send(number)
            send(number)
        assert not stop.wanted()


def test_nobody_asked_at_first() -> None:
    assert not StopRequest(lambda: None).wanted()


def test_a_run_under_nohup_does_not_stop_at_a_hang_up() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stop_on_signals(lambda: None) as stop:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not stop.wanted()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
