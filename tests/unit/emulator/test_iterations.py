"""A training script's side of the count: datagrams of text, and nothing outside a run."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from emulator import iterations
from emulator.iterations import FIRST_VARIABLE, SOCKET_VARIABLE, first_iteration, iteration_done


@pytest.fixture(autouse=True)
def _forget_the_connection(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in (SOCKET_VARIABLE, FIRST_VARIABLE, "LOCAL_RANK"):
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
