"""Shockwave's simulator against its cluster: six schedulers, 120 jobs on 32 GPUs (NSDI'23).

Its authors published the completion times of both sides, so that how near a simulator is can be
told of one that is not ours. Their errors are measured over simulated, less 1.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from harness.experiments.reproduce.data_files import data_file
from harness.experiments.reproduce.recipe import (
    Curve,
    Drawing,
    Recipe,
    ReproducedFigure,
    Reproduction,
    Say,
)
from harness.fidelity.analysis import ArmFidelity, Fidelity, analyse
from harness.fidelity.inputs.read import read_results
from harness.fidelity.inputs.results import together
from harness.fidelity.pairs import SIDES

_FOLDER = Path("shockwave")
_SOURCE = "uw-mad-dash/shockwave, scheduler/reproduce/pickles/tacc_32gpus_comparison"
_EXPECTED = {
    "finish_time_fairness": 0.8,
    "max_min_fairness": 9.2,
    "min_total_duration": 8.0,
    "allox": 1.9,
    "max_sum_throughput_perf": 2.0,
    "shockwave": 5.7,
}
"""By scheduler, the absolute error of the average completion time in %, to one decimal."""

_ROUNDING = 0.05
_FILES = {"reference": "physical", "prediction": "simulation"}


def _compare(data: Path) -> Fidelity:
    reference, prediction = (
        together(
            str(data / _FOLDER),
            [
                read_results(
                    str(data_file(data, _FOLDER / f"{arm}_{_FILES[side]}.csv")), side
                ).as_part(arm)
                for arm in _EXPECTED
            ],
        )
        for side in ("reference", "prediction")
    )
    return analyse(reference, prediction)


def _of_arm(arm: ArmFidelity) -> list[ReproducedFigure]:
    estimates = arm.estimates
    expected = _EXPECTED[arm.arm]
    return [
        ReproducedFigure(
            name=f"{arm.arm}: error of the average JCT, measured over simulated",
            unit="%",
            ours=100 * abs(1 / estimates.mean.value - 1),
            expected=expected,
            source=_SOURCE,
            tolerance=_ROUNDING / expected,
            note=f"{_signed(estimates.mean.value)} simulated over measured{_interval(arm)}; within "
            f"5 %: {arm.statement}",
        ),
        ReproducedFigure(
            name=f"{arm.arm}: error of a job, mean",
            unit="%",
            ours=100 * arm.errors.mape,
            note=f"of absolute errors; 95 of 100 jobs are off by at most {arm.errors.p95:.0%}",
        ),
    ]


def _interval(arm: ArmFidelity) -> str:
    interval = arm.estimates.mean.interval
    if interval is None:
        return ""
    return f" (95 %: {_signed(interval[0])} to {_signed(interval[1])}, BCa bootstrap over jobs)"


def _signed(ratio: float) -> str:
    return f"{ratio - 1:+.1%}"


def _decisions(fidelity: Fidelity) -> list[ReproducedFigure]:
    (decision,) = fidelity.decisions
    certain = decision.certain
    return [
        ReproducedFigure(
            name="pairs of schedulers that come in the same order",
            unit="share",
            ours=1 - len(decision.reversed) / len(certain),
            note=f"of {len(certain)} that the cluster tells apart with 95 % certainty, of "
            f"{len(decision.speedups)} in all",
        ),
        ReproducedFigure(
            name="error of a speed-up, largest",
            unit="%",
            ours=100 * max(abs(each.error.value - 1) for each in decision.speedups),
            note="of the average JCT of one scheduler over that of another",
        ),
    ]


def _drawings(fidelity: Fidelity) -> tuple[Drawing, ...]:
    share = np.linspace(0, 1, 101)
    times, errors = [], []
    for arm in fidelity.arms:
        for side in SIDES:
            hours = np.quantile(arm.pairs.column("jct_s", side) / 3600, share)
            name = f"{arm.arm}, {'measured' if side == 'reference' else 'simulated'}"
            times.append(
                Curve(name, tuple(hours), tuple(100 * share), published=side == "reference")
            )
        off = np.abs(arm.pairs.prediction_s / arm.pairs.reference_s - 1)
        errors.append(
            Curve(arm.arm, tuple(100 * share[:96]), tuple(100 * np.quantile(off, share[:96])))
        )
    return (
        Drawing(
            "shockwave-fidelity-jct",
            "Completion times on 32 GPUs, in Shockwave's simulator and measured",
            "job completion time in h",
            "jobs in %",
            tuple(times),
            "Each simulated line should lie on the measured one of the same scheduler.",
        ),
        Drawing(
            "shockwave-fidelity-errors",
            "How far a job's simulated completion time is from the measured one",
            "jobs in %",
            "absolute error up to, in %",
            tuple(errors),
            "Means agree within a few per cent, while one job in ten is off by a fifth or more; "
            "the last twentieth is not drawn.",
        ),
    )


def _run(data: Path, seeds: int | None, say: Say) -> Reproduction:
    say("six schedulers, measured and simulated")
    fidelity = _compare(data)
    figures = [figure for arm in fidelity.arms for figure in _of_arm(arm)]
    return Reproduction(
        (*figures, *_decisions(fidelity)), _drawings(fidelity), (f"{data / _FOLDER}: 120 jobs",)
    )


RECIPE = Recipe(
    id="shockwave-fidelity",
    title="Shockwave's simulator against its 32 GPUs, six schedulers",
    source="Shockwave (NSDI'23); github.com/uw-mad-dash/shockwave",
    seconds=5,
    needs_data=True,
    run=_run,
)
