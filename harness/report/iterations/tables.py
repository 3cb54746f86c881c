"""The tables of a run: its arms, its jobs, and the verdict of each arm. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from harness.report.html import Html, join, table, tag
from harness.report.iterations.data import RunData, Side
from harness.report.iterations.documents import ArmRead, InvariantCheck, SideTimes, VerdictRead
from harness.report.iterations.sentences import VERDICT_MEANING, sharing_words, verdict_words
from harness.report.words import NOTHING, quantity, seconds, sentence, signed_percent

ICONS = {"valid": "✓", "suspect": "!", "invalid": "✕"}

SIDES = ["measured", "predicted", "difference"]
ARM_COLUMNS = ["Arm", "Sharing", *SIDES, *SIDES, "Score", "Verdict"]
ARM_GROUPS = [("", 2), ("Mean iteration", 3), ("99th percentile", 3), ("", 2)]


def badge(status: str | None) -> Html:
    """A verdict as an icon and a word; colour only repeats them."""
    if status is None:
        return tag("span", "not measured", class_="badge absent")
    icon = tag("span", ICONS[status], aria_hidden="true")
    return tag("span", icon, f" {status}", class_=f"badge {status}")


def arms_table(run: RunData) -> Html:
    """One row an arm: iteration times on both sides, their difference, the score, the verdict."""
    rows = [
        [
            arm.name,
            sharing_words(arm),
            *_times(arm, "mean"),
            *_times(arm, "p99"),
            NOTHING if arm.score is None else f"{arm.score:.2f}",
            badge(arm.verdict.status if arm.verdict else None),
        ]
        for arm in run.summary.arms
    ]
    return table("Iteration times by arm", ARM_COLUMNS, rows, "-wnnnnnnn-", ARM_GROUPS)


def _times(arm: ArmRead, statistic: str) -> list[str]:
    difference = arm.difference[statistic] if arm.difference else None
    return [
        _time(arm.measured, statistic),
        _time(arm.predicted, statistic),
        signed_percent(difference),
    ]


def _time(side: SideTimes | None, statistic: str) -> str:
    return seconds(getattr(side.iteration_s, statistic)) if side else NOTHING


def jobs_table(run: RunData) -> Html:
    """One row for each job in each arm that ran; empty where none did."""
    sides = {name: _by_arm_and_job(side) for name, side in run.sides}
    keys = list(dict.fromkeys(key for rows in sides.values() for key in rows))
    rows = []
    for arm, job in keys:
        known = [found[arm, job] for found in sides.values() if (arm, job) in found]
        means = [
            seconds(float(found[arm, job]["mean_iteration_s"])) if (arm, job) in found else NOTHING
            for found in (sides.get("measured", {}), sides.get("predicted", {}))
        ]
        first = known[0]
        placed = any(each.name == arm for each in run.scheduled_arms)
        counts = [str(first["workers"]), str(first["iterations"])]
        shift = seconds(float(first["time_shift_s"])) if first["time_shift_s"] else "none"
        shift = NOTHING if placed else shift
        rows.append([arm, job, *counts, *means, shift, str(first["adjustments"])])
    if not rows:
        return Html()
    header = ["Arm", "Job", "Workers", "Iterations", *SIDES[:2], "Time-shift", "Adjustments"]
    groups = [("", 4), ("Mean iteration", 2), ("", 2)]
    return table("Iteration times by job", header, rows, "--nnnnnn", groups)


def _by_arm_and_job(side: Side) -> dict[tuple[str, str], pd.Series]:
    return {(str(row["arm"]), str(row["job"])): row for _, row in side.jobs.iterrows()}


def verdicts(run: RunData) -> Html:
    """Each measured arm's verdict in words, with all its invariants behind a fold."""
    judged = [(arm.name, arm.verdict) for arm in run.summary.arms if arm.verdict]
    if not judged:
        return tag("p", "Nothing was measured, so there is nothing to judge.")
    return verdicts_of(judged)


def verdicts_of(judged: Sequence[tuple[str, VerdictRead]]) -> Html:
    """What verdicts mean, and those of arms by their names, each above its invariants."""
    meaning = tag(
        "dl",
        *(
            join(tag("dt", badge(status)), tag("dd", sentence(words)))
            for status, words in VERDICT_MEANING.items()
        ),
        class_="meaning",
    )
    return join(meaning, *(_verdict(arm, verdict) for arm, verdict in judged), *_unenforced(judged))


def _verdict(arm: str, verdict: VerdictRead) -> Html:
    words = tag(
        "summary",
        tag("strong", arm),
        " ",
        badge(verdict.status),
        " ",
        tag("span", verdict_words(verdict)),
    )
    content = _invariants(arm, verdict.invariants) if verdict.invariants else ""
    return tag("details", words, content, open=verdict.status != "valid")


def _unenforced(judged: Sequence[tuple[str, VerdictRead]]) -> list[Html]:
    """What the machine could not enforce: a note, once for all arms of the run."""
    clauses = dict.fromkeys(clause for _, verdict in judged for clause in verdict.unenforced)
    return [tag("p", sentence(f"not enforced: {clause}")) for clause in clauses]


def _invariants(arm: str, invariants: list[InvariantCheck]) -> Html:
    rows = [
        [
            invariant.name,
            _check(ok=invariant.ok),
            quantity(invariant.value, invariant.unit),
            f"{invariant.bound} {quantity(invariant.limit, invariant.unit)}",
            invariant.explanation,
        ]
        for invariant in invariants
    ]
    header = ["Invariant", "Holds", "Value", "Limit", "What it says"]
    return table(f"Invariants of arm {arm}", header, rows, "--nnw")


def _check(*, ok: bool) -> Html:
    """Whether an invariant holds, as an icon and a word."""
    icon = tag("span", ICONS["valid" if ok else "invalid"], aria_hidden="true")
    return tag("span", icon, " yes" if ok else " no", class_=f"check {'ok' if ok else 'failed'}")
