"""Two network namespaces as two machines, with a link between them that nothing limits."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from netshaper.namespaces import inside_namespace

DEVICE = "eth0"


@dataclass(frozen=True)
class Machines:
    """one, other: their namespaces. port: of UDP, where the other one takes anything."""

    one: str
    other: str
    address: str
    other_address: str
    port: int


def on(machine: str) -> tuple[str, ...]:
    """The words before a command that runs there, with the sysfs of its own devices."""
    return ("ip", "netns", "exec", machine)


@contextlib.contextmanager
def two_machines() -> Iterator[Machines]:
    one, other = (f"rl-two-{end}-{os.getpid()}" for end in "ab")
    address, other_address = "10.77.0.1", "10.77.0.2"
    try:
        for namespace in (one, other):
            _ip("netns", "add", namespace)
        _ip("link", "add", DEVICE, "netns", one, "type", "veth", "peer", DEVICE, "netns", other)
        for namespace, its in ((one, address), (other, other_address)):
            _ip("-n", namespace, "address", "add", f"{its}/24", "dev", DEVICE)
            for device in ("lo", DEVICE):
                _ip("-n", namespace, "link", "set", device, "up")
        with inside_namespace(other):
            listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with listener:
            listener.bind((other_address, 0))
            yield Machines(one, other, address, other_address, listener.getsockname()[1])
    finally:
        for namespace in (one, other):
            subprocess.run(("ip", "netns", "delete", namespace), check=False, capture_output=True)


def _ip(*words: str) -> None:
    subprocess.run(("ip", *words), check=True, capture_output=True)
