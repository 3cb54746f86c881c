"""A fit to which the job's own timer says how long an iteration takes."""

from __future__ import annotations

import numpy as np
import pytest

from profiler.demand_fit.fit import fit_series
from traces.errors import BadInputError
from traces.load_series import LoadSeries

INTERVAL_S = 1e-3


def series(iterations: int, silent: int = 0) -> LoadSeries:
    """Two bursts of 20 ms in 100 ms, so much alike that nothing tells them from iterations."""
    half = np.append(np.full(20, 1000.0), np.zeros(30))
    sent = np.append(np.zeros(silent), np.tile(half, 2 * iterations))
    return LoadSeries(INTERVAL_S * np.arange(len(sent) + 1), sent)


def test_what_is_alike_is_one_iteration_unless_the_length_is_known() -> None:
    found = fit_series(series(20)).longest
    assert found.period_s.value == pytest.approx(0.05, rel=0.001)
    known = fit_series(series(20), 0.1).longest
    assert known.period_s.value == pytest.approx(0.1, rel=0.001)
    assert [phase.bytes.value for phase in known.phases] == pytest.approx([20_000, 20_000])


def test_about_the_length_is_enough() -> None:
    known = fit_series(series(20), 0.103).longest
    assert known.period_s.value == pytest.approx(0.1, rel=0.001)


@pytest.mark.parametrize(
    ("known_s", "problem"),
    [
        (0.004, "an iteration takes 4 intervals of 2,000"),
        (0.6, "an iteration takes 600 intervals of 2,000"),
    ],
)
def test_a_length_that_cannot_be_is_refused(known_s: float, problem: str) -> None:
    with pytest.raises(BadInputError, match=problem):
        fit_series(series(20), known_s)


def test_too_little_after_a_long_silence_is_refused() -> None:
    with pytest.raises(BadInputError, match="nothing repeats"):
        fit_series(series(1, silent=900), 0.1)
