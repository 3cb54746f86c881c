"""What one round gives to the jobs that run in it."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from harness.job_table import Flags, Floats, Ints


@dataclass(frozen=True)
class Allocation:
    """The jobs that run, and what each holds.

    jobs: (n,) rows of the JobTable, ascending. gpu_type: (n,). offsets: (n + 1,); job i holds
    gpus[k] GPUs on servers[k] for k in offsets[i] up to offsets[i + 1]; server -1 stands for all of
    them as one machine, and opt alone gives fractions of GPUs. share: (n, RESOURCES) for
    each GPU of the job. iteration_s: (n,) seconds of an iteration with it. held_to_fair_share:
    (n,), jobs that wished for more.
    """

    jobs: Ints
    gpu_type: Ints
    offsets: Ints
    servers: Ints
    gpus: Ints | Floats
    share: Floats
    iteration_s: Floats
    held_to_fair_share: Flags

    @staticmethod
    def nothing() -> Allocation:
        """No job runs."""
        none = np.empty(0, dtype=np.int64)
        return Allocation(
            jobs=none,
            gpu_type=none,
            offsets=np.zeros(1, dtype=np.int64),
            servers=none,
            gpus=none,
            share=np.empty((0, 3)),
            iteration_s=np.empty(0),
            held_to_fair_share=np.empty(0, dtype=np.bool_),
        )

    def unless_equal(self, before: Allocation) -> Allocation:
        """``before`` itself where this is the same, as a mechanism has to return it; else this."""
        same = all(
            np.array_equal(getattr(self, each.name), getattr(before, each.name))
            for each in fields(self)
        )
        return before if same else self
