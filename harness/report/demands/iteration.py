"""What a drawing of one job's iteration shows: its timeline and its circle. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from harness.report.words import bit_rate, counted, percent, seconds
from traces.demand import DedicatedIteration, DemandCurve, dedicated_iteration, demand_curve
from traces.model_profile import ModelProfile
from traces.quantities import format_size

Spans = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class IterationDrawing:
    """One iteration of a job that has a link of ``link_bps`` for itself.

    curve: the rate of its first worker. words: one sentence that says what to see.
    """

    model: str
    link_bps: float
    iteration: DedicatedIteration
    curve: DemandCurve
    words: str

    @property
    def sending(self) -> Spans:
        """(start_s, end_s) of the Up phases."""
        return tuple((phase.start_s, phase.end_s) for phase in self.curve.phases)

    @property
    def others_sending(self) -> Spans:
        """(start_s, end_s) of the transfers in which the first worker sends nothing."""
        sent = self.iteration.transfers
        return tuple((each.start_s, each.end_s) for each in sent if not each.is_own)


def iteration_drawing(profile: ModelProfile, link_bps: float) -> IterationDrawing:
    """The iteration of ``profile`` alone on a link of ``link_bps``."""
    iteration = dedicated_iteration(profile.demand, link_bps)
    curve = demand_curve(profile.demand, link_bps)
    words = _words(profile, link_bps, iteration, curve)
    return IterationDrawing(profile.model, link_bps, iteration, curve, words)


def busy_s(spans: Spans) -> float:
    """How long ``spans``, which do not overlap, are together."""
    return sum(end_s - start_s for start_s, end_s in spans)


def overlap_s(some: Spans, others: Spans) -> float:
    """How long both go on; neither overlaps itself."""
    return sum(
        max(0.0, min(end_s, other_end_s) - max(start_s, other_start_s))
        for start_s, end_s in some
        for other_start_s, other_end_s in others
    )


def _words(
    profile: ModelProfile, link_bps: float, iteration: DedicatedIteration, curve: DemandCurve
) -> str:
    alone = (
        f"Alone on a link of {bit_rate(link_bps)} an iteration of {profile.model} takes "
        f"{seconds(iteration.period_s)}"
    )
    sending = tuple((phase.start_s, phase.end_s) for phase in curve.phases)
    if not sending:
        return f"{alone}, in which its first worker sends nothing."
    size = format_size(sum(each.transfer.sent_bytes(0) for each in iteration.transfers))
    hidden_s = overlap_s(sending, iteration.computing)
    behind = f"{seconds(hidden_s)} of the sending goes" if hidden_s else "none of the sending goes"
    waited_s = iteration.period_s - busy_s(iteration.computing)
    return (
        f"{alone}: its first worker sends {size} in {counted(len(sending), 'phase', 'phases')}, "
        f"{percent(busy_s(sending) / iteration.period_s)} of the time; {behind} on behind "
        f"computing, which stands still for {seconds(waited_s)}."
    )
