"""Small sides of a comparison that the tests share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from harness.fidelity.analysis import Fidelity, analyse
from harness.fidelity.inputs.results import Results
from harness.fidelity.pairs import Pairs, pair


def side(
    arms: Mapping[str, ArrayLike], seed: str = "", name: str = "a test", **columns: Any
) -> Results:
    """Jobs 0, 1, ... of each arm; columns: more of them, alike in all arms."""
    tables = [
        pd.DataFrame(
            {
                "arm": arm,
                "seed": seed,
                "job": [str(number) for number in range(np.size(jct_s))],
                "jct_s": np.asarray(jct_s, dtype=float),
                **columns,
            }
        )
        for arm, jct_s in arms.items()
    ]
    return Results(name, pd.concat(tables, ignore_index=True))


def iterations_side(arm: str, lengths_s: ArrayLike, seed: str = "") -> Results:
    """Iterations of one job."""
    return Results(
        "a test",
        None,
        pd.DataFrame(
            {
                "arm": arm,
                "seed": seed,
                "job": "a",
                "iteration": range(np.size(lengths_s)),
                "iteration_s": np.asarray(lengths_s, dtype=float),
            }
        ),
    )


def pairs_of(reference_s: ArrayLike, prediction_s: ArrayLike) -> Pairs:
    """Of one arm."""
    (pairs,) = pair(side({"a": reference_s}), side({"a": prediction_s})).arms
    return pairs


def synthetic(
    seed: int, jobs: int, bias: float, noise: float, reordered: float = 0.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times of a reference, and of a prediction with a known bias of its mean.

    noise: standard deviation of the logarithm of a job's error, which is 1 in the mean. reordered:
    the share of jobs that have the time of another one.
    """
    rng = np.random.default_rng(seed)
    reference_s = rng.lognormal(7, 0.6, jobs)
    errors = rng.lognormal(-(noise**2) / 2, noise, jobs)
    prediction_s = (1 + bias) * reference_s * errors
    moved = rng.choice(jobs, int(reordered * jobs), replace=False)
    prediction_s[moved] = prediction_s[np.roll(moved, 1)]
    return reference_s, prediction_s


def compared(reference_s: ArrayLike, prediction_s: ArrayLike) -> Fidelity:
    return analyse(side({"a": reference_s}), side({"a": prediction_s}))
