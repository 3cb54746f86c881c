"""Jobs and servers with defaults, and jobs of any kind of which some already run."""

from __future__ import annotations

from hypothesis import strategies as st

from harness.scheduling.placed.policy import Choice, GpuServers, WaitingJob
from traces.cluster import Cluster
from traces.topologies.cassini_24 import cassini_24
from traces.topologies.dumbbell import dumbbell
from traces.topologies.leaf_spine import leaf_spine
from traces.topologies.single_switch import single_switch

RATE_BPS = 1e9

SEED = 5


def servers_of(cluster: Cluster, gpus: int = 1) -> GpuServers:
    return GpuServers(cluster, dict.fromkeys(cluster.servers, gpus))


def job(
    name: str,
    workers: int = 1,
    submit_s: float = 0.0,
    left: float = 100.0,
    done: float = 0.0,
    servers: tuple[str, ...] = (),
) -> WaitingJob:
    """Iterations take a second; it may have no other number of workers."""
    choices = (Choice(workers, 1.0, 1.0),)
    return WaitingJob(name, workers, submit_s, left, done, done, 1.0, servers, choices=choices)


@st.composite
def servers_and_jobs(draw: st.DrawFn) -> tuple[GpuServers, list[WaitingJob]]:
    """Jobs submitted before 100 s, in order; some run, and some may be larger than the cluster."""
    cluster = draw(
        st.sampled_from(
            [
                cassini_24(),
                single_switch(5, RATE_BPS),
                leaf_spine(6, 3, 2, RATE_BPS),
                dumbbell(2, 3, RATE_BPS),
            ]
        )
    )
    gpus = {server: draw(st.integers(0, 3)) for server in cluster.servers}
    servers = GpuServers(cluster, gpus)
    free = draw(st.permutations([server for server, count in gpus.items() for _ in range(count)]))
    jobs = []
    submissions = sorted(draw(st.lists(st.integers(0, 99), max_size=8)))
    for index, submit_s in enumerate(submissions):
        workers = draw(st.integers(1, 9))
        runs = workers <= len(free) and draw(st.booleans())
        on, free = (free[:workers], free[workers:]) if runs else ([], free)
        left, done = draw(st.integers(1, 50)), draw(st.integers(0, 50))
        jobs.append(job(f"job{index}", workers, submit_s, left, done, tuple(on)))
    return servers, jobs
