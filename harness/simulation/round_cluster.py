"""The simulated cluster of the round loop: it answers from iteration times, at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.job_table import Flags, Floats, Ints, JobTable
from harness.scheduling.allocation import Allocation
from traces.compiled import compiled

Completion = Literal["exact", "round-end"]
Progress = Literal["continuous", "whole-iterations"]
Restarts = Literal["new-leases", "all"]


@dataclass(frozen=True)
class RoundSemantics:
    """How time passes in a simulated round.

    completion: a job ends when its last iteration does, or at the end of that round (the published
    simulator). progress: iterations go on from round to round, or each round holds a whole number
    of them (published). restart_s: lost at the start of a lease. checkpoint_s: lost besides, if the
    job has run before, for the checkpoint at the end of its last lease. restarts: whether only jobs
    with a new lease lose that, or all that run whenever anything changes.
    """

    round_s: float
    completion: Completion = "exact"
    progress: Progress = "continuous"
    restart_s: float = 0.0
    checkpoint_s: float = 0.0
    restarts: Restarts = "new-leases"


class SimulatedCluster:
    """Moves the jobs of a JobTable forward."""

    def __init__(self, table: JobTable, semantics: RoundSemantics) -> None:
        self._table = table
        self._semantics = semantics
        self._resumes_s = np.zeros(len(table))
        self._last: Allocation | None = None

    def run(
        self, allocation: Allocation, new_lease: Flags, first_round: int, last_round: int
    ) -> int:
        """See RoundCluster. GPUs of a job that ends inside a round stay idle until its end."""
        table, semantics = self._table, self._semantics
        jobs, round_s = allocation.jobs, semantics.round_s
        start_s = first_round * round_s
        if semantics.restarts == "all" and allocation is not self._last:
            new_lease = np.ones(len(jobs), dtype=np.bool_)
        self._last = allocation
        started = jobs[new_lease]
        ran_before = table.attained_s[started] > 0
        self._resumes_s[started] = (
            start_s + semantics.restart_s + np.where(ran_before, semantics.checkpoint_s, 0.0)
        )
        begin_s = np.maximum(self._resumes_s[jobs], start_s)
        if (begin_s >= start_s + round_s).any():
            last_round = first_round + 1  # a restart that is longer than the round
        remaining = table.iterations[jobs] - table.done_iterations[jobs]
        if semantics.progress == "continuous":
            end_s = begin_s + remaining * allocation.iteration_s
            rounds_to_end = np.ceil((end_s - start_s) / round_s - 1e-9)
        else:
            rounds_to_end, end_s = _whole_iterations(
                remaining, allocation.iteration_s, begin_s - start_s, round_s
            )
            end_s += start_s
        rounds = last_round - first_round
        if len(jobs):
            rounds = min(rounds, max(int(rounds_to_end.min()), 1))
        next_round = first_round + rounds
        if semantics.completion == "round-end":
            end_s = np.full(len(jobs), next_round * round_s)
        _advance(
            jobs,
            allocation.iteration_s,
            begin_s,
            end_s,
            rounds_to_end <= rounds,
            start_s,
            next_round * round_s,
            rounds,
            round_s,
            semantics.progress == "whole-iterations",
            table.iterations,
            table.done_iterations,
            table.attained_s,
            table.start_s,
            table.finish_s,
            table.last_served_s,
        )
        return next_round


def _whole_iterations(
    remaining: Floats, iteration_s: Floats, late_s: Floats, round_s: float
) -> tuple[Floats, Floats]:
    """(rounds until the last iteration, seconds until then) with whole iterations in each round.

    late_s: how much of the first round is lost.
    """
    in_first = np.floor(np.maximum(round_s - late_s, 0.0) / iteration_s)
    in_others = np.floor(round_s / iteration_s)
    more = np.ceil(np.maximum(remaining - in_first, 0.0) / in_others)
    in_last = np.where(more > 0, remaining - in_first - (more - 1) * in_others, remaining)
    last_begins_s = np.where(more > 0, more * round_s, late_s)
    return 1 + more, last_begins_s + in_last * iteration_s


@compiled
def _advance(
    jobs: Ints,
    iteration_s: Floats,
    begin_s: Floats,
    end_s: Floats,
    ends: Flags,
    start_s: float,
    until_s: float,
    rounds: int,
    round_s: float,
    whole_iterations: bool,
    iterations: Floats,
    done_iterations: Floats,
    attained_s: Floats,
    first_start_s: Floats,
    finish_s: Floats,
    last_served_s: Floats,
) -> None:
    """Write down what ``rounds`` rounds from start_s to until_s did for each job."""
    for position in range(len(jobs)):
        job = jobs[position]
        if np.isnan(first_start_s[job]):
            first_start_s[job] = start_s
        last_served_s[job] = until_s
        if ends[position]:
            done_iterations[job] = iterations[job]
            finish_s[job] = end_s[position]
            attained_s[job] += end_s[position] - start_s
            continue
        attained_s[job] += until_s - start_s
        seconds = iteration_s[position]
        if whole_iterations:
            late_s = begin_s[position] - start_s
            done = np.floor(max(round_s - late_s, 0.0) / seconds)
            done += (rounds - 1) * np.floor(round_s / seconds)
        else:
            done = max(until_s - begin_s[position], 0.0) / seconds
        done_iterations[job] = min(done_iterations[job] + done, iterations[job])
