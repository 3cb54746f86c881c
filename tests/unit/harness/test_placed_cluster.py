"""Jobs of hand-made networks, started and ended as their leases say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from harness.leases import Leases
from harness.placed_cluster import PlacedCluster
from tests.unit.harness.placed_builders import (
    allocation,
    arriving,
    placed_arm,
    scheduler_spec,
    table_of,
)
from traces.arm import Arm, Job
from traces.input_pipeline import Share
from traces.results import IterationSpan
from traces.schedule import TimeShift

ROUND_S = 10.0
SHIFT, OTHER_SHIFT = TimeShift(0.5, 2.0), TimeShift(1.0, 2.0)
HERE, THERE = ("server0", "server1"), ("server1", "server2")


class SteadyJobs:
    """A network on which an iteration takes 2 s. told: what it was told, in order."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.told: list[tuple[object, ...]] = []
        self._jobs: dict[str, tuple[float, int]] = {}

    def start(self, job: Job, iterations: int, shift: TimeShift | None) -> None:
        assert job.id not in self._jobs
        self.told.append(("start", job.id, job.servers, job.start_s, iterations, shift))
        self._jobs[job.id] = (job.start_s, iterations)

    def end(self, job: str) -> None:
        self.told.append(("end", job))
        del self._jobs[job]

    def change_shift(self, job: str, shift: TimeShift | None) -> None:
        self.told.append(("change", job, shift))

    def change_share(self, job: Job) -> None:
        self.told.append(("share", job.id, job.share))

    def run(self, until_s: float) -> None:
        assert until_s >= self.now_s
        self.now_s = until_s

    def spans(self, job: str) -> Sequence[IterationSpan]:
        start_s, iterations = self._jobs[job]
        count = min(iterations, max(0, int((self.now_s - start_s) // 2)))
        return [
            IterationSpan(start_s + 2 * i, start_s + 2 * i + 1, start_s + 2 * i + 2)
            for i in range(count)
        ]


class Scheduled:
    """The round loop's side of a cluster, with placements and shifts by hand."""

    def __init__(self, arm: Arm) -> None:
        self.arm = arm
        self.table = table_of(arm)
        self.network = SteadyJobs()
        self.shifts: Mapping[str, TimeShift] = {}
        self.shares: Mapping[str, Share] = {}
        self.cluster = PlacedCluster(arm, self.table, self.network, self)
        self._leases = Leases(self.table)
        self._round = 0

    def round(self, placement: Mapping[str, Sequence[str]]) -> list[tuple[object, ...]]:
        """Run one; what the network was told meanwhile."""
        self.network.told.clear()
        found = allocation(self.arm, placement)
        new = self._leases.renew(found, self._round * ROUND_S)
        last = self._round + 5
        assert self.cluster.run(found, new, self._round, last) == self._round + 1
        self._round += 1
        return list(self.network.told)


@pytest.fixture
def scheduled() -> Scheduled:
    jobs = (arriving("one", 2, iterations=9), arriving("two", 2, iterations=3))
    spec = scheduler_spec(round="10 s", restart="1 s")
    return Scheduled(placed_arm(jobs, scheduler=spec))


def test_a_job_starts_after_the_restart_and_ends_within_its_round(scheduled: Scheduled) -> None:
    told = scheduled.round({"one": HERE, "two": THERE})
    assert told == [
        ("start", "one", HERE, 1.0, 9, None),
        ("start", "two", THERE, 1.0, 3, None),
        ("end", "two"),
    ]
    table = scheduled.table
    assert table.start_s.tolist() == [1.0, 1.0]
    assert table.done_iterations.tolist() == [4.0, 3.0]
    assert np.isnan(table.finish_s[0])
    assert table.finish_s[1] == 7.0
    assert table.attained_s.tolist() == [10.0, 7.0]
    assert table.last_served_s.tolist() == [10.0, 10.0]


def test_a_job_that_keeps_its_lease_is_left_alone(scheduled: Scheduled) -> None:
    scheduled.round({"one": HERE})
    assert scheduled.round({"one": HERE}) == [("end", "one")]
    assert scheduled.table.finish_s[0] == 19.0
    assert scheduled.table.attained_s[0] == 19.0
    (stint,) = scheduled.cluster.stints
    assert (stint.job, stint.first_iteration, stint.servers) == ("one", 0, HERE)
    assert len(stint.spans) == 9


def test_a_preempted_job_goes_on_where_it_was(scheduled: Scheduled) -> None:
    scheduled.round({"one": HERE})
    assert scheduled.round({"two": HERE})[0] == ("end", "one")
    assert scheduled.round({"one": HERE}) == [("start", "one", HERE, 21.0, 5, None)]
    table = scheduled.table
    assert table.done_iterations.tolist() == [8.0, 3.0]
    assert table.start_s.tolist() == [1.0, 11.0]
    assert table.attained_s.tolist() == [20.0, 7.0]
    scheduled.round({"one": HERE})
    assert table.finish_s[0] == 31.0
    stints = [(s.job, s.first_iteration, len(s.spans)) for s in scheduled.cluster.stints]
    assert stints == [("one", 0, 4), ("two", 0, 3), ("one", 4, 5)]


def test_a_job_that_moves_ends_here_before_it_starts_there(scheduled: Scheduled) -> None:
    scheduled.round({"one": HERE})
    told = scheduled.round({"one": THERE})
    assert told[:2] == [("end", "one"), ("start", "one", THERE, 11.0, 5, None)]
    assert [stint.servers for stint in scheduled.cluster.stints] == [HERE]
    assert scheduled.table.start_s[0] == 1.0


def test_all_end_before_any_starts(scheduled: Scheduled) -> None:
    scheduled.round({"one": HERE})
    told = scheduled.round({"two": THERE, "one": THERE})
    assert [words[0] for words in told[:3]] == ["end", "start", "start"]


def test_an_iteration_that_ends_while_others_decide_is_done_again(scheduled: Scheduled) -> None:
    scheduled.round({"one": HERE})
    scheduled.network.now_s += 1.5  # as it passes while a scheduler decides; the fifth ends
    scheduled.round({})
    scheduled.network.now_s = 20.0
    assert scheduled.round({"one": HERE})[0] == ("start", "one", HERE, 21.0, 5, None)
    scheduled.round({"one": HERE})
    numbers = [
        stint.first_iteration + index
        for stint in scheduled.cluster.stints
        for index in range(len(stint.spans))
    ]
    assert numbers == list(range(9))


def test_a_shift_is_changed_only_where_it_is_another(scheduled: Scheduled) -> None:
    scheduled.shifts = {"one": SHIFT}
    assert scheduled.round({"one": HERE})[0][-1] == SHIFT
    scheduled.shifts = {"one": TimeShift(0.5, 2.0)}
    assert ("change", "one", SHIFT) not in scheduled.round({"one": HERE, "two": THERE})


def test_a_running_job_takes_another_shift_or_none() -> None:
    jobs = (arriving("one", 2, iterations=90), arriving("two", 2))
    spec = scheduler_spec(round="10 s", restart="1 s")
    scheduled = Scheduled(placed_arm(jobs, scheduler=spec))
    scheduled.round({"one": HERE})
    scheduled.shifts = {"one": OTHER_SHIFT}
    assert scheduled.round({"one": HERE}) == [("change", "one", OTHER_SHIFT)]
    assert scheduled.round({"one": HERE}) == []
    scheduled.shifts = {}
    assert scheduled.round({"one": HERE}) == [("change", "one", None)]


def test_the_end_of_a_run_ends_its_jobs(scheduled: Scheduled) -> None:
    scheduled.round({"one": HERE})
    scheduled.network.told.clear()
    scheduled.cluster.end_all()
    assert scheduled.network.told == [("end", "one")]
    assert [len(stint.spans) for stint in scheduled.cluster.stints] == [4]
    assert np.isnan(scheduled.table.finish_s[0])
