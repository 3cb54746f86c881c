"""Which process has the link to the profiler."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from profiler.training.link import profiler_link
from profiler.training.protocol import DESCRIPTOR_VARIABLE, Ended


@pytest.fixture(name="ours")
def inherited(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    ours, theirs = socket.socketpair()
    descriptor = theirs.detach()
    os.set_inheritable(descriptor, True)
    monkeypatch.setenv(DESCRIPTOR_VARIABLE, str(descriptor))
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    profiler_link.cache_clear()
    with ours:
        yield ours
    profiler_link.cache_clear()


def test_the_process_has_one_and_its_children_do_not(ours: socket.socket) -> None:
    descriptor = int(os.environ[DESCRIPTOR_VARIABLE])
    link = profiler_link()
    assert link is not None
    assert profiler_link() is link
    link.send(Ended(1))
    assert ours.recv(100) == b'{"event":"ended","iterations":1,"code":0,"reason":""}\n'
    look = f"import os; print(os.path.exists('/proc/self/fd/{descriptor}'), {descriptor})"
    child = subprocess.run([sys.executable, "-c", look], stdout=subprocess.PIPE, close_fds=False)
    assert child.stdout.split()[0] == b"False"
    assert DESCRIPTOR_VARIABLE not in os.environ


def test_of_several_processes_on_a_server_only_the_first_has_one(
    ours: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_RANK", "1")
    descriptor = int(os.environ[DESCRIPTOR_VARIABLE])
    assert profiler_link() is None
    os.close(descriptor)


def test_a_process_that_no_profiler_started_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DESCRIPTOR_VARIABLE, raising=False)
    profiler_link.cache_clear()
    assert profiler_link() is None
    profiler_link.cache_clear()
