"""A training script's side of the count: datagrams of text, and nothing outside a run."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from emulator import iterations
from emulator.iterations import (
    FIRST_VARIABLE,
    SOCKET_VARIABLE,
    TURNS_VARIABLE,
    first_iteration,
    iteration_done,
    socket_address,
)


@pytest.fixture(autouse=True)
def _forget_the_connection(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in (SOCKET_VARIABLE, FIRST_VARIABLE, TURNS_VARIABLE, "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    iterations._connection.cache_clear()
    yield
    iterations._connection.cache_clear()


@pytest.fixture(name="counter")
def bound_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as counter:
        counter.bind(str(tmp_path / "count"))
        counter.setblocking(False)
        monkeypatch.setenv(SOCKET_VARIABLE, str(tmp_path / "count"))
        yield counter


def test_each_call_sends_its_number(counter: socket.socket) -> None:
    iteration_done()
    iteration_done(12)
    assert [counter.recv(64), counter.recv(64)] == [b"1", b"12"]


def test_outside_a_run_nothing_happens() -> None:
    iteration_done()
    assert first_iteration() == 0


def test_a_job_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FIRST_VARIABLE, "41")
    assert first_iteration() == 41


def test_of_several_processes_on_a_server_only_the_first_counts(
    counter: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_RANK", "1")
    iteration_done()
    with pytest.raises(BlockingIOError):
        counter.recv(64)
    monkeypatch.setenv("LOCAL_RANK", "0")
    iterations._connection.cache_clear()
    iteration_done()
    assert counter.recv(64) == b"1"


def test_it_waits_for_its_turn_and_says_when_it_began_and_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as turns:
        name = f"@roundelay-test-{os.getpid()}"
        turns.bind(socket_address(name))
        turns.listen(1)
        monkeypatch.setenv(TURNS_VARIABLE, name)
        script = threading.Thread(target=lambda: [iteration_done() for _ in range(2)])
        script.start()
        connection, _ = turns.accept()
        _, ended_ns = map(int, connection.recv(64).split())
        start_ns = ended_ns + 50_000_000
        connection.send(str(start_ns).encode())
        began_ns, _ = map(int, connection.recv(64).split())
        connection.send(b"0")
        script.join()
        connection.close()
    assert began_ns >= start_ns
