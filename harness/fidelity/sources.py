"""Where the error of a mean comes from, as far as both sides' tables tell. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.fidelity.bootstrap import Floats
from harness.fidelity.pairs import SIDES, Pairs

_GRAINS_S = (3600.0, 360.0, 300.0, 120.0, 60.0, 30.0, 10.0, 1.0)
_EXACT_S = 1e-6
_LEAST_DISTINCT = 5

QUEUE = "waiting before it first runs"
PREEMPTED = "waiting after it was preempted"
RUNNING = "running"
COMPUTE = "compute, until it first sends"
NETWORK = "network, from then on"
GRID = "waiting for the grid of a time-shift"


@dataclass(frozen=True)
class Part:
    """A part of the mean time, in s on each side."""

    name: str
    reference_s: float
    prediction_s: float

    @property
    def error_s(self) -> float:
        """What it adds to the error of the mean."""
        return self.prediction_s - self.reference_s


@dataclass(frozen=True)
class Grain:
    """All times of a side are multiples of this: rounding alone moves each by up to half of it."""

    side: str
    grain_s: float
    share: float
    """Half of it, of the median time."""


@dataclass(frozen=True)
class Sources:
    """parts: that make up the whole mean time; none where the tables do not divide it.

    starts: mean starts of a job (reference, prediction). stall_s: mean time in which the GPUs of a
    job waited for data, by side, None where the side does not say. untold: what cannot be told, and
    why.
    """

    parts: tuple[Part, ...]
    starts: tuple[float, float] | None
    stall_s: tuple[float | None, float | None]
    grains: tuple[Grain, ...]
    untold: tuple[str, ...]


def sources(pairs: Pairs) -> Sources:
    """Of one arm."""
    if pairs.measure == "iteration_s":
        return _of_iterations(pairs)
    parts = _parts_of_jobs(pairs)
    untold = []
    if not parts:
        untold.append(
            "queueing and running: a side's table does not say when jobs first ran (queue_s), or "
            "for how long (run_s)"
        )
    starts = _both_means(pairs, "starts")
    if starts is None:
        untold.append("restarts: a side's table does not say how often jobs were started (starts)")
    stall_s = (_mean(pairs, "stall_s", "reference"), _mean(pairs, "stall_s", "prediction"))
    if None in stall_s:
        untold.append(
            "CPU and memory: a side's table does not say for how long GPUs waited for data "
            "(stall_s); what that changes is part of the time that jobs run"
        )
    untold.append("network: completion times do not say what links did; iteration times do")
    return Sources(tuple(parts), starts, stall_s, _grains(pairs), tuple(untold))


def _parts_of_jobs(pairs: Pairs) -> list[Part]:
    queue, run = _both_means(pairs, "queue_s"), _both_means(pairs, "run_s")
    whole = _both_means(pairs, "jct_s")
    if whole is None or queue is None:
        return []
    if run is None:
        rest = [all_s - waited_s for all_s, waited_s in zip(whole, queue, strict=True)]
        return [Part(QUEUE, *queue), Part("everything after it first ran", *rest)]
    rest = [all_s - w_s - r_s for all_s, w_s, r_s in zip(whole, queue, run, strict=True)]
    return [Part(QUEUE, *queue), Part(PREEMPTED, *rest), Part(RUNNING, *run)]


def _of_iterations(pairs: Pairs) -> Sources:
    found = {
        name: _both_means(pairs, column)
        for name, column in (
            (COMPUTE, "compute_s"),
            (NETWORK, "communication_s"),
            (GRID, "wait_s"),
        )
    }
    parts = [Part(name, *means) for name, means in found.items() if means is not None]
    whole = len(parts) == len(found)
    untold = [
        "CPU and memory: what slows them down is part of an iteration's compute",
        "queueing and restarts: iteration times do not say; completion times do",
    ]
    if not whole:
        untold.append(
            "compute and network: a side's table holds iterations as a whole (only run directories "
            "divide them)"
        )
    return Sources(tuple(parts if whole else ()), None, (None, None), _grains(pairs), tuple(untold))


def _both_means(pairs: Pairs, column: str) -> tuple[float, float] | None:
    reference, prediction = (_mean(pairs, column, side) for side in SIDES)
    return None if reference is None or prediction is None else (reference, prediction)


def _mean(pairs: Pairs, column: str, side: str) -> float | None:
    """None where it is not known of every pair."""
    name = f"{column}_{side}"
    if name not in pairs.table:
        return None
    values = pairs.table[name].to_numpy(dtype=float, na_value=np.nan)
    return None if np.isnan(values).any() else float(values.mean())


def _grains(pairs: Pairs) -> tuple[Grain, ...]:
    found = []
    for side in SIDES:
        times_s = pairs.column(pairs.measure, side)
        grain_s = _grain_s(times_s)
        if grain_s is not None:
            found.append(Grain(side, grain_s, grain_s / 2 / float(np.median(times_s))))
    return tuple(found)


def _grain_s(times_s: Floats) -> float | None:
    """The largest of the usual steps that all times are multiples of; None where they are of none,
    or too few differ."""
    if len(np.unique(times_s)) < _LEAST_DISTINCT:
        return None
    for grain_s in _GRAINS_S:
        off_s = np.abs(times_s - grain_s * np.rint(times_s / grain_s))
        if (off_s <= _EXACT_S).all():
            return grain_s
    return None
