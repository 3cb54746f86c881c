"""Series and distributions are thinned without losing what they add up to."""

from __future__ import annotations

import numpy as np
import pytest

from harness.report import thinning


def test_thinned_series_keep_every_byte_and_say_what_a_point_stands_for() -> None:
    t_s = np.cumsum(np.random.default_rng(1).uniform(0.01, 0.03, size=10_000))
    rates = np.random.default_rng(2).uniform(0, 50e9, size=(2, t_s.size))
    thin_t_s, thin_rates, samples = thinning.mean_of_runs(t_s, rates)
    assert thin_t_s.size <= thinning.MAX_POINTS
    lengths, thin_lengths = np.diff(t_s), np.diff(thin_t_s)
    after_first = slice(samples, None)
    sent = (rates[:, after_first] * lengths[samples - 1 :]).sum(axis=1)
    np.testing.assert_allclose((thin_rates[:, 1:] * thin_lengths).sum(axis=1), sent)
    assert thinning.note(samples, "samples") == "Each point stands for 7 samples."
    assert thinning.note(1, "samples") == ""


def test_thinned_distributions_keep_both_ends() -> None:
    values = np.random.default_rng(3).normal(size=50_000)
    at, share, samples = thinning.distribution(values)
    assert at.size <= thinning.MAX_POINTS
    assert (at[0], at[-1]) == (values.min(), values.max())
    assert share[-1] == 1
    assert samples == pytest.approx(50_000 / at.size)
