"""Figures from runs: means and ratios over seeds, with their intervals. Pure."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from harness.experiments.intervals import Interval, mean_over_seeds, ratio_over_seeds
from harness.experiments.reproduce.recipe import Compare, Curve, ReproducedFigure
from harness.experiments.reproduce.simulated import Runs, Simulated

Arm = TypeVar("Arm", bound=Hashable)
Statistic = Callable[[Simulated], float]


@dataclass(frozen=True)
class Published:
    """A published value: see ReproducedFigure."""

    value: float | None = None
    tolerance: float | None = None
    source: str = ""
    compare: Compare = "near"


NOTHING_PUBLISHED = Published()


def mean_h(run: Simulated) -> float:
    """The statistic that most figures show: the mean completion time, in h."""
    return run.mean_h


def mean_of(runs: Runs[Arm], arm: Arm, statistic: Statistic) -> Interval | None:
    """``statistic`` over the seeds of ``arm``; None where there is no seed."""
    found = runs.of(arm)
    return mean_over_seeds([statistic(run) for (run,) in found]) if found else None


def ratio_of(runs: Runs[Arm], of: Arm, over: Arm, statistic: Statistic) -> Interval | None:
    """``statistic`` of one arm over that of another, paired by seed; None where there is none."""
    found = runs.of(of, over)
    if not found:
        return None
    return ratio_over_seeds(
        [statistic(above) for above, _ in found], [statistic(below) for _, below in found]
    )


def figure(
    name: str,
    unit: str,
    interval: Interval,
    published: Published = NOTHING_PUBLISHED,
    note: str = "",
) -> ReproducedFigure:
    """``interval`` beside the published value."""
    made = ReproducedFigure(
        name=name,
        unit=unit,
        ours=interval.value,
        interval=ends(interval),
        expected=published.value,
        source=published.source,
        tolerance=published.tolerance,
        note=note,
        compare=published.compare,
    )
    if made.ok is False and _holds(made):
        return replace(made, note=joined("the published value is in our interval", note))
    return made


def _holds(made: ReproducedFigure) -> bool:
    """Whether the published value lies in the interval."""
    if made.interval is None or made.expected is None:
        return False
    low, high = made.interval
    return low <= made.expected <= high


def not_made(name: str, unit: str, published: Published, why: str) -> ReproducedFigure:
    """A figure that could not be made."""
    return ReproducedFigure(
        name=name,
        unit=unit,
        ours=None,
        expected=published.value,
        source=published.source,
        tolerance=published.tolerance,
        note=why,
        compare=published.compare,
    )


def ends(interval: Interval) -> tuple[float, float] | None:
    """(low, high) where there are several seeds."""
    if interval.low is None or interval.high is None:
        return None
    return interval.low, interval.high


def curve(name: str, points: Sequence[tuple[float, Interval | None]]) -> Curve | None:
    """The points that there are, as a line with its intervals; None where there is none."""
    there = [(x, interval) for x, interval in points if interval is not None]
    if not there:
        return None
    low_high = [ends(interval) for _, interval in there]
    known = [each for each in low_high if each is not None]
    whole = len(known) == len(there)
    return Curve(
        name,
        tuple(x for x, _ in there),
        tuple(interval.value for _, interval in there),
        tuple(low for low, _ in known) if whole else None,
        tuple(high for _, high in known) if whole else None,
    )


def ran_dry_note(runs: Runs[Arm], *arms: Arm) -> str:
    """What to say where the generated jobs ended before the last job that counts; else nothing."""
    every = [run for arm in arms for (run,) in runs.of(arm)]
    dry = sum(run.ran_dry for run in every)
    if not dry:
        return ""
    return f"in {dry} of {len(every)} runs arrivals ended before the last job that counts"


def joined(*notes: str) -> str:
    """The notes that say something, as one."""
    return "; ".join(note for note in notes if note)
