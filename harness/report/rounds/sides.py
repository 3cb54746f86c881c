"""Which sides a run of rounds has, and where the tables of each are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.report.rounds.documents import Summary

SIMULATED, EMULATED = "simulated", "emulated"


@dataclass(frozen=True)
class Sides:
    """places: by side, the directory of its tables; of the prediction first, where there is one."""

    places: dict[str, Path]

    @property
    def shown(self) -> str:
        """The side that the summary's own figures, and with them most of the report, are of."""
        return next(iter(self.places))

    @property
    def done(self) -> str:
        """What was done: ``simulated and emulated``."""
        return " and ".join(self.places)


def sides_of(directory: Path, summary: Summary) -> Sides:
    """The sides of the run in ``directory``.

    An emulation leaves its verdicts beside its tables. A run that ended before anything was
    emulated has a prediction alone.
    """
    predicted = directory / SIMULATED
    if predicted.is_dir():
        emulated_any = any(arm.emulated for arm in summary.arms)
        emulated = {EMULATED: directory / EMULATED} if emulated_any else {}
        return Sides({SIMULATED: predicted} | emulated)
    alone = EMULATED if (directory / "verdict.json").is_file() else SIMULATED
    return Sides({alone: directory})
