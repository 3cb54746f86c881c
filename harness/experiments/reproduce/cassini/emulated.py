"""What counts of emulated snapshots, and figures that all emulations of CASSINI have. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from emulator.verdict import Verdict
from harness.experiments.reproduce.recipe import ReproducedFigure
from harness.experiments.run import ArmResult
from harness.experiments.summary import counted_times
from traces.generators.cassini_snapshots import Snapshot
from traces.results import IterationRow

Statistic = Callable[[Sequence[float]], float]

STATISTICS: dict[str, Statistic] = {
    "mean": lambda times: float(np.mean(times)),
    "p90": lambda times: float(np.percentile(times, 90)),
    "p99": lambda times: float(np.percentile(times, 99)),
}
"""Of iteration times."""

BOUNDS = {"mean": 0.05, "p99": 0.10}
"""Of the simulator's error."""

_S_PER_MIN = 60.0


@dataclass(frozen=True)
class EmulatedArm:
    """One arm of a snapshot with one seed, on both sides.

    score: of the link's best rotation. measured_s, predicted_s: times of the counted iterations of
    all jobs. adjustments_per_min: of each job's time-shift, emulated.
    """

    snapshot: Snapshot
    arm: str
    seed: int
    score: float
    measured_s: tuple[float, ...]
    predicted_s: tuple[float, ...]
    adjustments_per_min: Mapping[str, float]
    verdict: Verdict


@dataclass(frozen=True)
class EmulatedSnapshots:
    """Every arm that was emulated to its end. interrupted: not all that was wanted.

    repeated: emulations, as the box was disturbed.
    """

    arms: tuple[EmulatedArm, ...]
    interrupted: bool
    repeated: int = 0

    def of(self, snapshot: Snapshot, arm: str) -> dict[int, EmulatedArm]:
        """One arm of one snapshot, by seed."""
        return {
            each.seed: each for each in self.arms if (each.snapshot, each.arm) == (snapshot, arm)
        }


def emulated(snapshot: Snapshot, seed: int, result: ArmResult) -> EmulatedArm | None:
    """What counts of ``result``; None where it was not emulated to its end."""
    measurement, prediction = result.measurement, result.prediction
    if measurement is None or prediction is None or measurement.interrupted:
        return None
    return EmulatedArm(
        snapshot=snapshot,
        arm=result.arm.name,
        seed=seed,
        score=min(result.decision.interleaving.scores, default=1.0),
        measured_s=tuple(counted_times(measurement.iterations)),
        predicted_s=tuple(counted_times(prediction.iterations)),
        adjustments_per_min=per_minute(measurement.adjustments, measurement.iterations),
        verdict=measurement.verdict,
    )


def per_minute(
    adjustments: Mapping[str, int], iterations: Sequence[IterationRow]
) -> dict[str, float]:
    """``adjustments`` of each job over the time from its first iteration to its last."""
    first_s: dict[str, float] = {}
    last_s: dict[str, float] = {}
    for row in iterations:
        first_s.setdefault(row.job, row.start_s)
        last_s[row.job] = row.end_s
    return {
        job: count / (last_s[job] - first_s[job]) * _S_PER_MIN for job, count in adjustments.items()
    }


def checks_figure(name: str, verdicts: Sequence[Verdict]) -> ReproducedFigure:
    """How many checks of emulations failed in all, and which, how often."""
    failed = Counter(check.name for verdict in verdicts for check in verdict.failed)
    standing = Counter(str(verdict.status) for verdict in verdicts)
    words = [f"verdicts: {_counted(standing)}"]
    if failed:
        words.append(f"failed: {_counted(failed)}")
    return ReproducedFigure(
        f"{name}: checks of the emulations that failed",
        "",
        float(failed.total()),
        expected=0.0,
        source="a valid emulation fails none",
        tolerance=0.0,
        note="; ".join(words),
        compare="at most",
    )


def repeats_figure(repeated: int) -> ReproducedFigure:
    """How many emulations were repeated."""
    return ReproducedFigure(
        "emulations that were repeated",
        "",
        float(repeated),
        note="as their verdict was suspect, whatever they measured; the last counts",
    )


def _counted(names: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(names.items()))
