"""CASSINI's recipes: snapshots that are what they say, and figures of runs that are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.measurement import ArmMeasurement
from emulator.verdict import Invariant, Status, Verdict, judge
from harness.experiments.decide import decide
from harness.experiments.predict import predict_arm
from harness.experiments.reproduce.cassini.emulated import (
    EmulatedArm,
    EmulatedSnapshots,
    emulated,
    per_minute,
)
from harness.experiments.reproduce.cassini.snapshots import (
    FULL,
    QUICK,
    SHIFTED,
    TOGETHER,
    Size,
    snapshot_scenario,
)
from harness.experiments.reproduce.recipe import ReproducedFigure
from harness.experiments.reproduce.recipes import (
    cassini_angles,
    cassini_drift,
    cassini_snapshot,
)
from harness.experiments.run import ArmResult
from traces.demand import DemandCurve, Phase
from traces.generators.cassini_snapshots import SNAPSHOTS, TWO_VGG19, Snapshot
from traces.results import IterationRow
from traces.scenario import load_scenario

EXAMPLES = Path(__file__).parents[5] / "examples"
HIGH, LOW = SNAPSHOTS[1], SNAPSHOTS[-1]
TWO = Size((HIGH, LOW), iterations=10, seeds=2)
VALID = judge([])
GAIN = "gain of the mean iteration time"
FADED = "gain of the mean at the score 0.60, less that at 0.9 and above"


def named(figures: Sequence[ReproducedFigure]) -> dict[str, ReproducedFigure]:
    return {figure.name: figure for figure in figures}


# Snapshots


@pytest.mark.parametrize("snapshot", SNAPSHOTS, ids=lambda each: each.id)
def test_the_jobs_of_a_snapshot_meet_on_one_link_and_in_time(snapshot: Snapshot) -> None:
    together, shifted = snapshot_scenario(snapshot, 1, 20).arms
    interleaving = decide(together).interleaving
    (rotated,) = interleaving.links
    assert set(rotated.link.jobs) == {job.id for job in shifted.jobs}
    assert 0.005 < interleaving.period_rounding < 0.02  # they slip past each other, yet are rounded
    if snapshot.remembered_score is not None:
        assert interleaving.scores[0] == pytest.approx(snapshot.remembered_score, rel=0.05)


def test_two_vgg19_fit() -> None:
    assert decide(snapshot_scenario(TWO_VGG19, 1, 20).arms[0]).interleaving.scores == (1.0,)


def test_a_seed_chooses_when_jobs_start_and_nothing_else() -> None:
    one, same, other = (snapshot_scenario(HIGH, seed, 20).arms[0].jobs for seed in (1, 1, 2))
    assert one == same
    assert [job.start_s for job in one] != [job.start_s for job in other]
    assert [job.profile for job in one] == [job.profile for job in other]


def test_the_quick_size_is_the_smaller_one_and_goes_from_fit_to_unfit() -> None:
    assert set(QUICK.snapshots) < set(FULL.snapshots)
    assert QUICK.seeds < FULL.seeds
    assert QUICK.iterations < FULL.iterations
    scores = [each.remembered_score for each in QUICK.snapshots]
    assert (scores[0], scores[-1]) == (1.0, 0.6)


@pytest.mark.parametrize("name", ["cassini-snapshot", "cassini-drift"])
def test_the_examples_are_snapshots(name: str) -> None:
    (*_, arm) = load_scenario(EXAMPLES / f"{name}.yaml").arms
    assert arm.interleaver == "cassini"
    jobs = [(job.profile, job.servers) for job in arm.jobs]
    assert jobs in [
        [(job.profile, job.servers) for job in snapshot_scenario(each, 1, 20).arms[0].jobs]
        for each in SNAPSHOTS
    ]
    assert decide(arm).shifts


# Figures of emulated snapshots


def run(
    snapshot: Snapshot,
    arm: str,
    seed: int,
    measured_s: Sequence[float],
    predicted_s: Sequence[float] | None = None,
    verdict: Verdict = VALID,
    adjustments_per_min: Mapping[str, float] | None = None,
) -> EmulatedArm:
    return EmulatedArm(
        snapshot,
        arm,
        seed,
        1.0 if snapshot == HIGH else 0.6,
        tuple(measured_s),
        tuple(predicted_s or measured_s),
        adjustments_per_min or {"a": 0.0},
        verdict,
    )


def both_arms(gains: Mapping[Snapshot, Sequence[float]]) -> EmulatedSnapshots:
    """Iterations of 0.2 s with time-shifts, and longer without, by snapshot and seed."""
    runs = []
    for snapshot, of_seeds in gains.items():
        for seed, gain in enumerate(of_seeds, 1):
            runs.append(run(snapshot, TOGETHER, seed, [0.2 * gain] * 10))
            runs.append(run(snapshot, SHIFTED, seed, [0.2] * 10))
    return EmulatedSnapshots(tuple(runs), interrupted=False)


def test_gains_stand_by_their_scores_with_intervals() -> None:
    made = both_arms({HIGH: [1.2, 1.3], LOW: [1.05, 1.05]})
    figures = named(list(cassini_snapshot.figures_of(TWO, made)))
    gain = figures[f"{HIGH.name}: {GAIN}"]
    assert gain.ours == pytest.approx((1.2 * 1.3) ** 0.5)
    assert gain.interval is not None
    assert gain.interval[0] < 1.2
    assert figures[f"{LOW.name}: compatibility score"].ok is True
    faded = figures[FADED]
    assert faded.ours == pytest.approx(0.05 - 0.25)
    assert faded.ok is True
    (drawing,) = cassini_snapshot.drawings_of(TWO, made)
    assert [curve.name for curve in drawing.curves] == ["mean", "p90", "p99"]
    assert drawing.x_names[1].endswith("0.60")


def test_a_gain_that_does_not_fade_is_not_ok() -> None:
    made = both_arms({HIGH: [1.05, 1.05], LOW: [1.2, 1.3]})
    assert named(list(cassini_snapshot.figures_of(TWO, made)))[FADED].ok is False


def test_the_simulators_error_is_pooled_over_the_seeds_and_bounded() -> None:
    runs = [
        run(HIGH, TOGETHER, 1, [0.2] * 10, [0.22] * 10),
        run(HIGH, TOGETHER, 2, [0.2] * 10, [0.19] * 10),
        run(HIGH, SHIFTED, 1, [0.2] * 10, [0.23] * 10),
        run(HIGH, SHIFTED, 2, [0.2] * 10, [0.23] * 10),
    ]
    made = EmulatedSnapshots(tuple(runs), interrupted=False)
    figures = named(list(cassini_snapshot.figures_of(TWO, made)))
    words = "simulator's error of the mean iteration time, without sign"
    together, shifted = (figures[f"{HIGH.name}, {arm}: {words}"] for arm in (TOGETHER, SHIFTED))
    assert together.ours == pytest.approx(0.025)
    assert "by seed +10.0%, -5.0%" in together.note
    assert (together.ok, shifted.ok) == (True, False)


def test_failed_checks_are_counted_and_named() -> None:
    late = Invariant("timer lateness", False, 1.0, 0.0, "", Status.SUSPECT)
    runs = [
        run(HIGH, TOGETHER, 1, [0.2] * 10),
        run(HIGH, SHIFTED, 1, [0.2] * 10, verdict=judge([late])),
    ]
    made = EmulatedSnapshots(tuple(runs), interrupted=False)
    checks = named(list(cassini_snapshot.figures_of(TWO, made)))[
        f"{HIGH.name}: checks of the emulations that failed"
    ]
    assert (checks.ours, checks.ok) == (1.0, False)
    assert checks.note == "verdicts: 1 suspect, 1 valid; failed: 1 timer lateness"


def test_a_snapshot_without_both_arms_of_a_seed_has_no_figures() -> None:
    runs = (run(HIGH, TOGETHER, 1, [0.2] * 10), run(HIGH, SHIFTED, 2, [0.2] * 10))
    made = EmulatedSnapshots(runs, interrupted=True)
    assert not list(cassini_snapshot.figures_of(TWO, made))
    assert cassini_snapshot.drawings_of(TWO, made) == ()


def test_jobs_that_fit_gain_by_time_shifts_in_the_simulator() -> None:
    times_s = {}
    for arm in snapshot_scenario(HIGH, 1, 100).arms:
        prediction = predict_arm(arm, decide(arm).shifts)
        times_s[arm.name] = [row.iteration_s for row in prediction.iterations if row.counted]
    runs = tuple(run(HIGH, arm, 1, times) for arm, times in times_s.items())
    made = EmulatedSnapshots(runs, interrupted=False)
    figures = named(list(cassini_snapshot.figures_of(TWO, made)))
    assert (figures[f"{HIGH.name}: {GAIN}"].ours or 0) > 1.1
    assert (figures[f"{HIGH.name}: gain of the p99 iteration time"].ours or 0) > 1.3


def result(*, interrupted: bool) -> ArmResult:
    """An arm whose emulation went as the simulator says."""
    arm = snapshot_scenario(HIGH, 1, 5).arms[1]
    decision = decide(arm)
    prediction = predict_arm(arm, decision.shifts)
    measurement = ArmMeasurement(
        arm=arm.name,
        iterations=prediction.iterations,
        links=[],
        adjustments=dict.fromkeys(prediction.adjustments, 3),
        verdict=VALID,
        interrupted=interrupted,
        sample_interval_s=0.02,
        sampler_cpu_share=0.1,
    )
    return ArmResult(arm, decision, prediction=prediction, measurement=measurement)


def test_what_counts_of_an_arm() -> None:
    found = emulated(HIGH, 7, result(interrupted=False))
    assert found is not None
    assert (found.arm, found.seed, found.score) == (SHIFTED, 7, 1.0)
    assert len(found.measured_s) == 2 * 5  # without the warm-up
    assert found.measured_s == found.predicted_s
    # 3 in 10 iterations of 0.2 s
    assert all(rate == pytest.approx(3 / 2.02 * 60, rel=0.01) for rate in (
        found.adjustments_per_min.values()
    ))  # fmt: skip


def test_an_arm_that_was_stopped_does_not_count() -> None:
    assert emulated(HIGH, 1, result(interrupted=True)) is None
    assert emulated(HIGH, 1, replace(result(interrupted=False), measurement=None)) is None


# Drift


def row(job: str, start_s: float, end_s: float) -> IterationRow:
    return IterationRow("arm", job, 0, True, start_s, start_s, end_s, end_s - start_s)


def test_adjustments_are_over_the_time_that_their_job_ran() -> None:
    rows = [row("a", 1.0, 2.0), row("b", 0.0, 10.0), row("a", 2.0, 31.0), row("b", 10.0, 60.0)]
    assert per_minute({"a": 1, "b": 0}, rows) == {"a": 2.0, "b": 0.0}


@pytest.mark.parametrize(("rates", "ok"), [([1.0, 2.9], True), ([1.0, 3.1], False)])
def test_the_mean_over_jobs_is_what_is_bounded(rates: list[float], ok: bool) -> None:
    runs = [
        run(HIGH, SHIFTED, seed, [0.2], adjustments_per_min=dict(zip("ab", rates, strict=True)))
        for seed in (1, 2)
    ]
    made = EmulatedSnapshots(tuple(runs), interrupted=False)
    figures = named(list(cassini_drift.figures_of(TWO, made)))
    overall = figures["adjustments per minute, mean over all jobs"]
    assert overall.ours == pytest.approx(sum(rates) / 2)
    assert overall.ok is ok
    assert figures["adjustments per minute, job with the most"].ours == max(rates)
    (drawing,) = cassini_drift.drawings_of(TWO, made)
    assert [curve.published for curve in drawing.curves] == [False, True]


def test_without_any_run_there_is_nothing_to_say_of_drift() -> None:
    nothing = EmulatedSnapshots((), interrupted=True)
    assert not list(cassini_drift.figures_of(TWO, nothing))
    assert cassini_drift.drawings_of(TWO, nothing) == ()


def test_a_period_that_is_wrong_costs_adjustments_or_time() -> None:
    size = Size((HIGH,), iterations=10, seeds=1)
    figures = named(list(cassini_drift.wrong_period_figures(size)))
    short, long = (
        figures[f"adjustments per minute and job, all periods estimated 1% too {words}"].ours or 0
        for words in ("short", "long")
    )
    assert short > 10
    assert long == 0
    longer = figures[
        "mean iteration time, all periods estimated 1% too long, over that with right ones"
    ]
    assert longer.ours == pytest.approx(1.01, abs=0.002)


# Angles


@st.composite
def curves(draw: st.DrawFn) -> DemandCurve:
    period_s = draw(st.floats(0.1, 1.0))
    start = draw(st.floats(0.0, 0.8))
    length = draw(st.floats(0.05, 0.2))
    return DemandCurve(period_s, (Phase(start * period_s, (start + length) * period_s, 1e9),))


def bits(curve: DemandCurve) -> float:
    return sum((phase.end_s - phase.start_s) * phase.rate_bps for phase in curve.phases)


@given(curves(), st.floats(0.0, 1.0))
def test_a_turn_keeps_all_bits_and_turns_back(curve: DemandCurve, share: float) -> None:
    by_s = share * curve.period_s
    turned = cassini_angles.turn(curve, by_s)
    assert bits(turned) == pytest.approx(bits(curve))
    ends = [0.0, *(t for phase in turned.phases for t in (phase.start_s, phase.end_s))]
    assert ends == sorted(ends)
    assert ends[-1] <= curve.period_s
    back = cassini_angles.turn(turned, curve.period_s - by_s)
    assert back.phases[0].start_s == pytest.approx(curve.phases[0].start_s, abs=1e-9)


def test_five_degrees_are_accurate_and_128_are_not() -> None:
    made = cassini_angles.run_turns(2, Path(), 2, lambda _: None)
    figures = named(made.figures)
    assert figures["accuracy of time-shifts at 5 degrees"].ok is True
    assert figures["accuracy of time-shifts at 128 degrees"].ok is True
    accuracies = [figures[f"accuracy of time-shifts at {each} degrees"].ours for each in (1, 128)]
    assert (accuracies[0] or 0) > 0.99
    assert 0 < (accuracies[1] or 0) < 0.99
    assert not made.interrupted
    assert [len(drawing.x_names) for drawing in made.drawings] == [9, 9]


def test_ctrl_c_keeps_the_seeds_that_are_done() -> None:
    def say(text: str) -> None:
        if text.startswith("seed 2"):
            raise KeyboardInterrupt

    made = cassini_angles.run_turns(1, Path(), 3, say)
    assert made.interrupted
    assert named(made.figures)["accuracy of time-shifts at 5 degrees"].interval is None
    first = cassini_angles.run_turns(1, Path(), 1, lambda _: None)
    assert len(first.figures) == len(made.figures)
