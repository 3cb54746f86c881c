"""What the scheduler decides for an arm: time-shifts and the score they give. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.experiments.placed import check_placed
from harness.scheduling.cassini.interleaving import Interleaving, interleave
from harness.scheduling.cassini.links import shared_links
from harness.scheduling.cassini.memo import Rotations
from harness.scheduling.cassini.precision import Precision
from harness.scheduling.cassini.rotation import score_at
from harness.scheduling.interleavers import INTERLEAVERS
from harness.simulation.rates import SHARINGS
from traces.arm import Arm
from traces.schedule import TimeShift


@dataclass(frozen=True)
class Decision:
    """Contended links as they would fit best, the time-shifts, and the score under them.

    score: mean over the groups of contended links (1 where nothing is shared), with the jobs as far
    apart as they start; None where the circles of a group cannot be compared.
    """

    interleaving: Interleaving
    shifts: Mapping[str, TimeShift]
    score: float | None

    def shift_s(self, job: str) -> float:
        """The time-shift of ``job``; zero where it has none."""
        return self.shifts[job].shift_s if job in self.shifts else 0.0


def decide(arm: Arm) -> Decision:
    """Decide for ``arm``; where a scheduler places its jobs, nothing is decided before they run.

    Raises BadInputError where its interleaver cannot handle it, for jobs that no placement has room
    for, and for a sharing that the simulator, which gives the demand at each link, does not know.
    """
    arm.cluster.common_sharing(SHARINGS)
    if arm.is_scheduled:
        check_placed(arm)
        return Decision(interleave([], Rotations()), {}, None)
    links = [] if arm.dedicated else shared_links(arm.cluster, arm.jobs)
    interleaving = interleave(links, Rotations(Precision(arm.scheduler.precision)))
    shifts = INTERLEAVERS[arm.interleaver](arm, interleaving)
    starts = {job.id: job.start_s for job in arm.jobs}
    scores = []
    for each in interleaving.links:
        if each.rotation is None:
            return Decision(interleaving, shifts, None)
        jobs = each.link.jobs
        delays_s = [shifts[job].shift_s if job in shifts else starts[job] for job in jobs]
        scores.append(score_at(each.rotation.circle, delays_s))
    return Decision(interleaving, shifts, sum(scores) / len(scores) if scores else 1.0)
