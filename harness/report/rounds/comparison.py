"""Which arms are compared with which. Pure."""

from __future__ import annotations

from harness.report.rounds.documents import ArmRead, Summary

BOUND = "opt"
"""The mechanism that no real cluster can have."""

LIKE_FOR_LIKE = ("cluster", "workload", "measure")
"""In what arms must agree for a ratio of their times to be due to the scheduler alone."""


def compared(summary: Summary) -> list[ArmRead]:
    """The arms of which only the scheduler differs from the first arm's, and that have a speed-up
    over it: the fastest first, upper bounds at the end."""
    unlike = unlike_first(summary)
    return sorted(
        (arm for arm in summary.arms[1:] if arm.speedup and arm not in unlike),
        key=lambda arm: (arm.mechanism == BOUND, -speedup(arm)),
    )


def best_other(summary: Summary) -> ArmRead | None:
    """The arm that is set against the first; None where there is none."""
    return next(iter(compared(summary)), None)


def speedup(arm: ArmRead) -> float:
    """The value of an arm's speed-up over the first; 0 where it has none."""
    return arm.speedup.value if arm.speedup else 0.0


def unlike_first(summary: Summary) -> list[ArmRead]:
    """The arms that differ from the first in more than the scheduler."""
    return [
        arm
        for arm in summary.arms[1:]
        if any(getattr(arm, key) != getattr(summary.arms[0], key) for key in LIKE_FOR_LIKE)
    ]
