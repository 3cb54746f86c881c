"""Jobs that come and go on a simulated network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from emulator.timeshift import agent_of
from harness.simulation.fluid import FluidNetwork
from harness.simulation.job import SimulatedJob
from traces.arm import Job
from traces.cluster import Cluster
from traces.results import IterationSpan
from traces.schedule import TimeShift


class SimulatedNetworkJobs:
    """See harness.placed_cluster.NetworkJobs."""

    def __init__(self, cluster: Cluster, network: FluidNetwork) -> None:
        self._cluster = cluster
        self._network = network
        self._jobs: dict[str, SimulatedJob] = {}
        self.adjustments: Counter[str] = Counter()

    def start(self, job: Job, iterations: int, shift: TimeShift | None) -> None:
        """Begin ``job`` at its own ``start_s``."""
        simulated = SimulatedJob(job, self._cluster, iterations, agent_of(shift, 0.0))
        self._jobs[job.id] = simulated
        self._network.add(simulated)

    def end(self, job: str) -> None:
        """Take ``job`` off."""
        simulated = self._jobs.pop(job)
        self._network.remove(simulated)
        self._count(simulated)

    def change_shift(self, job: str, shift: TimeShift | None) -> None:
        """From its next iteration on."""
        simulated = self._jobs[job]
        self._count(simulated)
        simulated.agent = agent_of(shift, 0.0)

    def change_share(self, job: Job) -> None:
        """From its next iteration on."""
        self._jobs[job.id].take_demand(job.profile.demand)

    def run(self, until_s: float) -> None:
        """Let time pass."""
        self._network.run(until_s)

    def spans(self, job: str) -> Sequence[IterationSpan]:
        """What ``job`` has done since it was started last."""
        return self._jobs[job].done

    def _count(self, job: SimulatedJob) -> None:
        if job.agent is not None:
            self.adjustments[job.job.id] += job.agent.adjustments
