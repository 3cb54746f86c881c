"""What real workers made of the schedules: beside the prediction, with the verdict on it. Pure."""

from __future__ import annotations

from harness.report.figures.markup import figure_html, figures_html
from harness.report.html import Html, join, table, tag
from harness.report.iterations.tables import badge, verdicts_of
from harness.report.rounds.data import RunData
from harness.report.rounds.documents import ArmRead, EmulatedRead, ErrorsRead, ScaleRead
from harness.report.rounds.figures.both_sides import both_sides
from harness.report.rounds.figures.cpu_use import cpu_use
from harness.report.rounds.figures.job_by_job import job_by_job
from harness.report.rounds.sides import SIMULATED
from harness.report.words import (
    NOTHING,
    SPACE,
    counted,
    number,
    percent,
    sentence,
    signed_percent,
)

_S_PER_H = 3600.0
_INCIDENTS_NAMED = 20
_ELSEWHERE = "The other sections show the simulation."


def emulation_section(run: RunData, identity: str) -> Html | None:
    """None where nothing was emulated."""
    summary = run.summary
    arms = [(arm, arm.emulated) for arm in summary.arms if arm.emulated is not None]
    if not arms:
        return None
    predicted = SIMULATED in run.sides.places
    return join(
        _errors_table(arms) if predicted else _times_table(arms),
        tag("p", _ELSEWHERE, class_="remark") if predicted else "",
        tag("h3", "Verdict"),
        verdicts_of([(arm.name, emulated.verdict) for arm, emulated in arms]),
        join(tag("h3", "Scale"), _scale(summary.scale)) if summary.scale else "",
        *_incidents(arms),
        _figures(run, identity),
    )


def _figures(run: RunData, identity: str) -> Html:
    beside = [figure for make in (job_by_job, cpu_use) if (figure := make(run))]
    together = both_sides(run)
    return join(
        figures_html(beside, identity, "h3") if beside else "",
        figure_html(together, f"{identity}_{together.name}", "h3") if together else "",
    )


def _times_table(arms: list[tuple[ArmRead, EmulatedRead]]) -> Html:
    rows = [
        [
            arm.name,
            badge(emulated.verdict.status),
            _hours(arm.jct_mean_s.value if arm.jct_mean_s else None),
        ]
        for arm, emulated in arms
    ]
    header = ["Arm", "Verdict", "Mean completion time"]
    return table("Mean completion times, emulated", header, rows, "--n")


def _errors_table(arms: list[tuple[ArmRead, EmulatedRead]]) -> Html:
    rows = []
    for arm, emulated in arms:
        errors = emulated.errors
        rows.append(
            [
                arm.name,
                badge(emulated.verdict.status),
                _hours(errors.emulated_mean_s if errors else None),
                _hours(errors.simulated_mean_s if errors else None),
                signed_percent(errors.mean_error if errors else None),
                *([NOTHING] * 3 if errors is None else _sizes(errors)),
            ]
        )
    return table(
        "Mean completion times, emulated and simulated, and how far single jobs are apart",
        [
            "Arm",
            "Verdict",
            "emulated",
            "simulated",
            "difference",
            "mean",
            "95th percentile",
            "largest",
        ],
        rows,
        "--nnnnnn",
        [("", 2), ("Mean completion time", 3), ("Error of single jobs, without sign", 3)],
    )


def _sizes(errors: ErrorsRead) -> list[str]:
    return [percent(size) for size in (errors.mape, errors.p95, errors.most)]


def _hours(time_s: float | None) -> str:
    return NOTHING if time_s is None else f"{time_s / _S_PER_H:.2f}{SPACE}h"


def _scale(scale: ScaleRead) -> Html:
    divisors = scale.divisors
    words = (
        f"one emulated iteration stands for {number(divisors.stride)}, CPUs are "
        f"{number(divisors.cpu)} times fewer, bytes {number(divisors.bytes)} times fewer than in "
        f"the cluster ({scale.reason})"
    )
    warnings = [tag("li", sentence(warning)) for warning in scale.warnings]
    return join(tag("p", sentence(words)), tag("ul", *warnings, class_="plain") if warnings else "")


def _incidents(arms: list[tuple[ArmRead, EmulatedRead]]) -> list[Html]:
    found = [f"{arm.name}: {each}" for arm, emulated in arms for each in emulated.incidents]
    if not found:
        return []
    shown = [tag("li", words) for words in found[:_INCIDENTS_NAMED]]
    words = counted(len(found), "worker was lost and mended", "workers were lost and mended")
    return [tag("p", sentence(words), class_="warning"), tag("ul", *shown)]
