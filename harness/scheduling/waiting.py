"""What a policy sees: the jobs that are neither finished nor still to come."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from harness.job_table import Flags, Floats, Ints, JobTable
from harness.scheduling.demands import Demands
from traces.server_pool import ServerPool


@dataclass(frozen=True)
class ActiveJobs:
    """The active jobs at ``now_s``, in order of submission; each property is (jobs,).

    iteration_s: seconds of an iteration on which an order by duration rests, that is, with what the
    mechanism would like to give the job; last_iteration_s: as it was in the last round that was
    decided, where a job may have been held to its fair share.
    """

    jobs: Ints
    now_s: float
    table: JobTable
    demands: Demands
    pool: ServerPool
    iteration_s_by_kind: Floats
    last_iteration_s: Floats

    @functools.cached_property
    def kind(self) -> Ints:
        """Row in the Demands."""
        return self.table.kind[self.jobs]

    @functools.cached_property
    def num_gpus(self) -> Ints:
        """GPUs that the job asks for."""
        return self.table.num_gpus[self.jobs]

    @functools.cached_property
    def submit_s(self) -> Floats:
        """When the job was submitted."""
        return self.table.submit_s[self.jobs]

    @functools.cached_property
    def remaining_iterations(self) -> Floats:
        """Iterations still to do."""
        return self.table.iterations[self.jobs] - self.table.done_iterations[self.jobs]

    @functools.cached_property
    def remaining_s(self) -> Floats:
        """Time that the job still needs on its GPUs, with what it would like to have."""
        return self.remaining_iterations * self.iteration_s_by_kind[self.kind]

    @functools.cached_property
    def runs(self) -> Flags:
        """Whether the job held GPUs until now."""
        flags: Flags = self.table.last_served_s[self.jobs] == self.now_s
        return flags & (self.table.attained_s[self.jobs] > 0)

    @functools.cached_property
    def attained_gpu_s(self) -> Floats:
        """GPU time that the job has had."""
        return self.table.attained_s[self.jobs] * self.num_gpus

    @functools.cached_property
    def proportional_iteration_s(self) -> Floats:
        """Seconds of an iteration at the fair share, on the type of GPU that suits the job best."""
        fastest: Floats = self.demands.fair_iteration_s.min(axis=1)
        return fastest[self.kind]

    @functools.cached_property
    def alone_s(self) -> Floats:
        """Duration of the whole job at the fair share, without waiting."""
        return self.table.iterations[self.jobs] * self.proportional_iteration_s

    @functools.cached_property
    def share_of_cluster(self) -> Floats:
        """(jobs, 1 + RESOURCES): the job's wish as a share of all GPUs, CPUs, memory, storage."""
        total = self.pool.resources.sum(axis=0)
        wish = self.demands.wish.max(axis=1)[self.kind] * self.num_gpus[:, None]
        share = np.divide(wish, total, out=np.zeros_like(wish), where=total > 0)
        return np.column_stack([self.num_gpus / self.pool.num_gpus, share])
