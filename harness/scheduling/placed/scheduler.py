"""A scheduler of rounds on a network: a policy's placements, and the one whose links fit best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from harness.job_table import Ints, JobTable
from harness.scheduling.allocation import Allocation
from harness.scheduling.cassini.footprints import Footprints, num_ports
from harness.scheduling.cassini.links import ClusterLinks, Footprint
from harness.scheduling.cassini.memo import Rotations
from harness.scheduling.cassini.precision import Precision
from harness.scheduling.cassini.ranking import rank
from harness.scheduling.placed.policies import POLICIES
from harness.scheduling.placed.policy import Choice, GpuServers, Placement, Rounds, WaitingJob
from harness.scheduling.placed.resources import Shares, proportional_share, shares_of
from harness.scheduling.placed.shifts import in_step
from traces.arm import Arm, Job
from traces.demand import demand_curve
from traces.input_pipeline import Share
from traces.schedule import TimeShift

_NOTHING = Allocation.nothing()


@dataclass
class ScheduleRecord:
    """What the interleaver saw over a run.

    decisions: in which a job was started, moved or given another share. candidates: placements that
    were compared. discarded_by_loops, discarded_as_incomparable: of those. without_shifts:
    decisions in which all were, so that the policy's own choice runs as it comes. scores: of the
    placements that were chosen, 1 where no link is shared; unshared: how many of those share none.
    shares: of each job, one after the other, what each of its workers had. clipped: the jobs that
    ask for more than a link has in one of those placements, and the largest share of their bits
    left out.
    """

    decisions: int = 0
    candidates: int = 0
    discarded_by_loops: int = 0
    discarded_as_incomparable: int = 0
    without_shifts: int = 0
    unshared: int = 0
    scores: list[float] = field(default_factory=list)
    shares: dict[str, list[Share]] = field(default_factory=dict)
    clipped: dict[str, float] = field(default_factory=dict)


class PlacedScheduler:
    """Decides one round after the other for the jobs of an arm, which are the rows of ``table``.

    shifts: of the jobs that run and share links, as of the last decision. shares: of each worker of
    the jobs that run, where the arm has a mechanism.
    """

    steady = False

    def __init__(self, arm: Arm, table: JobTable, seed: int) -> None:
        self._arm = arm
        self._table = table
        self._jobs = arm.jobs
        gpus = dict.fromkeys(arm.cluster.servers, arm.gpus)
        self._policy = POLICIES[arm.scheduler.placement](
            GpuServers(arm.cluster, gpus),
            Rounds(arm.scheduler.round, arm.scheduler.restart),
            seed,
        )
        self._links = ClusterLinks(arm.cluster)
        self._known_footprints = Footprints(self._links)
        self._rotations = Rotations(Precision(arm.scheduler.precision), seed)
        self._number = {server: index for index, server in enumerate(arm.cluster.servers)}
        in_proportion = proportional_share(arm)
        self._alone_s = [
            dedicated_iteration_s(arm, job.with_share(in_proportion)) for job in arm.jobs
        ]
        self._choices = [choices_of(arm, job, in_proportion) for job in arm.jobs]
        self._placement: Placement = {}
        self._allocation = _NOTHING
        self.shifts: Mapping[str, TimeShift] = {}
        self.shares: Shares = {}
        self.record = ScheduleRecord()

    def decide(self, jobs: Ints, now_s: float) -> Allocation:
        """The round that begins at ``now_s`` for the active ``jobs``, in order of submission."""
        waiting = [self._waiting(int(row)) for row in jobs]
        takes_turns = self._arm.interleaver == "cassini"
        most = self._arm.scheduler.candidates if takes_turns else 1
        candidates = self._policy.placements(waiting, now_s, most)
        if candidates[0] == self._placement:
            return self._allocation
        shares = shares_of(self._arm, candidates[0])
        if all(
            self._placement.get(job) == at and self.shares.get(job) == shares.get(job)
            for job, at in candidates[0].items()
        ):
            # Jobs ended or were sent away; whoever stays has nothing to be in step with anew.
            self.shifts = {job: self.shifts[job] for job in candidates[0] if job in self.shifts}
            self._take(candidates[0])
            return self._allocation
        self.record.decisions += 1
        chosen = self._interleaved(candidates) if takes_turns else candidates[0]
        self._take(chosen)
        return self._allocation

    def _interleaved(self, candidates: Sequence[Placement]) -> Placement:
        """The candidate that CASSINI ranks first, whose shifts hold from now on."""
        footprints = [self._footprints(each) for each in candidates]
        ranking = rank(
            [self._links.shared_links(each) for each in footprints],
            self._rotations,
            self._arm.scheduler.ranking,
            [num_ports(each) for each in footprints],
        )
        record = self.record
        record.candidates += len(candidates)
        record.discarded_by_loops += ranking.discarded_by_loops
        record.discarded_as_incomparable += ranking.discarded_as_incomparable
        if ranking.best is None:
            record.without_shifts += 1
            self.shifts = {}
            return candidates[0]
        chosen = candidates[ranking.best]
        best = ranking.interleavings[ranking.best]
        record.scores.append(ranking.scores[ranking.best])
        record.unshared += not best.links
        for job, share in best.clipped.items():
            record.clipped[job] = max(share, record.clipped.get(job, 0.0))
        stayed = {job: at for job, at in self._placement.items() if chosen.get(job) == at}
        self.shifts = in_step(best, self.shifts, stayed, self._rotations)
        return chosen

    def _footprints(self, placement: Placement) -> list[Footprint]:
        shares = shares_of(self._arm, placement)
        return [
            self._known_footprints.of(job, placement[job.id], shares.get(job.id))
            for job in self._jobs
            if job.id in placement
        ]

    def _waiting(self, row: int) -> WaitingJob:
        table, job = self._table, self._jobs[row]
        done = float(table.done_iterations[row])
        return WaitingJob(
            id=job.id,
            workers=job.profile.num_gpus,
            submit_s=float(table.submit_s[row]),
            iterations_left=float(table.iterations[row]) - done,
            iterations_done=done,
            attained_s=float(table.attained_s[row]),
            dedicated_iteration_s=self._alone_s[row],
            servers=self._placement.get(job.id, ()) if np.isnan(table.finish_s[row]) else (),
            starts=int(table.leases[row]),
            choices=self._choices[row],
        )

    def _placed_iteration_s(self, job: Job) -> float:
        placed = job.on(self._placement[job.id]).with_share(self.shares.get(job.id))
        return dedicated_iteration_s(self._arm, placed)

    def _take(self, placement: Placement) -> None:
        rows = [row for row, job in enumerate(self._jobs) if job.id in placement]
        servers = [self._number[at] for row in rows for at in placement[self._jobs[row].id]]
        counts = [len(placement[self._jobs[row].id]) for row in rows]
        self._placement = placement
        self.shares = shares_of(self._arm, placement)
        for job, share in self.shares.items():
            held = self.record.shares.setdefault(job, [])
            if not held or held[-1] != share:
                held.append(share)
        self._allocation = Allocation(
            jobs=np.array(rows, dtype=np.int64),
            gpu_type=np.zeros(len(rows), dtype=np.int64),
            offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            servers=np.array(servers, dtype=np.int64),
            gpus=np.ones(len(servers), dtype=np.int64),
            share=np.zeros((len(rows), _NOTHING.share.shape[1])),
            iteration_s=np.array([self._placed_iteration_s(self._jobs[row]) for row in rows]),
            held_to_fair_share=np.zeros(len(rows), dtype=np.bool_),
        )


def dedicated_iteration_s(arm: Arm, job: Job) -> float:
    """Of an iteration that shares no link, with the rate of the servers' own links."""
    return demand_curve(job.profile.demand, arm.cluster.server_rate_bps).period_s


def choices_of(arm: Arm, job: Job, share: Share | None) -> tuple[Choice, ...]:
    """The numbers of workers that ``job`` may have, ascending. share: of each worker."""
    found = []
    for profile in job.choices or (job.profile,):
        with_profile = job.model_copy(update={"profile": profile}).with_share(share)
        together, apart = (
            demand_curve(with_profile.profile.demand, rate_bps).period_s
            for rate_bps in (math.inf, arm.cluster.server_rate_bps)
        )
        found.append(Choice(profile.num_gpus, together, apart))
    return tuple(found)
