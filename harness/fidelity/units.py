"""Whether one side's times are in another unit than seconds, as far as a ratio tells. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.fidelity.pairs import Pairs

FACTORS = {
    1000.0: "in milliseconds",
    3600.0: "in hours",
    60.0: "in minutes",
    1e6: "in microseconds",
}
"""How many times as large one side is, and what the unit of one of them may then be."""

_FINER = (1000.0, 1e6)
_NEAR = 1.5  # times the factor, or one over it


@dataclass(frozen=True)
class UnitSuspicion:
    """Half of the jobs or iterations take about ``factor`` times as long on ``larger`` side."""

    measure: str
    factor: float
    larger: str
    wrong: str

    @property
    def words(self) -> str:
        """What is suspected, and the remedy."""
        side = self.wrong.upper()
        what = "divide" if self.factor in _FINER else "multiply"
        return (
            f"{self.larger.upper()} is about {self.factor:,.0f} times as long as the other side: "
            f"the {self.measure} of {side} may be {FACTORS[self.factor]}; if so, {what} it by "
            f"{self.factor:,.0f}, for all times are in s"
        )


def suspected_units(arms: Sequence[Pairs]) -> list[UnitSuspicion]:
    """One or none a measure."""
    found = []
    for measure in dict.fromkeys(arm.measure for arm in arms):
        own = [arm for arm in arms if arm.measure == measure]
        logs = np.concatenate([np.log(arm.prediction_s / arm.reference_s) for arm in own])
        middle = float(np.median(logs))
        factor = _factor(math.exp(abs(middle)))
        if factor is not None:
            larger, smaller = ("prediction", "reference")[:: 1 if middle > 0 else -1]
            # Milliseconds make a side too large; minutes and hours make it too small.
            wrong = larger if factor in _FINER else smaller
            found.append(UnitSuspicion(measure, factor, larger, wrong))
    return found


def _factor(ratio: float) -> float | None:
    near = (factor for factor in FACTORS if 1 / _NEAR < ratio / factor < _NEAR)
    return next(near, None)
