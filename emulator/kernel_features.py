"""What this kernel has for a network: congestion controls, queueing disciplines, ECN markers.

The kernel itself is asked, as a run would ask it: it loads what it has as a module only then, so
that lists in /proc fall short. Nothing else changes; queues are tried in a namespace of their own.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
import socket
import struct
import subprocess
from collections.abc import Mapping

from traces.errors import MissingCapabilityError

CONGESTION_CONTROLS = ("cubic", "reno", "bbr", "dctcp")
QDISCS = ("red", "netem", "fq")
ECN_MARKERS = ("red", "fq_codel", "eBPF")

_TIMEOUT_S = 10.0
_TC_COMMANDS = {
    "red": (
        "qdisc replace dev lo root red limit 60000 min 5000 max 15000 avpkt 1000 burst 8 "
        "bandwidth 10mbit ecn"
    ),
    "netem": "qdisc replace dev lo root netem delay 1ms",
    "fq": "qdisc replace dev lo root fq",
    "fq_codel": "qdisc replace dev lo root fq_codel ecn",
    "clsact": "qdisc add dev lo clsact",
    # A classic program of one instruction, "return 0": tc needs no compiler for it.
    "cls_bpf": 'filter add dev lo egress bpf bytecode "1,6 0 0 0"',
}

_BPF_SYSCALL = {"x86_64": 321, "aarch64": 280, "riscv64": 280}
_BPF_PROG_LOAD = 5
_BPF_PROG_TYPE_SCHED_CLS = 3
_RETURN_0 = bytes([0xB7, 0, 0, 0, 0, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0])  # mov r0, 0; exit
_LOAD_ATTRIBUTES = struct.Struct("=IIQQIIQII")  # include/uapi/linux/bpf.h, as of Linux 4.1 and on


def congestion_controls() -> tuple[str, ...]:
    """Those of CONGESTION_CONTROLS that are there, for this user or for root.

    For root the kernel also loads those that it has as modules.
    """
    return tuple(name for name in CONGESTION_CONTROLS if _has_congestion_control(name))


def _has_congestion_control(name: str) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        except OSError as error:
            return error.errno == errno.EPERM  # it is there, and root may use it
    return True


def traffic_control() -> Mapping[str, bool] | None:
    """Each of QDISCS and ECN_MARKERS: whether it is there. None where the kernel cannot be asked.

    That takes root, the right to make namespaces, iproute2 and util-linux.
    """
    if os.geteuid() != 0:
        return None
    try:
        done = subprocess.run(
            ("unshare", "--net", "tc", "-force", "-batch", "-"),
            input="".join(command + "\n" for command in _TC_COMMANDS.values()),
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    if "unshare: " in done.stderr:
        return None
    failed = failed_lines(done.stderr)
    has = {name: line not in failed for line, name in enumerate(_TC_COMMANDS, 1)}
    has["eBPF"] = has["clsact"] and has["cls_bpf"] and _loads_ebpf()
    return {name: has[name] for name in dict.fromkeys((*QDISCS, *ECN_MARKERS))}


def require_netem() -> None:
    """Raise MissingCapabilityError where this kernel cannot add latency to a link."""
    found = traffic_control()
    if found is not None and not found["netem"]:
        raise MissingCapabilityError(
            "this kernel has no netem, so no event can add latency to a link",
            remedy="use a kernel with CONFIG_NET_SCH_NETEM (its module may be in a package of its "
            "own, such as linux-modules-extra), or leave the events of 'latency' out",
        )


def failed_lines(said: str) -> set[int]:
    """Which lines of a batch failed, counted from 1, by what tc said of them. Pure."""
    return {int(number) for number in re.findall(r"^Command failed -:(\d+)", said, re.MULTILINE)}


def _loads_ebpf() -> bool:
    """Whether this process may load a classifier of two instructions; it is gone at once."""
    number = _BPF_SYSCALL.get(platform.machine())
    if number is None:
        return False
    program = ctypes.create_string_buffer(_RETURN_0, len(_RETURN_0))
    licence = ctypes.create_string_buffer(b"Apache-2.0")
    attributes = _LOAD_ATTRIBUTES.pack(
        _BPF_PROG_TYPE_SCHED_CLS,
        len(_RETURN_0) // 8,
        ctypes.addressof(program),
        ctypes.addressof(licence),
        *(0, 0, 0, 0, 0),  # no log, no version, no flags
    )
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.syscall(number, _BPF_PROG_LOAD, attributes, len(attributes))
    if descriptor < 0:
        return False
    os.close(descriptor)
    return True
