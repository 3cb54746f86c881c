"""What real workers made of the schedules: beside the prediction, with the verdict on it. Pure."""

from __future__ import annotations

from harness.report.html import Html, join, table, tag
from harness.report.iterations.sentences import verdict_words
from harness.report.iterations.tables import badge
from harness.report.rounds.documents import ArmRead, EmulatedRead, Summary
from harness.report.words import counted, number, percent, sentence, signed_percent

_S_PER_H = 3600.0
_INCIDENTS_NAMED = 20


def emulation_section(summary: Summary) -> Html | None:
    """None where nothing was emulated."""
    arms = [(arm, arm.emulated) for arm in summary.arms if arm.emulated is not None]
    if not arms:
        return None
    return join(
        _completion_table(arms),
        *(_verdict(arm, emulated) for arm, emulated in arms),
        *(tag("p", sentence(words)) for words in _scale(summary)),
        *_incidents(arms),
    )


def _completion_table(arms: list[tuple[ArmRead, EmulatedRead]]) -> Html:
    rows = []
    for arm, emulated in arms:
        errors = emulated.errors
        rows.append(
            [
                arm.name,
                badge(emulated.verdict.status),
                "-" if errors is None else f"{errors.emulated_mean_s / _S_PER_H:.2f} h",
                "-" if errors is None else f"{errors.simulated_mean_s / _S_PER_H:.2f} h",
                signed_percent(None if errors is None else errors.mean_error),
                "-" if errors is None else percent(errors.mape),
                "-" if errors is None else percent(errors.p95),
                "-" if errors is None else percent(errors.most),
            ]
        )
    return table(
        "Mean completion times, emulated and simulated, and how far single jobs are apart",
        ["arm", "verdict", "emulated", "simulated", "difference", "mean", "p95", "largest"],
        rows,
        "--nnnnnn",
        [("", 1), ("", 1), ("mean completion time", 3), ("single jobs, without sign", 3)],
    )


def _verdict(arm: ArmRead, emulated: EmulatedRead) -> Html:
    return tag("p", tag("strong", arm.name), " ", tag("span", verdict_words(emulated.verdict)))


def _scale(summary: Summary) -> list[str]:
    scale = summary.scale
    if scale is None:
        return []
    divisors = scale.divisors
    return [
        f"one emulated iteration stands for {number(divisors.stride)}, CPUs are "
        f"{number(divisors.cpu)} times fewer, bytes {number(divisors.bytes)} times fewer than in "
        f"the cluster ({scale.reason})",
        *scale.warnings,
    ]


def _incidents(arms: list[tuple[ArmRead, EmulatedRead]]) -> list[Html]:
    found = [f"{arm.name}: {each}" for arm, emulated in arms for each in emulated.incidents]
    if not found:
        return []
    shown = [tag("li", words) for words in found[:_INCIDENTS_NAMED]]
    words = counted(len(found), "worker was lost and mended", "workers were lost and mended")
    return [tag("p", sentence(words), class_="warning"), tag("ul", *shown)]
