"""What came out of a run of rounds, in plain words computed from its summary. Pure."""

from __future__ import annotations

from harness.report.rounds.comparison import BOUND, compared, speedup, unlike_first
from harness.report.rounds.documents import ArmRead, IntervalRead, Summary
from harness.report.rounds.sides import Sides
from harness.report.words import (
    NOTHING,
    SPACE,
    counted,
    duration,
    listed,
    long_time_unit,
    sentence,
    significant,
    span,
    within,
)

MANY_ARMS = 6


def outcome(summary: Summary, sides: Sides) -> str:
    """What the first arm takes, and how much faster or slower the others are."""
    parts = [*_progress(summary, sides), *_effects(summary), *_fidelity(summary)]
    return " ".join(sentence(part) for part in parts)


def _progress(summary: Summary, sides: Sides) -> list[str]:
    parts = []
    if summary.interrupted:
        until_then = [_until_then(summary, sides, side) for side in sides.places]
        parts.append(f"the run was interrupted; {'; '.join(until_then)}")
    unended = sum(
        run.jobs.counted - run.jobs.counted_and_finished for arm in summary.arms for run in arm.runs
    )
    if unended:
        jobs = counted(unended, "job that counts has", "jobs that count have")
        parts.append(f"{jobs} not ended; times are those of the others, which are shorter")
    return parts


def _until_then(summary: Summary, sides: Sides, side: str) -> str:
    wanted = counted(len(summary.seeds), "seed", "seeds")
    seeds = {
        arm.name: len(
            arm.runs if side == sides.shown else arm.emulated.runs if arm.emulated else []
        )
        for arm in summary.arms
    }
    done = [f"{name} with {count} of {wanted}" for name, count in seeds.items() if count]
    return f"{side} until then: {listed(done)}" if done else f"nothing was {side}"


def _fidelity(summary: Summary) -> list[str]:
    """How far the emulation, where there is one, is from the times that were given."""
    errors = [
        arm.emulated.errors.mean_error
        for arm in summary.arms
        if arm.emulated and arm.emulated.errors
    ]
    if not errors:
        return []
    worst = within(max(map(abs, errors)))
    where = "every arm" if len(errors) == len(summary.arms) else "every arm that was emulated"
    return [f"these times are simulated; in {where} the mean is {worst} of the emulated one"]


def _effects(summary: Summary) -> list[str]:
    """The best arm against the first, then the others; where there are none, the times alone."""
    timed = [arm for arm in summary.arms if arm.jct_mean_s]
    if not timed:
        return ["no job that counts has ended, so there is no completion time to compare"]
    others = compared(summary)
    if not others:
        return [_alone(arm) for arm in timed[:MANY_ARMS]]
    first, best, others = summary.arms[0], others[0], others[1:]
    parts = [
        f"with {_named(best)}, {_mean(best)}, {_ratio(best)} as with {first.name}, which takes "
        f"{_time(first)} ({_certainty(best.speedup, of=' of the ratio')}){_doubt(best)}"
    ]
    if len(others) > MANY_ARMS:
        count, others = len(others), [min(others, key=speedup)]
        parts.append(f"of the {count} other arms, {others[0].name} is the slowest")
    parts += [
        f"with {_named(arm)} it is {_ratio(arm)} ({_detail(arm)}){_doubt(arm)}" for arm in others
    ]
    unlike = [arm.jct_mean_s.value for arm in unlike_first(summary) if arm.jct_mean_s]
    if unlike:
        arms = counted(len(unlike), "arm", "arms")
        parts.append(f"in {arms} with another cluster or other jobs it is {span(unlike, duration)}")
    return parts


def _named(arm: ArmRead) -> str:
    return f"{arm.name}, an upper bound," if arm.mechanism == BOUND else arm.name


def _time(arm: ArmRead) -> str:
    return duration(arm.jct_mean_s.value if arm.jct_mean_s else None)


def _mean(arm: ArmRead) -> str:
    return f"a job is complete {_time(arm)} after its submission on average"


def _alone(arm: ArmRead) -> str:
    return f"with {arm.name}, {_mean(arm)} ({_certainty(arm.jct_mean_s, is_time=True)})"


def _certainty(interval: IntervalRead | None, of: str = "", *, is_time: bool = False) -> str:
    """The interval and what it rests on: ``95 % interval 1.68 to 2.03, 4 seeds``."""
    if interval is None:
        return NOTHING
    seeds = counted(interval.seeds, "seed", "seeds")
    ends = _ends(interval, is_time=is_time)
    return f"95{SPACE}% interval{of} {ends}, {seeds}" if ends else seeds


def _ends(interval: IntervalRead, *, is_time: bool = False) -> str:
    """``1.68 to 2.03``; of a ratio below 1, those of its inverse. Empty where there are none."""
    if interval.low is None or interval.high is None:
        return ""
    if is_time:
        factor, unit = long_time_unit(interval.value)
        low, high = (significant(end * factor, 3) for end in (interval.low, interval.high))
        return f"{low} to {high}{SPACE}{unit}"
    low_end, high_end = interval.low, interval.high
    if interval.value < 1:
        low_end, high_end = 1 / high_end, 1 / low_end
    return f"{low_end:.2f} to {high_end:.2f}"


def _ratio(arm: ArmRead) -> str:
    """``1.85 times as fast``, or as slowly, so that no ratio is below 1."""
    ratio = speedup(arm)
    return f"{ratio:.2f} times as fast" if ratio >= 1 else f"{1 / ratio:.2f} times as slowly"


def _detail(arm: ArmRead) -> str:
    ends = _ends(arm.speedup) if arm.speedup else ""
    return f"{_time(arm)}; {ends}" if ends else _time(arm)


def _doubt(arm: ArmRead) -> str:
    """What is to be said where the seeds do not agree on which of the two is faster."""
    found = arm.speedup
    if found and found.low is not None and found.high is not None and found.low < 1 < found.high:
        return ", which is no clear difference"
    return ""
