"""A ceiling on what one job may take of one port, changed while traffic flows. Pure.

The job keeps its place among the others below it: its class borrows as before, up to the ceiling.
"""

from __future__ import annotations

from collections.abc import Mapping

from netshaper.disciplines import LEAST_RATE_BPS, ROOT_CLASS
from netshaper.netlink import ClassCounters
from netshaper.plan import Command, PlannedPort
from netshaper.shaping import burst_bytes


def ceiling_bps(end: PlannedPort, wanted_bps: float) -> int:
    """``wanted_bps`` as the port can have it: at most its own rate, at least what HTB can count."""
    return round(min(max(wanted_bps, LEAST_RATE_BPS), end.shape.rate_bps))


def ceiling_command(end: PlannedPort, job: str, wanted_bps: float) -> Command:
    """Hold ``job`` to ``wanted_bps`` at ``end``; the port's own rate lifts the ceiling."""
    minor = end.classes.of_job[job]
    leaf = next(leaf for leaf in end.classes.leaves if leaf.minor == minor)
    ceil_bps = ceiling_bps(end, wanted_bps)
    # No class is promised more than it may take.
    rate_bps = min(leaf.rate_bps, ceil_bps)
    burst = str(burst_bytes(ceil_bps))
    of_root = ("parent", f"1:{ROOT_CLASS:x}", "classid", f"1:{minor:x}")
    rates = ("rate", f"{rate_bps}bit", "ceil", f"{ceil_bps}bit", "burst", burst, "cburst", burst)
    words = ("htb", "prio", str(leaf.turn), *rates, "quantum", str(leaf.quantum_bytes))
    return Command("tc", ("class", "change", "dev", end.device, *of_root, *words), end.namespace)


def ceiling_difference(
    end: PlannedPort, job: str, wanted_bps: float, found: Mapping[int, ClassCounters]
) -> str | None:
    """What the kernel holds instead, in words, or None. found: the port's classes, by minor."""
    minor = end.classes.of_job[job]
    planned = ceiling_bps(end, wanted_bps) // 8
    if minor not in found:
        return f"{end.namespace} {end.device} lacks the class 1:{minor:x}"
    held = found[minor].ceil_bytes_per_s
    if held == planned:
        return None
    return (
        f"{end.namespace} {end.device} 1:{minor:x} ceil (bytes/s): planned {planned}, found {held}"
    )
