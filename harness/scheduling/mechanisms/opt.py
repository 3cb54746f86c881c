"""Synergy-OPT: the best shares that linear programmes find (Synergy, section 4.2). An upper bound.

Its shares belong to one machine that has everything; mapped onto servers, they may ask for
fractions of GPUs, which no cluster can give.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from harness.job_table import Floats, Ints
from harness.scheduling.allocation import Allocation
from harness.scheduling.demands import Demands, Grid
from harness.scheduling.mechanisms.mechanism import Placement
from harness.scheduling.mechanisms.runnable import runnable_jobs
from harness.scheduling.opt.configurations import (
    Capacity,
    ConfigurationPlan,
    Configurations,
    JobClass,
    choose_configurations,
)
from harness.scheduling.opt.mapping import map_to_servers
from harness.scheduling.waiting import ActiveJobs
from traces.server_pool import ServerPool

ANY_SERVER = -1


class Opt:
    """Solves the first programme for the jobs that run; and the second, if it is to place them.

    Rounds with as many jobs of each kind have the same solution, which is kept.
    """

    def __init__(self, demands: Demands, pool: ServerPool, placement: Placement) -> None:
        self._demands = demands
        self._pool = pool
        self._maps = placement == "servers"
        self._capacity = Capacity(
            gpus=np.array([group.count * group.gpus for group in pool.groups], dtype=float),
            cpus=np.array([group.count * group.cpus for group in pool.groups]),
            memory_bytes=np.array([group.count * group.memory_bytes for group in pool.groups]),
        )
        self._servers = Capacity(
            pool.gpus.astype(float), pool.resources[:, 0], pool.resources[:, 1]
        )
        self._configurations: dict[int, Configurations] = {}
        self._plans: dict[Hashable, ConfigurationPlan] = {}
        self._solve_s: list[float] = []
        self._map_s: list[float] = []
        self._most_gap = 0.0
        self._most_fragmented = 0
        self._fractional = 0

    @property
    def order_matters(self) -> bool:
        """Where there are several types of GPU, the first jobs set the floors."""
        return len(self._pool.groups) > 1

    @property
    def iteration_s_by_kind(self) -> Floats:
        """(kinds,): with the wish, on the type of GPU that suits a job best."""
        fastest: Floats = self._demands.wish_iteration_s.min(axis=1)
        return fastest

    def report(self) -> dict[str, float]:
        """Solutions, their time, the gap to the bound, and what the mapping had to cut up."""
        figures = {
            "opt_solutions": float(len(self._solve_s)),
            "opt_solve_mean_s": float(np.mean(self._solve_s)) if self._solve_s else 0.0,
            "opt_solve_max_s": max(self._solve_s, default=0.0),
            "opt_gap_max": self._most_gap,
        }
        if self._maps:
            figures["opt_map_mean_s"] = float(np.mean(self._map_s)) if self._map_s else 0.0
            figures["opt_fragmented_jobs_max"] = float(self._most_fragmented)
            figures["opt_jobs_with_fractional_gpus"] = float(self._fractional)
        return figures

    def allocate(self, active: ActiveJobs, order: Ints, before: Allocation) -> Allocation:
        """The next round's allocation; the one before where the same jobs run."""
        chosen, types = runnable_jobs(active, order, before)
        ascending = np.argsort(chosen)
        chosen, types = chosen[ascending], types[ascending]
        jobs, kinds = active.jobs[chosen], active.kind[chosen]
        if np.array_equal(jobs, before.jobs):
            return before
        num_types = len(self._pool.groups)
        # Jobs of a kind may have their fair share on different types, and so different floors.
        classes, member = np.unique(kinds * num_types + types, return_inverse=True)
        plan = self._plan(classes, np.bincount(member, minlength=len(classes)))
        gpu_type = np.empty(len(jobs), dtype=np.int64)
        share, iteration_s = np.zeros((len(jobs), 3)), np.empty(len(jobs))
        for number, identity in enumerate(classes):
            configurations = self._of_kind(int(identity) // num_types)
            members = np.flatnonzero(member == number)
            fastest_first = np.argsort(-configurations.throughput, kind="stable")
            picked = np.repeat(fastest_first, plan.counts[number][fastest_first])
            num_gpus = self._demands.kinds[int(identity) // num_types].num_gpus
            gpu_type[members] = configurations.gpu_type[picked]
            share[members, 0] = configurations.cpus[picked] / num_gpus
            share[members, 1] = configurations.memory_bytes[picked] / num_gpus
            iteration_s[members] = 1 / configurations.throughput[picked]
        offsets, servers, gpus = self._place(active.num_gpus[chosen], gpu_type, share)
        return Allocation(
            jobs=jobs,
            gpu_type=gpu_type,
            offsets=offsets,
            servers=servers,
            gpus=gpus,
            share=share,
            iteration_s=iteration_s,
            held_to_fair_share=np.zeros(len(jobs), dtype=np.bool_),
        )

    def _plan(self, classes: Ints, counts: Ints) -> ConfigurationPlan:
        key = (classes.tobytes(), counts.tobytes())
        if key not in self._plans:
            plan = choose_configurations(
                [self._job_class(int(c), int(n)) for c, n in zip(classes, counts, strict=True)],
                self._capacity,
            )
            self._plans[key] = plan
            self._solve_s.append(plan.solve_s)
            self._most_gap = max(self._most_gap, plan.gap)
        return self._plans[key]

    def _job_class(self, identity: int, count: int) -> JobClass:
        kind, gpu_type = divmod(identity, len(self._pool.groups))
        return JobClass(
            count=count,
            gpus=self._demands.kinds[kind].num_gpus,
            configurations=self._of_kind(kind),
            floor=float(1 / self._demands.fair_iteration_s[kind, gpu_type]),
        )

    def _of_kind(self, kind: int) -> Configurations:
        """All that one job of ``kind`` could be given; throughput in iterations per second."""
        if kind not in self._configurations:
            num_gpus = self._demands.kinds[kind].num_gpus
            grids: list[tuple[int, Grid]] = [
                (gpu_type, grid)
                for gpu_type, grid in enumerate(self._demands.grids[kind])
                if grid is not None
            ]
            self._configurations[kind] = Configurations(
                gpu_type=np.concatenate(
                    [np.full(len(grid.cpus), gpu_type) for gpu_type, grid in grids]
                ),
                cpus=np.concatenate([grid.cpus * num_gpus for _, grid in grids]),
                memory_bytes=np.concatenate([grid.memory_bytes * num_gpus for _, grid in grids]),
                throughput=np.concatenate([1 / grid.iteration_s for _, grid in grids]),
            )
        return self._configurations[kind]

    def _place(
        self, num_gpus: Ints, gpu_type: Ints, share: Floats
    ) -> tuple[Ints, Ints, Ints | Floats]:
        """(offsets, servers, gpus) as in an Allocation."""
        if not self._maps or not len(num_gpus):
            everywhere = np.full(len(num_gpus), ANY_SERVER, dtype=np.int64)
            return np.arange(len(num_gpus) + 1), everywhere, num_gpus
        server_type = np.repeat(
            np.arange(len(self._pool.groups)), [group.count for group in self._pool.groups]
        )
        mapping = map_to_servers(
            num_gpus.astype(float),
            share[:, 0] * num_gpus,
            share[:, 1] * num_gpus,
            self._servers,
            server_type[:, None] == gpu_type[None, :],
        )
        self._map_s.append(mapping.solve_s)
        self._most_fragmented = max(self._most_fragmented, mapping.fragmented)
        self._fractional += int(mapping.fractional_gpus)
        job, server = np.nonzero(mapping.fractions.T > 0)
        offsets = np.searchsorted(job, np.arange(len(num_gpus) + 1))
        return offsets, server, mapping.fractions[server, job] * num_gpus[job]
