"""Active jobs whose progress is set by hand, and the order in which a policy puts them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.scheduling.policies import POLICIES
from harness.scheduling.policies.policy import Policy
from harness.scheduling.waiting import ActiveJobs
from tests.unit.harness.scheduling_builders import Kind, active_of, demands_of, pool_of, table_of

ONE_GPU = Kind()
TWO_GPUS = Kind(num_gpus=2)


def jobs_of(
    *kinds: Kind,
    iterations: Sequence[float],
    done: Sequence[float] | None = None,
    submit_s: Sequence[float] | None = None,
    attained_s: Sequence[float] | None = None,
    now_s: float = 0.0,
) -> ActiveJobs:
    """One job of each kind, on 4 servers of 4 GPUs."""
    pool = pool_of(servers=4, gpus=4)
    demands = demands_of(pool, *kinds)
    table = table_of(
        demands, iterations=iterations, submit_s=submit_s, kinds=list(range(len(kinds)))
    )
    table.done_iterations[:] = 0.0 if done is None else done
    table.attained_s[:] = 0.0 if attained_s is None else attained_s
    return active_of(table, demands, pool, now_s)


def order_of(policy: str | Policy, active: ActiveJobs) -> list[int]:
    """Ascending keys, equal ones in order of submission, as the scheduler takes them."""
    chosen = POLICIES[policy]() if isinstance(policy, str) else policy
    return active.jobs[np.argsort(chosen.key(active), kind="stable")].tolist()
