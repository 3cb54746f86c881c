"""Footprints of jobs are computed once for a place, and are those of the jobs there."""

from __future__ import annotations

import numpy as np
import pytest

from harness.scheduling.cassini.footprints import Footprints, num_ports
from harness.scheduling.cassini.links import ClusterLinks, Footprint
from tests.unit.builders import make_job, toy_cluster
from traces.arm import Job

ACROSS, BACK, LEFT = ("left0", "right0"), ("right0", "left0"), ("left0", "left1")


class Counted(ClusterLinks):
    """computed: jobs and servers, one for each footprint."""

    def __init__(self) -> None:
        super().__init__(toy_cluster())
        self.computed: list[tuple[str, tuple[str, ...]]] = []

    def footprint(self, job: Job) -> Footprint:
        self.computed.append((job.id, job.servers))
        return super().footprint(job)


def test_a_footprint_is_that_of_the_job_on_the_servers() -> None:
    job = make_job("one")
    for servers in (ACROSS, LEFT):
        found = Footprints(ClusterLinks(toy_cluster())).of(job, servers)
        expected = ClusterLinks(toy_cluster()).footprint(make_job("one", servers))
        assert found.job == "one"
        assert found.ports.tolist() == expected.ports.tolist()
        assert found.curves == expected.curves


def test_it_is_computed_once_for_a_job_and_a_place() -> None:
    links = Counted()
    footprints = Footprints(links)
    one, two = make_job("one"), make_job("two")
    asked = [(one, ACROSS), (two, ACROSS), (one, LEFT), (one, BACK)]
    found = [[footprints.of(*each) for each in asked] for _ in range(3)]
    assert links.computed == [(job.id, servers) for job, servers in asked]
    for again in found[1:]:
        assert all(each is known for each, known in zip(again, found[0], strict=True))


@pytest.mark.parametrize(
    ("ports", "expected"), [([], 0), ([[]], 0), ([[1, 2], [2, 5]], 3), ([[4], []], 1)], ids=str
)
def test_a_port_counts_once_however_many_jobs_use_it(ports: list[list[int]], expected: int) -> None:
    footprints = [Footprint("job", np.array(each, dtype=np.int64), ()) for each in ports]
    assert num_ports(footprints) == expected
