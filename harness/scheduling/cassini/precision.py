"""How finely circles are compared."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Precision:
    """How finely circles are compared, and how much a period may be lengthened for it.

    degrees: between two rotations that are tried, of the circle of the job with the shortest
    period. Five is what the paper recommends (section 5.7). As a step of time it is the same on
    every circle of these jobs, however long their common one is.
    max_rounding: the share by which a period may be lengthened so that periods meet sooner.
    worthwhile_rounding: the same for a few connected jobs, where it gains more than it costs:
    without a common period that is short, jobs pass each other at all distances, and no time-shift
    helps.
    max_perimeter_s: how long a common circle may be.
    """

    degrees: float = 5.0
    max_rounding: float = 0.02
    worthwhile_rounding: float = 0.1
    max_perimeter_s: float = 60.0

    def __post_init__(self) -> None:
        if not 0 < self.degrees <= 180:
            raise ValueError(f"a step of {self.degrees} degrees: it must be above 0, at most 180")
        if not 0 <= self.max_rounding <= self.worthwhile_rounding < 1:
            raise ValueError(
                f"roundings of {self.max_rounding} and {self.worthwhile_rounding}: it must be from "
                "0 to below 1, and the first not above the second"
            )
        if not 0 < self.max_perimeter_s < math.inf:
            raise ValueError(f"a perimeter of {self.max_perimeter_s} s: it must be above 0")

    @property
    def generous(self) -> Precision:
        """The same with the worthwhile rounding."""
        return replace(self, max_rounding=self.worthwhile_rounding)

    @property
    def num_angles(self) -> int:
        """Rotations that are tried of the job with the shortest period."""
        return math.ceil(360 / self.degrees - 1e-9)
