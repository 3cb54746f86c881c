"""One emulated run of rounds from its network to its measurement: build, calibrate, run, judge."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from emulator.evidence import port_evidence, samples_by_port, switch_evidence
from emulator.messages import Message, MessageSocket
from emulator.networks import PlannedNetwork
from emulator.rounds.checkpoint import Checkpoint
from emulator.rounds.cluster_network import (
    NETWORK,
    STORAGE,
    ClusterNetwork,
    plan_cluster_network,
    slot_name,
)
from emulator.rounds.commands import CommandPlace, memory_divisor
from emulator.rounds.evidence import RunEvidence, StepSpan
from emulator.rounds.lease import Lease, RoundOutcome
from emulator.rounds.lease_service import LeaseService
from emulator.rounds.link_load import LinkLoad, link_loads
from emulator.rounds.servers import EmulatedServers
from emulator.rounds.steps import Divisors
from emulator.rounds.storage_ceilings import StorageCeilings
from emulator.rounds.verdict import process_invariants, rounds_invariants
from emulator.rounds.worker_starter import STORAGE_PORT, PipelineKind, WorkerStarter
from emulator.session import Session
from emulator.training.dataset import make_dataset, make_jpeg_dataset
from emulator.training.specification import Work
from emulator.verdict import Status, Verdict, judge
from emulator.watch import DRAIN_S, calibrate, start_sampler, stop_sampler
from netshaper.ecn.marking import Marking
from traces.caller import calling_user
from traces.errors import EmulationError
from traces.server_pool import ServerPool

CONGESTION_CONTROL = "cubic"

FABRIC_BPS = 40e9
"""Of a server's link into the fabric: what the published simulator assumes where none is given."""

DATASET_BYTES = 32 * 2**20
"""Of the file that all jobs read. A job reads a part of it, or goes round in it."""

SAMPLE_INTERVAL_S = 0.1
"""Ports are many and a run is long: sampling may not take the CPU that preparation needs."""


@dataclass(frozen=True)
class RoundsEmulationSettings:
    """What one run is made of. seed: of the order of samples.

    storage_bytes_per_s: of each server's storage link, unscaled. budget_hop_bps: of this box.
    directory: where jobs' own commands start.
    """

    pool: ServerPool
    divisors: Divisors
    storage_bytes_per_s: float
    budget_hop_bps: float
    round_s: float
    seed: int
    work: Work
    directory: Path
    checkpoints: Mapping[str, Checkpoint] = field(default_factory=dict)


@dataclass(frozen=True)
class RoundsMeasurement:
    """What one run gave beside the scheduler's own tables."""

    evidence: RunEvidence
    links: list[LinkLoad]
    verdict: Verdict


class EmulatedRun:
    """A run under way: ``run_round`` is what the loop drives; ``finish`` is its end."""

    def __init__(
        self,
        session: Session,
        network: ClusterNetwork,
        servers: EmulatedServers,
        byte_divisor: float,
        calibrated_bps: Mapping[str, float],
        sampler: MessageSocket,
    ) -> None:
        self.servers = servers
        self.session = session
        self._network = network
        self._byte_divisor = byte_divisor
        self._calibrated_bps = calibrated_bps
        self._sampler = sampler

    def run_round(self, number: int, leases: Sequence[Lease]) -> RoundOutcome:
        """See EmulatedServers."""
        return self.servers.run_round(number, leases)

    @property
    def checkpoints(self) -> Mapping[str, Checkpoint]:
        """Of the jobs that have run and not ended, by id, as of the last round."""
        return self.servers.checkpoints

    def take_spans(self) -> list[StepSpan]:
        """Of the steps that ended since they were last taken."""
        return self.servers.evidence.take_spans()

    def so_far(self) -> Status:
        """The verdict on the workers until now; on the network it comes at the end."""
        return judge(process_invariants(self.servers.evidence)).status

    def finish(self) -> RoundsMeasurement:
        """End what still runs, stop watching, and judge."""
        self.servers.end_all()
        time.sleep(DRAIN_S)
        report = stop_sampler(self._sampler, self.session)
        plan, cluster = self._network.plan, self._network.cluster
        samples = samples_by_port(report["samples"])
        evidence = self.servers.evidence
        return RoundsMeasurement(
            evidence=evidence,
            links=link_loads(plan, samples, evidence.clock, self._byte_divisor),
            verdict=judge(
                rounds_invariants(
                    port_evidence(plan, samples, self._calibrated_bps),
                    switch_evidence(cluster, plan, samples, report["received"]),
                    evidence,
                ),
                self.session.unenforced(Marking.MARKER),
            ),
        )


def plan_run_network(
    run_id: str, pool: ServerPool, storage_bytes_per_s: float, byte_divisor: float
) -> ClusterNetwork:
    """The network of a run on ``pool``: the same for plan and emulate."""
    return plan_cluster_network(
        run_id,
        pool.num_servers,
        int(pool.gpus.max()),
        storage_bytes_per_s * 8,
        FABRIC_BPS,
        byte_divisor,
    )


@contextlib.contextmanager
def emulated_run(session: Session, settings: RoundsEmulationSettings) -> Iterator[EmulatedRun]:
    """Everything that a run needs, gone at the end. Raises EmulationError where it does not come
    up."""
    divisors = settings.divisors
    network = plan_run_network(
        session.state.run_id, settings.pool, settings.storage_bytes_per_s, divisors.bytes
    )
    planned = PlannedNetwork(NETWORK, network.plan, ())
    dataset = session.state.directory / "dataset"
    make = make_jpeg_dataset if settings.work == "jpeg" else make_dataset
    make(dataset, DATASET_BYTES, settings.seed)
    with contextlib.ExitStack() as undo:
        undo.callback(session.remove_network, network.plan)
        session.build_network(network.plan)
        calibrated_bps = calibrate(session, planned, settings.budget_hop_bps)
        storage = session.start("storage", _storage_specification(network, dataset))
        undo.callback(storage.close)
        if storage.receive() is None:
            raise EmulationError(f"the storage server ended early: {session.explain()}")
        service = undo.enter_context(LeaseService(session.state.directory))
        ceilings = StorageCeilings(network, settings.pool.num_servers, divisors.bytes)
        kind = PipelineKind(
            work=settings.work,
            congestion_control=CONGESTION_CONTROL,
            seed=settings.seed,
        )
        commands = CommandPlace(
            directory=settings.directory,
            user=calling_user(os.environ),
            memory_divisor=memory_divisor(float(settings.pool.resources[:, 1].sum())),
        )
        starter = WorkerStarter(session, network, ceilings, divisors, kind, commands)
        servers = undo.enter_context(
            EmulatedServers(starter, service, settings.round_s, divisors, settings.checkpoints)
        )
        sampler = start_sampler(session, planned, SAMPLE_INTERVAL_S)
        undo.callback(sampler.close)
        yield EmulatedRun(session, network, servers, divisors.bytes, calibrated_bps, sampler)


def _storage_specification(network: ClusterNetwork, dataset: Path) -> Message:
    plan = network.plan
    return {
        "namespace": plan.namespaces[STORAGE],
        "address": plan.addresses.server(STORAGE),
        "port": STORAGE_PORT,
        "dscp": plan.job_dscp[slot_name(0)],
        "dataset_file": str(dataset),
        "window_bytes": network.storage_window_bytes,
        "congestion_control": CONGESTION_CONTROL,
    }
