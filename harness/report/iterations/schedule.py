"""How a scheduler's decisions went, and when its jobs were done, as tables. Pure."""

from __future__ import annotations

from harness.report.html import Html, join, table, tag
from harness.report.iterations.documents import ArmRead, ScheduledSide, ScheduleRead
from harness.report.words import NOTHING, counted, duration, number, seconds, signed_percent
from traces.quantities import format_size

SIDES = ["measured", "predicted", "difference"]
ARM_COLUMNS = ["Arm", "Placed by", "Round", "Ended", *SIDES]
DECISION_COLUMNS = [
    "Arm", "Side", "Starts", "Decisions", "Candidates", "Discarded", "Without shifts",
]  # fmt: skip
JOB_COLUMNS = ["Arm", "Job", *SIDES]
SHARE_COLUMNS = ["Arm", "Job", "CPUs", "Memory"]


def schedule(arms: list[ArmRead]) -> Html:
    """Completion times and decisions by arm, and completion times by job behind a fold.

    arms: whose jobs a scheduler placed.
    """
    found = [(arm, arm.schedule) for arm in arms if arm.schedule is not None]
    by_job = [[arm.name, job, *_both(_times(one, job))] for arm, one in found for job in _jobs(one)]
    shares = [row for arm, one in found for row in _shares(arm, one)]
    return join(
        table(
            "Completion times by arm",
            ARM_COLUMNS,
            [_completion(arm, one) for arm, one in found],
            "--nnnnn",
            [("", 4), ("Mean completion", 3)],
        ),
        tag(
            "p",
            "Completion is from the arrival of a job to its end; the mean is that of the jobs that "
            "ended on every side.",
            class_="remark",
        ),
        table(
            "Decisions by arm",
            DECISION_COLUMNS,
            [row for arm, one in found for row in _decisions(arm, one)],
            "--nnnnn",
        ),
        tag(
            "p",
            "Starts: of jobs, those included that were moved or had to wait. Decisions: those in "
            "which a job was started. Candidates: placements that the interleaver compared. "
            "Discarded: those whose links contradict each other or whose jobs cannot be compared. "
            "Without shifts: decisions in which all were, so that jobs ran as they came.",
            class_="remark",
        ),
        *([table("CPUs of each worker", SHARE_COLUMNS, shares, "--nn")] if shares else ()),
        tag(
            "details",
            tag("summary", "The completion of each job"),
            table(
                "Completion times by job",
                JOB_COLUMNS,
                by_job,
                "--nnn",
                [("", 2), ("Completion", 3)],
            ),
        ),
    )


def _completion(arm: ArmRead, schedule: ScheduleRead) -> list[str]:
    sides = _sides(schedule)
    times = {job: _times(schedule, job) for job in _jobs(schedule)}
    ended = [job for job, by_side in times.items() if len(by_side) == len(sides)]
    means = {name: sum(times[job][name] for job in ended) / len(ended) for name in sides if ended}
    of_all = f"{len(ended)} of {counted(len(times), 'job', 'jobs')}"
    return [arm.name, schedule.placement, duration(schedule.round_s), of_all, *_both(means)]


def _decisions(arm: ArmRead, schedule: ScheduleRead) -> list[list[str]]:
    rows = []
    for name, side in _sides(schedule).items():
        discarded = side.discarded_by_loops + side.discarded_as_incomparable
        compared = [number(count) for count in (side.candidates, discarded, side.without_shifts)]
        if arm.interleaver == "none":
            compared = [NOTHING] * len(compared)
        rows.append([arm.name, name, number(side.starts), number(side.decisions), *compared])
    return rows


def _shares(arm: ArmRead, schedule: ScheduleRead) -> list[list[str]]:
    """What each worker of a job had, under emulation if there was one, as it changed."""
    side = schedule.measured or schedule.predicted
    return [
        [
            f"{arm.name} ({schedule.mechanism})",
            job,
            ", then ".join(number(share.cpus) for share in shares),
            ", then ".join(format_size(share.memory_bytes) for share in shares),
        ]
        for job, shares in (side.shares if side else {}).items()
    ]


def _sides(schedule: ScheduleRead) -> dict[str, ScheduledSide]:
    sides = {"measured": schedule.measured, "predicted": schedule.predicted}
    return {name: side for name, side in sides.items() if side is not None}


def _jobs(schedule: ScheduleRead) -> list[str]:
    sides = _sides(schedule).values()
    return list(dict.fromkeys(job for side in sides for job in side.completion_s))


def _times(schedule: ScheduleRead, job: str) -> dict[str, float]:
    """By side, when ``job`` was done, if it was."""
    found = {name: side.completion_s.get(job) for name, side in _sides(schedule).items()}
    return {name: time_s for name, time_s in found.items() if time_s is not None}


def _both(by_side_s: dict[str, float]) -> list[str]:
    measured_s, predicted_s = by_side_s.get("measured"), by_side_s.get("predicted")
    difference = None
    if measured_s is not None and predicted_s is not None:
        difference = predicted_s / measured_s - 1
    return [seconds(measured_s), seconds(predicted_s), signed_percent(difference)]
