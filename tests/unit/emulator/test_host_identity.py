"""Hosts with names: of the calling process alone, in a child that has its own."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from emulator.host_identity import become_host, hosts_text


def test_every_host_has_its_line() -> None:
    text = hosts_text({"server0": "10.0.0.1", "server1": "10.0.0.2"})
    assert text.splitlines() == ["127.0.0.1 localhost", "10.0.0.1 server0", "10.0.0.2 server1"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_process_has_the_name_and_nobody_else(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text(hosts_text({"server0": "10.9.8.7"}))
    before = socket.gethostname(), Path("/etc/hosts").read_text()
    pid = os.fork()
    if pid == 0:
        become_host("server0", hosts)
        found = socket.gethostname(), socket.gethostbyname("server0")
        os._exit(0 if found == ("server0", "10.9.8.7") else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert (socket.gethostname(), Path("/etc/hosts").read_text()) == before
