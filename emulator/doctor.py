"""What this box can do: each finding with what to do where it lacks something."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from emulator.cgroups import holding_hierarchy, own_hierarchies
from emulator.scale import BITS_PER_S_AND_CORE, BUDGET_SHARE
from netshaper.namespaces import can_make_namespaces
from netshaper.run_state import state_root
from traces.quantities import format_rate


@dataclass(frozen=True)
class Finding:
    """needed: a run cannot work without it."""

    name: str
    ok: bool
    needed: bool
    found: str
    remedy: str = ""


def examine() -> list[Finding]:
    """Look at this box; changes nothing."""
    return [
        *(_tool(tool, package) for tool, package in (("ip", "iproute2"), ("tc", "iproute2"))),
        _tool("sysctl", "procps"),
        _root(),
        _state_directory(),
        _cgroups(),
        _congestion_control(),
        _budget(),
    ]


def _tool(tool: str, package: str) -> Finding:
    path = shutil.which(tool)
    return Finding(
        tool,
        path is not None,
        True,
        path or "not found",
        f"install {package} (apt-get install {package})",
    )


def _root() -> Finding:
    is_root = os.geteuid() == 0
    can = is_root and can_make_namespaces()
    found = "root" if is_root else f"user {os.geteuid()}"
    remedy = (
        "may not make network namespaces: give its container CAP_SYS_ADMIN and CAP_NET_ADMIN"
        if is_root
        else "network namespaces need root: use sudo"
    )
    return Finding("privileges", can, True, found, remedy)


def _state_directory() -> Finding:
    place = next(path for path in (state_root(), *state_root().parents) if path.exists())
    writable = os.access(place, os.W_OK)
    return Finding(
        "state directory", writable, True, str(state_root()), f"{place} is not writable; use sudo"
    )


def _cgroups() -> Finding:
    hierarchies = own_hierarchies()
    versions = sorted({hierarchy.version for hierarchy in hierarchies})
    kind = {(1,): "v1", (2,): "v2", (1, 2): "hybrid"}.get(tuple(versions), "none")
    holding = holding_hierarchy(hierarchies)
    found = (
        f"{kind}, processes held in {holding.own_group}" if holding else f"{kind}, none writable"
    )
    return Finding(
        "cgroups",
        holding is not None,
        False,
        found,
        "workers run without a cgroup and only end with their parent; mount cgroups writable",
    )


def _congestion_control() -> Finding:
    file = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
    available = file.read_text().split() if file.exists() else []
    return Finding(
        "TCP congestion control",
        "cubic" in available,
        True,
        " ".join(available) or "unknown",
        "the kernel lacks cubic: modprobe tcp_cubic",
    )


def _budget() -> Finding:
    cores = len(os.sched_getaffinity(0))
    budget = cores * BITS_PER_S_AND_CORE
    found = (
        f"{cores} cores, {format_rate(budget)} x hops by default, of which a run asks for at most "
        f"{BUDGET_SHARE:.0%}"
    )
    return Finding("budget", True, False, found)
