"""What this box can do: each finding with what to do where it lacks something."""

from __future__ import annotations

import datetime
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from emulator.budget_store import MeasuredBudget, stored_and_used
from emulator.cgroups import holding_hierarchy, own_hierarchies
from emulator.kernel_features import (
    CONGESTION_CONTROLS,
    ECN_MARKERS,
    QDISCS,
    congestion_controls,
    traffic_control,
)
from emulator.limits.available import LIMITS, AvailableLimits, limits_available
from emulator.machine import this_machine
from emulator.scale import BUDGET_SHARE, Budget
from netshaper.namespaces import can_make_namespaces
from netshaper.rootless import rootless_refusal
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


_ASK_AS_ROOT = "asking the kernel needs root and unshare of util-linux: use sudo"


def examine() -> list[Finding]:
    """Look at this box; changes nothing, but that the kernel may load modules that it has."""
    has = traffic_control()
    refusal = rootless_refusal()
    return [
        *(_tool(tool, package) for tool, package in (("ip", "iproute2"), ("tc", "iproute2"))),
        _tool("sysctl", "procps"),
        _root(needed=refusal is not None),
        _state_directory(needed=refusal is not None),
        rootless_finding(refusal),
        _cgroups(),
        limits_finding(limits_available(own_hierarchies())),
        congestion_control_finding(congestion_controls()),
        qdisc_finding(has),
        ecn_finding(has),
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


def _root(*, needed: bool) -> Finding:
    is_root = os.geteuid() == 0
    can = is_root and can_make_namespaces()
    found = "root" if is_root else f"user {os.geteuid()}"
    remedy = (
        "may not make network namespaces: give its container CAP_SYS_ADMIN and CAP_NET_ADMIN"
        if is_root
        else "network namespaces need root: use sudo, or --rootless where it works"
    )
    return Finding("privileges", can, needed, found, remedy)


def _state_directory(*, needed: bool) -> Finding:
    place = next(path for path in (state_root(), *state_root().parents) if os.access(path, os.F_OK))
    writable = os.access(place, os.W_OK)
    return Finding(
        "state directory", writable, needed, str(state_root()), f"{place} is not writable; use sudo"
    )


def rootless_finding(refusal: str | None) -> Finding:
    """Whether a run goes without root. refusal: why not, and what to do about it."""
    found = "work here; they do without cgroups" if refusal is None else refusal
    return Finding("rootless runs", refusal is None, False, found)


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


def limits_finding(available: AvailableLimits) -> Finding:
    """LIMITS, kept here or not; runs that need one say so."""
    there = [name for name in LIMITS if name not in available.missing]
    return Finding(
        "CPU and memory limits",
        not available.missing,
        False,
        _there_or_not(LIMITS, there),
        "; ".join(dict.fromkeys(available.missing.values())),
    )


def congestion_control_finding(available: Sequence[str]) -> Finding:
    """All of CONGESTION_CONTROLS, there or not; a run needs cubic."""
    return Finding(
        "TCP congestion control",
        "cubic" in available,
        True,
        _there_or_not(CONGESTION_CONTROLS, available),
        "the kernel lacks cubic: modprobe tcp_cubic",
    )


def qdisc_finding(has: Mapping[str, bool] | None) -> Finding:
    """QDISCS, beyond those that every run uses. has: None where the kernel could not be asked."""
    there = None if has is None else [name for name in QDISCS if has[name]]
    return Finding(
        "queueing disciplines",
        there == list(QDISCS),
        False,
        "unknown" if there is None else _there_or_not(QDISCS, there),
        _ASK_AS_ROOT
        if there is None
        else "runs do without them; the kernel's extra modules "
        "may have them (apt-get install linux-modules-extra-$(uname -r) on Ubuntu)",
    )


def ecn_finding(has: Mapping[str, bool] | None) -> Finding:
    """What can mark packets here (ECN_MARKERS); one will do."""
    there = None if has is None else [name for name in ECN_MARKERS if has[name]]
    return Finding(
        "ECN markers",
        bool(there),
        False,
        "unknown" if there is None else _there_or_not(ECN_MARKERS, there),
        _ASK_AS_ROOT if there is None else "no switch can mark packets on this kernel",
    )


def _there_or_not(wanted: Sequence[str], there: Sequence[str]) -> str:
    absent = [name for name in wanted if name not in there]
    if not there:
        return f"none of {', '.join(absent)}"
    return ", ".join(there) + (f"; not {', '.join(absent)}" if absent else "")


def _budget() -> Finding:
    stored, used = stored_and_used()
    return budget_finding(stored, used, this_machine().cores, datetime.datetime.now(datetime.UTC))


def budget_finding(
    stored: MeasuredBudget | None, used: Budget, cores: int, now: datetime.datetime
) -> Finding:
    """What a run reckons with here, and what is stored with its age."""
    found = [
        f"{cores} cores carry {format_rate(used.hop_bps)} x hops ({used.source}), of which a run "
        f"asks for at most {BUDGET_SHARE:.0%}"
    ]
    if stored is not None:
        found.append(
            f"stored: {format_rate(stored.hop_bps)} x hops at {stored.cpu_share:.0%} of the CPU, "
            f"{stored.age(now)}"
        )
    # What to do stands in the source of an assumed budget.
    return Finding("budget", used.is_measured, False, "; ".join(found))
