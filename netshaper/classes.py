"""The tc words of a port's shaped classes, the same to add them and to change them. Pure."""

from __future__ import annotations

from netshaper.disciplines import (
    HIGHEST_PRIORITY,
    LEAST_RATE_BPS,
    ROOT_CLASS,
    UNCLASSIFIED_CLASS,
    Leaf,
    PortClasses,
)
from netshaper.shaping import PortShape


def root_class_words(verb: str, device: str, shape: PortShape) -> tuple[str, ...]:
    """The class that all others of a port borrow from. verb: ``add`` or ``change``."""
    root_class = ("parent", "1:", "classid", f"1:{ROOT_CLASS:x}", "htb")
    whole = ("rate", f"{shape.rate_bps}bit", *_bucket(shape), str(shape.quantum_bytes))
    return ("class", verb, "dev", device, *root_class, *whole)


def leaf_class_words(verb: str, device: str, shape: PortShape, leaf: Leaf) -> tuple[str, ...]:
    """A class with a queue."""
    of_root = ("parent", f"1:{ROOT_CLASS:x}", "classid", f"1:{leaf.minor:x}")
    shares = ("htb", "prio", str(leaf.turn), "rate", f"{leaf.rate_bps}bit", *_bucket(shape))
    return ("class", verb, "dev", device, *of_root, *shares, str(leaf.quantum_bytes))


def all_leaves(shape: PortShape, classes: PortClasses) -> tuple[Leaf, ...]:
    """Those of the jobs, and the one of what belongs to none, where jobs are told apart."""
    if classes.are_shared:
        return classes.leaves
    rest_bps = max(shape.rate_bps // 1000, LEAST_RATE_BPS)
    rest = Leaf(UNCLASSIFIED_CLASS, rest_bps, shape.quantum_bytes, HIGHEST_PRIORITY)
    return (*classes.leaves, rest)


def _bucket(shape: PortShape) -> tuple[str, ...]:
    burst = str(shape.burst_bytes)
    return ("ceil", f"{shape.rate_bps}bit", "burst", burst, "cburst", burst, "quantum")
