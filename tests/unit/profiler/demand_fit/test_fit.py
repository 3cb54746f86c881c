"""The fit of series whose demand is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.synthetic_demands import Recipe, Synthetic, any_recipe, synthesise
from profiler.demand_fit.fit import fit_series
from profiler.demand_fit.outliers import Unlike
from profiler.demand_fit.pattern import PatternFit
from traces.demand import demand_curve
from traces.errors import BadInputError
from traces.load_series import LoadSeries

CLEAN = Recipe(period_s=0.25, phases=3)


def made(recipe: Recipe, seed: int = 1) -> Synthetic:
    return synthesise(recipe, np.random.default_rng(seed))


def joined(*parts: LoadSeries) -> LoadSeries:
    """One series after the other."""
    edges_s, sent = parts[0].edges_s, parts[0].sent_bytes
    for part in parts[1:]:
        edges_s = np.append(edges_s, edges_s[-1] + part.edges_s[1:] - part.edges_s[0])
        sent = np.append(sent, part.sent_bytes)
    return LoadSeries(edges_s, sent)


def check(fitted: PatternFit, synthetic: Synthetic) -> None:
    """Period within 0.5 %, bytes within 2 %, every edge within one interval."""
    period_s, bytes_off, edges_s = synthetic.deviations(fitted)
    assert period_s == pytest.approx(0, abs=0.005)
    assert bytes_off == pytest.approx(0, abs=0.02)
    assert edges_s <= synthetic.series.interval_s


@pytest.mark.parametrize("seed", range(24))
def test_any_demand_is_found(seed: int) -> None:
    random = np.random.default_rng(seed)
    synthetic = synthesise(any_recipe(random), random)
    (fitted,) = fit_series(synthetic.series).patterns
    check(fitted, synthetic)


@pytest.mark.parametrize("phases", range(1, 7))
@pytest.mark.parametrize("period_s", [0.01, 60.0])
def test_periods_and_phases_are_found_at_both_ends_of_their_range(
    phases: int, period_s: float
) -> None:
    recipe = Recipe(period_s, phases, iterations=20, jitter=0.1, missing=0.02, stalls=0.05)
    synthetic = made(recipe, seed=phases)
    (fitted,) = fit_series(synthetic.series).patterns
    check(fitted, synthetic)


def test_without_noise_the_fit_is_exact() -> None:
    synthetic = made(replace(CLEAN, noise=0.0, background=0.0))
    (fitted,) = fit_series(synthetic.series).patterns
    period, sent, edges_s = synthetic.deviations(fitted)
    assert (period, sent) == pytest.approx((0, 0), abs=1e-4)
    assert edges_s < 0.01 * synthetic.series.interval_s
    assert fitted.unexplained < 1e-3
    assert fitted.outliers == ()


def test_stalled_iterations_are_told_and_do_not_count() -> None:
    synthetic = made(replace(CLEAN, iterations=100, stalls=0.1), seed=3)
    (fitted,) = fit_series(synthetic.series).patterns
    assert len(synthetic.stalls_s) > 3
    assert {outlier.why for outlier in fitted.outliers} == {Unlike.LONGER}
    told = [(each.start_s, each.start_s + each.length_s) for each in fitted.outliers]
    inside = (synthetic.stalls_s > fitted.start_s) & (synthetic.stalls_s < fitted.end_s)
    whole = synthetic.stalls_s[inside]
    assert len(told) == len(whole)
    assert all(start <= at <= end for (start, end), at in zip(told, whole, strict=True))


def test_a_checkpoint_is_told_and_does_not_count() -> None:
    synthetic = made(CLEAN)
    series = synthetic.series
    sent = series.sent_bytes.copy()
    middle = len(sent) // 2
    sent[middle : middle + 150] = sent.max() * 0.8
    (fitted,) = fit_series(LoadSeries(series.edges_s, sent)).patterns
    check(fitted, synthetic)
    assert 1 <= len(fitted.outliers) <= 2
    assert any(outlier.why is not Unlike.LONGER for outlier in fitted.outliers)


@pytest.mark.parametrize(
    "other",
    [replace(CLEAN, period_s=0.325), replace(CLEAN, line_rate_bytes_per_s=1e9)],
    ids=["longer", "fewer bytes"],
)
def test_a_pattern_that_changes_is_divided(other: Recipe) -> None:
    """The other pattern has the same intervals, and begins where the first ends."""
    other = replace(
        other,
        intervals_per_period=CLEAN.intervals_per_period * other.period_s / CLEAN.period_s,
        iterations=40,
    )
    parts = made(CLEAN), made(other)
    series = joined(*(part.series for part in parts))
    fitted = fit_series(series)
    assert len(fitted.patterns) == 2
    assert fitted.unfitted == ()
    change_s = parts[0].series.duration_s
    assert fitted.patterns[0].end_s == pytest.approx(change_s, abs=2 * CLEAN.period_s)
    assert fitted.patterns[1].start_s == pytest.approx(change_s, abs=2 * CLEAN.period_s)
    for pattern, part in zip(fitted.patterns, parts, strict=True):
        check(pattern, part)
    assert fitted.longest is max(fitted.patterns, key=lambda each: each.end_s - each.start_s)


def test_silence_before_the_first_iteration_does_not_matter() -> None:
    synthetic = made(CLEAN)
    interval_s = synthetic.series.interval_s
    silence = LoadSeries(np.arange(10_001) * interval_s, np.zeros(10_000))
    (fitted,) = fit_series(joined(silence, synthetic.series)).patterns
    check(fitted, synthetic)


def test_a_slow_drift_is_no_change_of_the_pattern() -> None:
    synthetic = made(replace(CLEAN, drift=0.2, iterations=100))
    (fitted,) = fit_series(synthetic.series).patterns
    check(fitted, synthetic)


def test_a_counter_that_was_read_unevenly_says_the_same() -> None:
    """Readings that are late, and some that are missing: no byte is lost."""
    synthetic = made(CLEAN)
    series = synthetic.series
    random = np.random.default_rng(5)
    kept = np.append(True, random.random(len(series.sent_bytes)) > 0.05)
    kept[-1] = True
    late_s = series.interval_s * random.uniform(0, 0.3, len(kept))
    counter = np.interp(
        series.edges_s + late_s, series.edges_s, np.append(0.0, np.cumsum(series.sent_bytes))
    )
    uneven = LoadSeries((series.edges_s + late_s)[kept], np.diff(counter[kept]))
    (fitted,) = fit_series(uneven).patterns
    check(fitted, synthetic)


def test_the_demand_sends_the_phases_and_takes_as_long() -> None:
    (fitted,) = fit_series(made(replace(CLEAN, phases=2)).series).patterns
    demand = fitted.demand()
    assert [transfer.bytes for transfer in demand.transfers] == [
        phase.bytes.value for phase in fitted.phases
    ]
    assert [transfer.rate_limit_bps for transfer in demand.transfers] == [None, None]
    assert [transfer.ready_s for transfer in demand.transfers] == [
        phase.start_s.value for phase in fitted.phases
    ]
    fastest_bps = max(phase.rate_bps.value for phase in fitted.phases)
    curve = demand_curve(demand, fastest_bps)
    assert curve.period_s == pytest.approx(fitted.period_s.value, rel=0.01)
    assert fitted.curve.period_s == fitted.period_s.value
    assert len(fitted.curve.phases) == 2


def test_all_is_kept_of_a_job_that_always_sends() -> None:
    """The iteration begins with its lowest rate, and each rate is a phase."""
    sent = np.tile(np.repeat([50.0, 20.0, 80.0], [40, 70, 30]), 30)
    (fitted,) = fit_series(LoadSeries(np.arange(len(sent) + 1.0), sent)).patterns
    assert fitted.period_s.value == pytest.approx(140)
    assert [phase.bytes.value for phase in fitted.phases] == pytest.approx([1400, 2400, 2000])
    assert [phase.start_s.value for phase in fitted.phases] == pytest.approx([0, 70, 100])
    assert fitted.background_bps == 0
    assert fitted.demand().compute_s == pytest.approx(140)


def test_the_timeline_ends_with_the_last_transfer_only_at_the_line_rate() -> None:
    (fitted,) = fit_series(made(replace(CLEAN, phases=1)).series).patterns
    (phase,) = fitted.phases
    assert fitted.demand().compute_s == phase.start_s.value
    assert fitted.demand(phase.rate_bps.value / 0.95).compute_s == phase.start_s.value
    assert fitted.demand(phase.rate_bps.value / 0.8).compute_s == fitted.period_s.value


def test_intervals_hold_the_truth() -> None:
    """19 of 20 of them should, so that nearly all do when they are widened by half."""
    held = []
    for seed in range(10):
        synthetic = made(replace(CLEAN, jitter=0.1, phases=1, iterations=40), seed)
        (fitted,) = fit_series(synthetic.series).patterns
        (phase,) = fitted.phases
        half = (phase.bytes.high - phase.bytes.value) * 1.5
        held.append(abs(phase.bytes.value - synthetic.phase_bytes[0]) <= half)
        period_s, _ = synthetic.truth(0)
        assert fitted.period_s.low < period_s < fitted.period_s.high
    assert sum(held) >= 9


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        (np.zeros(500), "nothing was sent"),
        (np.full(500, 7.0), "nothing repeats"),
        (np.random.default_rng(1).exponential(1.0, 3000), "nothing repeats|one level"),
        (np.tile(np.repeat([0.0, 1.0], 80), 3), "nothing repeats|are whole"),
        (np.full(500, np.nan), "nothing was sent"),
        (np.ones(1), "nothing repeats"),
    ],
    ids=["silent", "constant", "noise", "three iterations", "gap", "one interval"],
)
def test_what_does_not_repeat_is_refused(sent: np.ndarray, problem: str) -> None:
    with pytest.raises(BadInputError, match=problem) as caught:
        fit_series(LoadSeries(np.arange(len(sent) + 1.0), sent))
    assert "4 iterations or more" in caught.value.allowed


values = st.sampled_from([0.0, 0.0, 1.0, 7.0, 1e12, 1e-12, float("nan")]) | st.floats(0, 100)


@settings(max_examples=80)
@given(
    pattern=st.lists(values, min_size=1, max_size=40),
    repeats=st.integers(1, 30),
    changes=st.lists(st.tuples(st.integers(0, 400), values), max_size=12),
)
def test_any_series_is_fitted_or_refused(
    pattern: list[float], repeats: int, changes: list[tuple[int, float]]
) -> None:
    sent = np.tile(pattern, repeats)
    for at, value in changes:
        sent[at % len(sent)] = value
    try:
        fitted = fit_series(LoadSeries(np.arange(len(sent) + 1.0), sent))
    except BadInputError:
        return
    demand = fitted.longest.demand()
    assert demand.transfers
    assert np.isfinite(demand.compute_s)
