"""Which limits this box can keep, and where in its hierarchies a run's groups belong for that."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from emulator.cgroups import Hierarchy, holding_hierarchy
from emulator.limits.subtree import offered_controllers

LIMITS = ("cpu", "cpuset", "memory")
"""Controllers that limit: a share of the cores, which cores, and memory."""

_USED = frozenset((*LIMITS, "cpuacct"))  # v1 counts CPU time apart from limiting it


@dataclass(frozen=True)
class Place:
    """A directory of one hierarchy with groups below it, and what those groups are used for.

    controllers: of cpu, cpuacct, cpuset and memory; empty where groups only hold processes.
    """

    path: Path
    version: int
    controllers: frozenset[str]


@dataclass(frozen=True)
class AvailableLimits:
    """places: where to make groups, the one that holds processes best first; empty where nowhere.

    missing: those of LIMITS that cannot be set, each with what to do about it, in a clause.
    """

    places: tuple[Place, ...]
    missing: Mapping[str, str]

    @property
    def unenforced(self) -> tuple[str, ...]:
        """What runs here do without, each in a clause."""
        return tuple(f"no limit of {name!r} is kept: {what}" for name, what in self.missing.items())


def limits_available(hierarchies: Sequence[Hierarchy]) -> AvailableLimits:
    """Look at ``hierarchies`` as the calling process may use them; changes nothing.

    In v1 groups go below the process's own. In v2 a group with processes hands on no controller,
    and so they go below the nearest one at or above the process's own that has none.
    """
    places = [*_v1_places(hierarchies), *_v2_places(hierarchies)]
    holding = holding_hierarchy(list(hierarchies))
    if holding is not None and not any(_holds(place, holding) for place in places):
        places.append(Place(holding.own_group, holding.version, frozenset()))
    places.sort(key=lambda place: holding is None or not _holds(place, holding))
    there = {name for place in places for name in place.controllers}
    missing = {name: _remedy(name, hierarchies) for name in LIMITS if name not in there}
    return AvailableLimits(tuple(places), missing)


def _holds(place: Place, holding: Hierarchy) -> bool:
    """Whether ``place`` is in the hierarchy ``holding``."""
    return place.path.is_relative_to(holding.mount) and place.version == holding.version


def _v1_places(hierarchies: Sequence[Hierarchy]) -> Iterator[Place]:
    seen: set[str] = set()
    for hierarchy in hierarchies:
        used = (hierarchy.controllers & _USED) - seen  # the same may be mounted in two places
        if hierarchy.version == 1 and used and os.access(hierarchy.own_group, os.W_OK):
            seen |= used
            yield Place(hierarchy.own_group, 1, used)


def _v2_places(hierarchies: Sequence[Hierarchy]) -> Iterator[Place]:
    unified = next((h for h in hierarchies if h.version == 2), None)
    if unified is None:
        return
    best = Place(unified.own_group, 2, frozenset())
    for group in _upwards(unified):
        offered = offered_controllers(group) & _USED
        if len(offered) > len(best.controllers) and _may_hand_on(group):
            best = replace(best, path=group, controllers=offered)
    if best.controllers:
        yield best


def _upwards(unified: Hierarchy) -> Iterator[Path]:
    """The process's own group and those above it, as far as they are visible."""
    group = unified.own_group
    yield group
    while group != unified.mount:
        group = group.parent
        yield group


def _may_hand_on(group: Path) -> bool:
    if not os.access(group / "cgroup.subtree_control", os.W_OK):
        return False
    kind = group / "cgroup.type"
    if not kind.exists():  # the root of all groups, which may do both
        return True
    return kind.read_text().strip() == "domain" and not (group / "cgroup.procs").read_text()


def _remedy(name: str, hierarchies: Sequence[Hierarchy]) -> str:
    legacy = next((h for h in hierarchies if name in h.controllers), None)
    if legacy is not None:
        return _not_writable(legacy.own_group)
    unified = next((h for h in hierarchies if h.version == 2), None)
    if unified is None:
        return f"no mounted cgroup hierarchy has the controller {name!r}; mount one"
    offering = [group for group in _upwards(unified) if name in offered_controllers(group)]
    if not offering:
        return (
            f"{unified.mount} does not offer the controller {name!r}; enable it in the kernel "
            "(/proc/cgroups says what it has) or have whoever set this container up hand it on"
        )
    if not any(os.access(group / "cgroup.subtree_control", os.W_OK) for group in offering):
        return _not_writable(offering[-1])
    return (
        f"processes in {offering[-1]} keep it from handing {name!r} on; move them into a group "
        "below it, or start the container with --cgroupns=host"
    )


def _not_writable(group: Path) -> str:
    return f"{group} is not writable; use sudo, or in a container mount it so (--privileged)"
