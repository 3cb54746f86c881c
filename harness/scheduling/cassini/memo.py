"""Rotations that were searched once are kept: candidates have most of their links in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from harness.scheduling.cassini.circle import unified_circle
from harness.scheduling.cassini.periods import CommonPeriods, IncomparableError
from harness.scheduling.cassini.precision import Precision
from harness.scheduling.cassini.rotation import Rotation, best_rotation
from traces.demand import DemandCurve

if TYPE_CHECKING:
    from harness.scheduling.cassini.interleaving import Interleaving
    from harness.scheduling.cassini.links import SharedLink


@dataclass(frozen=True)
class LinkKey:
    """All that the best rotation on a link depends on; which jobs have the demands does not matter.

    perimeter_s, repeats: of the jobs among all that they are connected with; so the same jobs have
    another key where they have to keep step with others.
    """

    curves: tuple[DemandCurve, ...]
    capacity_bps: float
    perimeter_s: float
    repeats: tuple[int, ...]


MOST_KEPT = 100_000
"""Rotations that are kept, and components; some kilobytes each. The oldest makes room for the next.
"""

Key = TypeVar("Key")
Found = TypeVar("Found")


class Kept(Generic[Key, Found]):
    """What was found for up to MOST_KEPT keys."""

    def __init__(self) -> None:
        self._found: dict[Key, Found] = {}

    def get(self, key: Key) -> Found | None:
        """What was kept for ``key``, if anything."""
        return self._found.get(key)

    def keep(self, key: Key, found: Found) -> None:
        """Keep ``found`` for ``key``."""
        if len(self._found) == MOST_KEPT:
            del self._found[next(iter(self._found))]
        self._found[key] = found


class Rotations:
    """The best rotation for each key, searched when it is asked for the first time.

    seed: of the descents. searched: how many searches so far; asked: how often in all. components:
    what was made of links that are connected, with the jobs on them.
    """

    def __init__(self, precision: Precision = Precision(), seed: int = 0) -> None:  # noqa: B008
        self.precision = precision
        self.asked = 0
        self.searched = 0
        self.components: Kept[tuple[SharedLink, ...], Interleaving] = Kept()
        self._links: Kept[LinkKey, Rotation | str] = Kept()
        self._seed = seed

    def best(self, key: LinkKey) -> Rotation:
        """The best rotation for ``key``. Raises IncomparableError where there is no circle."""
        self.asked += 1
        found = self._links.get(key)
        if found is None:
            self.searched += 1
            try:
                found = self._search(key)
            except IncomparableError as error:
                found = str(error)
            self._links.keep(key, found)
        if isinstance(found, str):
            raise IncomparableError(found)
        return found

    def _search(self, key: LinkKey) -> Rotation:
        periods_s = tuple(key.perimeter_s / count for count in key.repeats)
        rounding = max(
            new / curve.period_s - 1 for new, curve in zip(periods_s, key.curves, strict=True)
        )
        periods = CommonPeriods(key.perimeter_s, key.repeats, periods_s, rounding)
        circle = unified_circle(key.curves, key.capacity_bps, self.precision, periods)
        return best_rotation(circle, self._seed)
