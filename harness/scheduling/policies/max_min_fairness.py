"""Finish-time fairness as a convex programme over fractions of time, as Gavel and Muri solve it.

Themis (NSDI'20, section 3) asks for a small largest rho, a job's time in the shared cluster over
its time in a share of its own. Gavel (OSDI'20, section 4.2) makes a programme of it: over fractions
x of time, minimise the largest (age + remaining / x) / isolated time, with GPUs x x summed at most
all GPUs. Muri's experiments (SIGCOMM'22; ``cluster_exp``) solve it whenever a job has come or
ended, and put first the job with the largest x over the number of times that it was launched. Gavel
orders every round, by x over the time that a job has had since the programme was last solved.

An optimum needs no solver: at a given rho each job needs at least x = remaining / (rho x isolated -
age), which falls with rho.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from harness.job_table import Floats, Ints
from harness.scheduling.policies.policy import Policy
from harness.scheduling.waiting import ActiveJobs

_NEVER_LAUNCHED = 1e9  # a factor, as in Gavel and Muri, that puts a job before all that have run
_FULL = 1e-9  # of all GPUs: less than this left over is none
_MOMENT_S = 1e-6  # what a job needs at least that rounding has left without work before its end


def time_fractions(
    age_s: Floats, remaining_s: Floats, isolated_s: Floats, num_gpus: Ints, all_gpus: int
) -> Floats:
    """(jobs,) fractions of time, 0 < x <= 1, that minimise the largest finish-time ratio rho.

    remaining_s: above 0. isolated_s: the whole time of a job, from its submission, in a share of
    its own. Where GPUs are left over, only the job that sets rho has one x; the others get the
    analytic centre of what is allowed, near which interior-point solvers end.
    """

    def least(rho: float) -> Floats:
        return np.minimum(remaining_s / (rho * isolated_s - age_s), 1.0)

    def overbooked(rho: float) -> float:
        return float(num_gpus @ least(rho)) - all_gpus

    # Even all the time of the cluster does not make the largest ratio smaller than this.
    rho = float(((age_s + remaining_s) / isolated_s).max())
    if overbooked(rho) > 0:
        upper = 2 * rho
        while overbooked(upper) > 0:
            upper *= 2
        rho = brentq(overbooked, rho, upper, xtol=1e-13 * rho, rtol=1e-14)
    return _analytic_centre(least(rho), num_gpus, all_gpus)


def _analytic_centre(least: Floats, num_gpus: Ints, all_gpus: int) -> Floats:
    """The maximum of sum log(x - least) + sum log(1 - x) + log(all_gpus - num_gpus @ x).

    With y for 1 / (all_gpus - num_gpus @ x) each x follows from a quadratic equation, and y x the
    GPUs left over grows with y, so that a root finder does the rest.
    """
    if all_gpus - float(num_gpus @ least) <= _FULL * all_gpus:
        return least
    width = 1 - least

    def centre(y: float) -> Floats:
        steepness = num_gpus * y * width
        return least + 2 * width / (2 + steepness + np.sqrt(4 + steepness**2))

    def off(y: float) -> float:
        return y * (all_gpus - float(num_gpus @ centre(y))) - 1

    upper = 1.0
    while off(upper) < 0:
        upper *= 2
    return centre(brentq(off, 0.0, upper, xtol=1e-15, rtol=1e-13))


class _FairShares:
    """What one run has to remember: of each job, its launches and its progress in isolation.

    as_muri: isolated times in iterations rather than seconds, and shares of whole GPUs.
    """

    def __init__(self, *, as_muri: bool) -> None:
        self._as_muri = as_muri
        self._launches = np.empty(0)
        self._active = np.empty(0, dtype=np.int64)
        self._key = np.empty(0)

    def key(self, active: ActiveJobs) -> Floats:
        if len(self._launches) != len(active.table):
            self._launches = np.zeros(len(active.table))
            self._isolated_s = np.zeros(len(active.table))
            self._done_iterations = np.zeros(len(active.table))
            self._share = np.ones(len(active.table))
        elif np.array_equal(active.jobs, self._active):
            return self._key
        jobs = active.jobs
        self._launches[jobs] += active.runs
        fractions = time_fractions(
            active.now_s - active.submit_s,
            np.maximum(active.remaining_s, _MOMENT_S),
            self._isolated(active),
            active.num_gpus,
            active.pool.num_gpus,
        )
        launches = self._launches[jobs]
        had = np.where(launches > 0, launches, 1 / _NEVER_LAUNCHED)
        self._active, self._key = jobs, -fractions / had
        return self._key

    def _isolated(self, active: ActiveJobs) -> Floats:
        """Time of each job in its share: for what is done as the shares were, then as they are."""
        jobs = active.jobs
        iteration_s = 1.0 if self._as_muri else active.proportional_iteration_s
        done = active.table.done_iterations[jobs]
        progress = done - self._done_iterations[jobs]
        self._isolated_s[jobs] += progress * iteration_s / self._share[jobs]
        self._done_iterations[jobs] = done
        gpus_each = active.pool.num_gpus / len(jobs)
        if self._as_muri:
            gpus_each = np.ceil(gpus_each)
        self._share[jobs] = np.minimum(gpus_each / active.num_gpus, 1.0)
        remaining = active.remaining_iterations * iteration_s
        isolated: Floats = self._isolated_s[jobs] + remaining / self._share[jobs]
        return isolated


def themis_max_min() -> Policy:
    """A policy that knows of no job yet. Steady: between arrivals and ends the order stays."""
    return Policy(_FairShares(as_muri=False).key, steady=True)


def themis_muri() -> Policy:
    """As Muri's code has it. For comparison with its results only.

    Its isolated times are in iterations, for its ``isolated throughput`` is the share alone, while
    ages and remaining times are in seconds: jobs with short iterations look as if they suffered
    less. A job's share is rounded up to a whole number of GPUs.
    """
    return Policy(_FairShares(as_muri=True).key, steady=True)
