"""A process whose host has a name of its own, and knows the names of the others.

Libraries such as gloo listen where the host's name leads to; on an emulated server that has to be
its own address. (namespaces(7): the UTS and mount namespaces.)
"""

from __future__ import annotations

import ctypes
import os
import socket
from collections.abc import Mapping
from pathlib import Path

_CLONE_NEWNS, _CLONE_NEWUTS = 0x00020000, 0x04000000
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_HOSTS = "/etc/hosts"
_libc = ctypes.CDLL(None, use_errno=True)


def hosts_text(addresses: Mapping[str, str]) -> str:
    """What /etc/hosts says where hosts have these addresses, by name."""
    lines = ["127.0.0.1 localhost", *(f"{address} {name}" for name, address in addresses.items())]
    return "\n".join(lines) + "\n"


def become_host(name: str, hosts: Path) -> None:
    """Give the calling process this host name and this file as /etc/hosts, and nobody else.

    Raises OSError where it may not.
    """
    _check(_libc.unshare(_CLONE_NEWNS | _CLONE_NEWUTS))
    _check(_libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None))
    _check(_libc.mount(os.fsencode(hosts), os.fsencode(_HOSTS), None, _MS_BIND, None))
    socket.sethostname(name)


def _check(result: int) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
