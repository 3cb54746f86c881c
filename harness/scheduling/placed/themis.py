"""Themis (NSDI'20) for jobs of a fixed number of workers that all run or none.

With every decision all leases end. The jobs that fare worst by finish-time fairness come first, and
whoever still fits is let in, so that no GPU stays idle that a job could have. A job that runs and
is let in again keeps its servers; one that is not is preempted. Simulators of jobs with fixed
demands have Themis like this, too.

Of the paper's auction (section 3.3) that is the limit of the fairness knob f at 1, where free GPUs
are offered to the worst job alone, then to the next. The rest of it needs jobs that can shrink. The
partial allocation maximises the product of the winners' values 1 / rho, which is zero for every
allocation that leaves one of them without GPUs, as a job that cannot shrink is whenever not all
fit. The hidden payment takes a part of its GPUs from each winner, which such a job cannot spare;
and it is there to make bids truthful, while here nobody bids: rho comes from what is known of the
jobs. What is left over goes to the next jobs in order rather than to any of them by chance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.scheduling.placed.candidates import candidates
from harness.scheduling.placed.finish_time import Contention, finish_time_ratio
from harness.scheduling.placed.leaves import leaves_of
from harness.scheduling.placed.packing import admitted
from harness.scheduling.placed.policy import GpuServers, Placement, WaitingJob


class Themis:
    """The policy for one run on ``servers``. A seed repeats its decisions.

    Jobs with more workers than there are GPUs are never let in and do not count as contention.
    """

    def __init__(self, servers: GpuServers, seed: int) -> None:
        self._servers = servers
        self._leaves = leaves_of(servers.cluster)
        self._contention = Contention()
        self._rng = np.random.default_rng(seed)

    def placements(self, jobs: Sequence[WaitingJob], now_s: float, most: int) -> list[Placement]:
        """Up to ``most`` placements of the same jobs, which rho cannot tell apart.

        The first packs the jobs that start from the one that fares worst on, best fit by leaf.
        """
        chosen = admitted(self._worst_first(jobs, now_s), self._servers.num_gpus)
        return candidates(
            jobs=[job for job in chosen if not job.servers],
            kept={job.id: job.servers for job in chosen if job.servers},
            servers=self._servers,
            leaves=self._leaves,
            most=most,
            rng=self._rng,
        )

    def _worst_first(self, jobs: Sequence[WaitingJob], now_s: float) -> list[WaitingJob]:
        """By descending rho; equal ones in order of submission."""
        num_gpus = self._servers.num_gpus
        contending = [job for job in jobs if job.workers <= num_gpus]
        contention = self._contention.means(contending, now_s)
        return sorted(
            contending,
            key=lambda job: -finish_time_ratio(job, now_s, contention[job.id], num_gpus),
        )
