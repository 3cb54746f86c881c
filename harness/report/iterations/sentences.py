"""What came out of a run, in plain words computed from its summary. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from harness.report.iterations.documents import (
    ArmRead,
    ScaleRead,
    ScheduleRead,
    Summary,
    Times,
    VerdictRead,
)
from harness.report.words import (
    bit_rate,
    counted,
    listed,
    number,
    percent,
    quantity,
    seconds,
    sentence,
    within,
)

ALIKE = 0.02
"""Relative difference of two means up to which a sentence calls them equal and names the bound."""

MANY_ARMS = 8

SHARING = {
    "fair": "links shared fairly among jobs",
    "fifo": "first-come-first-served queues shared by all jobs",
}

CAUSE = {
    "fair": "sharing the links fairly",
    "fifo": "sharing first-come-first-served queues",
}

VERDICT_MEANING = {
    "valid": "every invariant held; the numbers can be trusted",
    "suspect": "the machine was disturbed; repeat the arm before you rely on its numbers",
    "invalid": "the emulation broke a rule that its result rests on; do not use the numbers",
}

PROVENANCE = {
    "measured": "measured on a real run of the model",
    "published": "taken from a publication",
    "reconstructed": "reconstructed from published figures",
}


def sharing_words(arm: ArmRead) -> str:
    """How the jobs of an arm meet on the links."""
    if arm.dedicated:
        return "each job alone on a cluster of its own"
    words = SHARING.get(arm.sharing, arm.sharing)
    if arm.schedule is not None:
        words += f", {_placed(arm.schedule)}"
    return words if arm.interleaver == "none" else f"{words}, time-shifts by {arm.interleaver}"


def _placed(schedule: ScheduleRead) -> str:
    how = schedule.placement
    return "placed at random" if how == "random" else f"placed by {how}"


def outcome(summary: Summary) -> str:
    """What the arms did to iteration times, how well that was foreseen, and what to trust."""
    parts = [*_progress(summary), *_effects(summary), *_fidelity(summary), *_trust(summary)]
    return " ".join(sentence(part) for part in parts)


def _progress(summary: Summary) -> list[str]:
    measured = sum(arm.measured is not None for arm in summary.arms)
    if summary.interrupted:
        total = counted(len(summary.arms), "arm", "arms")
        return [f"the run was interrupted: {measured} of {total} have measured iterations"]
    if measured == 0 and any(arm.predicted for arm in summary.arms):
        return ["nothing was measured: all times are the simulator's predictions"]
    return []


def _effects(summary: Summary) -> list[str]:
    """Each arm against the ideal, a job alone; against the fastest arm where there is none."""
    times = _comparable(summary.arms)
    if not times:
        return ["no arm has iterations after the warm-up"]
    alone = [pair for pair in times if pair[0].dedicated]
    base, ideal = alone[0] if alone else min(times, key=lambda pair: pair[1].mean)
    others = [pair for pair in times if pair[0] is not base]
    where = "alone" if alone else f"in arm {base.name}"
    fastest = ", the fastest" if others and not alone else ""
    parts = [f"an iteration takes {seconds(ideal.mean)} {where}{fastest}"]
    for arm, own in others[:MANY_ARMS]:
        effect = _effect(own.mean / ideal.mean, where)
        if alone and not arm.dedicated:
            parts.append(f"{_cause(arm)} {effect} (arm {arm.name})")
        else:
            parts.append(f"arm {arm.name} ({sharing_words(arm)}) {effect}")
    if len(others) > MANY_ARMS:
        parts.append(f"the table shows {len(others) - MANY_ARMS} more arms")
    return parts


def _comparable(arms: Sequence[ArmRead]) -> list[tuple[ArmRead, Times]]:
    """Times of one kind, so that ratios are honest: measured ones where there are any."""
    measured = [(arm, arm.measured.iteration_s) for arm in arms if arm.measured]
    return measured or [(arm, arm.predicted.iteration_s) for arm in arms if arm.predicted]


def _cause(arm: ArmRead) -> str:
    cause = CAUSE.get(arm.sharing, f"{arm.sharing} sharing")
    if arm.schedule is not None:
        cause += f" among jobs {_placed(arm.schedule)}"
    return cause if arm.interleaver == "none" else f"{cause} with time-shifts"


def _effect(ratio: float, where: str) -> str:
    if abs(ratio - 1) <= ALIKE:
        return f"leaves it as long as {where}, {within(ratio - 1)}"
    return f"makes it {ratio:.2f} times as long"


def _fidelity(summary: Summary) -> list[str]:
    compared = [arm for arm in summary.arms if arm.difference]
    if not compared:
        return []
    worst = max(abs(arm.difference["mean"]) for arm in compared if arm.difference)
    where = "in every arm" if len(compared) == len(summary.arms) else "in every arm that has both"
    return [f"the simulator's mean is {within(worst)} of the measured one {where}"]


def _trust(summary: Summary) -> list[str]:
    judged = [(arm.name, arm.verdict.status) for arm in summary.arms if arm.verdict]
    if not judged:
        return []
    if all(status == "valid" for _, status in judged):
        return ["every measured arm is valid"]
    parts = []
    for status in ("suspect", "invalid"):
        names = [name for name, found in judged if found == status]
        if names:
            verb = "arm {} is {}" if len(names) == 1 else "arms {} are {}"
            parts.append(verb.format(listed(names), status) + f": {VERDICT_MEANING[status]}")
    return parts


def verdict_words(verdict: VerdictRead) -> str:
    """Which invariants hold, and for each that does not, its value against its limit."""
    total = len(verdict.invariants)
    if total == 0:
        return "The emulation ended before its invariants could be checked."
    failed = [invariant for invariant in verdict.invariants if not invariant.ok]
    if not failed:
        return f"All {total} invariants hold."
    broken = [
        f"{invariant.name} does not ({quantity(invariant.value, invariant.unit)}, "
        f"{invariant.bound} {quantity(invariant.limit, invariant.unit)} allowed)"
        for invariant in failed
    ]
    return f"{total - len(failed)} of {total} invariants hold; {listed(broken)}."


def scale_words(scale: ScaleRead) -> str:
    """What was made smaller, by how much and why, and what that leaves as it is."""
    divisor = number(scale.rate_divisor)
    parts = [
        "links and transfers have their real size"
        if scale.rate_divisor == 1
        else f"links are {divisor} times slower and transfers {divisor} times smaller than in the "
        "cluster, so every time is the real one, and this report gives rates as they are in the "
        "cluster",
        f"the divisor was chosen for: {scale.reason}",
        f"with all jobs sending at once, the links ask for {bit_rate(scale.load_hop_bps)} x hops, "
        f"{percent(scale.load_hop_bps / scale.budget_hop_bps)} of what this machine forwards",
    ]
    if scale.smallest_transfer_packets is not None:
        parts.append(f"the smallest transfer is {scale.smallest_transfer_packets:.0f} packets long")
    if scale.cpu is not None:
        parts.append(
            f"one CPU is {percent(1 / scale.cpu.divisor)} of a core of this machine, to have "
            f"{scale.cpu.reason}"
        )
    return " ".join(sentence(part) for part in parts)
