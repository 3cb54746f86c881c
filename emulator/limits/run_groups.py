"""A run's own groups, one in each hierarchy that it needs, with a group per job and server below.

Processes are in the lowest groups only: in v2 no other may hold any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from emulator.cgroups import create_group
from emulator.limits.available import AvailableLimits, Place
from emulator.limits.limited_group import LimitedGroup
from emulator.limits.subtree import enable_below, enable_for
from netshaper.run_state import RunState


@dataclass(frozen=True)
class RunGroups:
    """places: the run's directories. Removing what the run's record names removes all of them."""

    places: tuple[Place, ...]
    available: AvailableLimits

    @classmethod
    def create(cls, state: RunState, available: AvailableLimits) -> RunGroups:
        """Make ``roundelay-<run id>`` in every place, each recorded in ``state`` first."""
        places = _own_places(state.run_id, available.places)
        for place in places:
            state.claim_cgroup(place.path)
            create_group(place.path)
            if place.version == 2 and place.controllers:
                enable_for(place.path, place.controllers)
                enable_below(place.path, place.controllers)
        return cls(places, available)

    def create_group(self, name: str) -> LimitedGroup:
        """A group for processes of this run, without limits at first."""
        return LimitedGroup.create(name, self.places, self.available.missing)


def _own_places(run_id: str, places: Sequence[Place]) -> tuple[Place, ...]:
    return tuple(replace(place, path=place.path / f"roundelay-{run_id}") for place in places)
