"""Known models in the simulator: alone as their curves say, and any two of them on one link."""

from __future__ import annotations

import itertools

import pytest

from harness.simulation.fluid import simulate
from traces.arm import Job
from traces.cluster import Port, dumbbell
from traces.demand import demand_curve
from traces.models import RECONSTRUCTED
from traces.topologies.single_switch import single_switch

LINE_RATE_BPS = 50e9
LEAST = {name: max(model.workers[0], 2) for name, model in RECONSTRUCTED.items()}
PAIRS = list(itertools.combinations_with_replacement(RECONSTRUCTED, 2))


def make_job(name: str, job_id: str, servers: tuple[str, ...]) -> Job:
    return Job(id=job_id, profile=RECONSTRUCTED[name].profile(len(servers)), servers=servers)


def across(name: str, job_id: str, first: int) -> Job:
    """The job on servers of both sides of a dumbbell in turn, from the number ``first`` on."""
    numbers = range(first, first + LEAST[name] // 2)
    servers = tuple(f"{side}{number}" for number in numbers for side in ("left", "right"))
    return make_job(name, job_id, servers)


@pytest.mark.parametrize("name", RECONSTRUCTED)
def test_a_job_alone_does_what_its_demand_curve_says(name: str) -> None:
    servers = tuple(f"server{number}" for number in range(2 * LEAST[name]))
    job = make_job(name, "alone", servers)
    simulation = simulate(single_switch(len(servers), LINE_RATE_BPS), [job], 2)
    curve = demand_curve(job.profile.demand, LINE_RATE_BPS)
    second = simulation.iterations["alone"][1]
    assert second.end_s - second.start_s == pytest.approx(curve.period_s)
    port = Port("server0", "switch")
    sent_bits = sum(
        (segment.end_s - segment.start_s) * segment.rate_bps
        for segment in simulation.segments
        if segment.port == port
    )
    on_curve = sum((phase.end_s - phase.start_s) * phase.rate_bps for phase in curve.phases)
    assert sent_bits == pytest.approx(2 * on_curve)


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_any_two_share_a_link(one: str, two: str) -> None:
    jobs = [across(one, "one", 0), across(two, "two", 2)]
    cluster = dumbbell(4, 4, LINE_RATE_BPS)
    middle = Port("switch-left", "switch-right")
    alone_s = {job.id: simulate(cluster, [job], 1).iterations[job.id][0].end_s for job in jobs}
    simulation = simulate(cluster, jobs, 3)
    on_link = {segment.job for segment in simulation.segments if segment.port == middle}
    assert on_link == {"one", "two"}
    for job_id, iterations in simulation.iterations.items():
        assert len(iterations) == 3
        lengths = [iteration.end_s - iteration.start_s for iteration in iterations]
        assert min(lengths) >= alone_s[job_id] * (1 - 1e-9)
