"""What the scheduler decides for an arm: time-shifts and the score they give. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.scheduling.cassini import SharedLinks, shared_links
from harness.scheduling.circles import score_at
from harness.scheduling.interleavers import INTERLEAVERS
from harness.simulation.rates import SHARINGS
from traces.scenario import Arm
from traces.schedule import TimeShift


@dataclass(frozen=True)
class Decision:
    """Contended links, time-shifts, and the compatibility score under them.

    score: mean over the groups of contended links (1 where nothing is shared), with the jobs as far
    apart as they start; None where the circles of a group cannot be compared.
    """

    links: tuple[SharedLinks, ...]
    shifts: Mapping[str, TimeShift]
    score: float | None

    def shift_s(self, job: str) -> float:
        """The time-shift of ``job``; zero where it has none."""
        return self.shifts[job].shift_s if job in self.shifts else 0.0


def decide(arm: Arm) -> Decision:
    """Decide for ``arm``. Raises BadInputError where its interleaver cannot handle it.

    So it does for a sharing that the simulator, which gives the demand at each link, does not know.
    """
    arm.cluster.common_sharing(SHARINGS)
    links = () if arm.dedicated else tuple(shared_links(arm.cluster, arm.jobs))
    shifts = INTERLEAVERS[arm.interleaver](arm, links)
    starts = {job.id: job.start_s for job in arm.jobs}
    scores = []
    for group in links:
        if group.rotation is None:
            return Decision(links, shifts, None)
        delays = [shifts[job].shift_s if job in shifts else starts[job] for job in group.jobs]
        scores.append(score_at(group.rotation.circle, delays, group.capacity_bps))
    return Decision(links, shifts, sum(scores) / len(scores) if scores else 1.0)
