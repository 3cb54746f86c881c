"""The tables of a run of rounds: its arms, every seed by itself, mechanisms' own figures. Pure."""

from __future__ import annotations

from harness.report.html import Html, join, table, tag
from harness.report.rounds.documents import ArmRead, CompletionRead, IntervalRead, Summary
from harness.report.rounds.names import FIGURES, meaning
from harness.report.words import (
    NOTHING,
    duration,
    listed,
    long_time_unit,
    number,
    percent,
    seconds,
    significant,
    within,
)

INTERVALS = ("jct_mean_s", "jct_p99_s", "short_jct_mean_s", "long_jct_mean_s")


def arms_table(summary: Summary) -> Html:
    """One row an arm: its scheduler, completion times, load, use of the GPUs, and speed-up."""
    means = [arm.jct_mean_s.value for arm in summary.arms if arm.jct_mean_s]
    factor, unit = long_time_unit(min(means, default=0.0))
    rows = [
        [
            arm.name,
            arm.policy,
            arm.mechanism,
            arm.placement,
            *(_interval(getattr(arm, key), factor) for key in INTERVALS),
            duration(arm.mean("waited_mean_s")),
            _plain(arm.mean("load")),
            _share(arm.mean("gpu_utilisation")),
            _plain(arm.mean("leases_per_job")),
            NOTHING if arm is summary.arms[0] else _interval(arm.speedup, 1.0),
        ]
        for arm in summary.arms
    ]
    header = ["Arm", "Policy", "Mechanism", "Placement"]
    header += ["Mean", "99th percentile", "Short jobs", "Long jobs"]
    header += ["Mean wait", "Load ρ", "GPUs used", "Leases per job", "Speed-up"]
    groups = [("", 4), (f"Completion time ({unit})", 4), ("", 5)]
    return table("Completion times by arm", header, rows, "----nnnnnnnnn", groups)


def _interval(interval: IntervalRead | None, factor: float) -> str:
    """The value, and its interval below it."""
    if interval is None:
        return NOTHING
    value = significant(interval.value * factor, 3)
    if interval.low is None or interval.high is None:
        return value
    low, high = (significant(end * factor, 3) for end in (interval.low, interval.high))
    return join(value, tag("small", f"{low} to {high}", class_="interval"))


def _plain(value: float | None) -> str:
    return NOTHING if value is None else significant(value, 3)


def _share(value: float | None) -> str:
    return NOTHING if value is None else percent(value)


def seeds_table(summary: Summary) -> Html:
    """One row for each seed of each arm; empty where there is none."""
    runs = [(arm, run) for arm in summary.arms for run in arm.runs]
    rows = [
        [
            arm.name,
            str(run.seed),
            *_completions(run.jct_s.all),
            duration(run.waited_mean_s),
            duration(run.makespan_s),
            _plain(run.load),
            _share(run.gpu_utilisation),
            _plain(run.leases_per_job),
            number(run.rounds),
            number(run.decisions),
        ]
        for arm, run in runs
    ]
    if not rows:
        return Html()
    header = ["Arm", "Seed", "Mean", "Median", "99th percentile", "99.9th percentile"]
    header += ["Mean wait", "Makespan", "Load ρ", "GPUs used", "Leases per job"]
    header += ["Rounds", "Decisions"]
    groups = [("", 2), ("Completion time", 4), ("", 7)]
    return table("Completion times by arm and seed", header, rows, "-" + "n" * 12, groups)


def _completions(times: CompletionRead | None) -> list[str]:
    if times is None:
        return [NOTHING] * 4
    return [duration(value) for value in (times.mean, times.p50, times.p99, times.p99_9)]


def mechanism_table(summary: Summary) -> Html:
    """What mechanisms say of themselves, one row a figure; empty where none says anything."""
    arms = [arm for arm in summary.arms if any(run.mechanism for run in arm.runs)]
    names = list(dict.fromkeys(name for arm in arms for run in arm.runs for name in run.mechanism))
    if not names:
        return Html()
    rows = [[meaning(FIGURES, name), *(_figure(arm, name) for arm in arms)] for name in names]
    header = ["Figure", *(arm.name for arm in arms)]
    mechanisms = listed(list(dict.fromkeys(arm.mechanism for arm in arms)))
    return join(
        tag(
            "p",
            f"What {mechanisms} counted and timed while deciding: means over the seeds, and where "
            "it is the longest or the most, that of all seeds.",
            class_="remark",
        ),
        table("Figures of the mechanisms", header, rows, "-" + "n" * len(arms)),
    )


def _figure(arm: ArmRead, name: str) -> str:
    values = [run.mechanism[name] for run in arm.runs if name in run.mechanism]
    if not values:
        return NOTHING
    is_most = "_max" in name
    value = max(values) if is_most else sum(values) / len(values)
    if name.endswith("_s"):
        return seconds(value)
    return within(value) if "_gap" in name else number(value)
