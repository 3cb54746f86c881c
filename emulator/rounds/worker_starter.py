"""Starts, changes and removes the workers of jobs: processes, cgroups, storage bandwidth."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from emulator.rounds.checkpoint import WorkerCheckpoint
from emulator.rounds.cluster_network import STORAGE, ClusterNetwork, server_name
from emulator.rounds.commands import CommandPlace, command_specification
from emulator.rounds.lease import Held, Lease
from emulator.rounds.running_job import RunningJob, RunningWorker
from emulator.rounds.steps import Divisors, WorkerWork, work_on, worker_work
from emulator.rounds.storage_ceilings import StorageCeilings
from emulator.rounds.whole_cores import WholeCores
from emulator.session import Session
from emulator.training.specification import LoaderSpecification, PipelineState, StorageRoute, Work

STORAGE_PORT = 19000
_FIRST_BARRIER_PORT = 20000
_BARRIER_PORTS = 40000

GUARD_BYTES = 128 * 2**20
"""Memory of an input pipeline beside its cache: the interpreter, threads, items on their way."""

PREFETCH_STEPS = 2


@dataclass(frozen=True)
class PipelineKind:
    """What is the same for the pipelines of all jobs of a run."""

    work: Work
    congestion_control: str
    seed: int


class WorkerStarter:
    """The hands of EmulatedServers."""

    def __init__(
        self,
        session: Session,
        network: ClusterNetwork,
        ceilings: StorageCeilings,
        divisors: Divisors,
        kind: PipelineKind,
        commands: CommandPlace,
    ) -> None:
        self._session = session
        self._network = network
        self._ceilings = ceilings
        self._divisors = divisors
        self._kind = kind
        self._commands = commands
        self._cores = WholeCores(frozenset(os.sched_getaffinity(0)))

    def start(
        self, lease: Lease, lease_address: str, checkpoints: Sequence[WorkerCheckpoint | None]
    ) -> RunningJob:
        """The workers of ``lease``, on their way to registering."""
        job = RunningJob(lease)
        for rank, held in enumerate(lease.held):
            job.workers.append(self._prepare(lease, rank, held))
        for worker, checkpoint in zip(job.workers, checkpoints, strict=True):
            place = _group_name(lease, worker.held)
            if lease.command is not None:
                specification = command_specification(
                    lease, worker, lease_address, self._network, self._commands
                )
                worker.process = self._session.start("command", specification, place)
                continue
            specification = self._specification(job, worker, lease_address, checkpoint)
            worker.process = self._session.start("trainer", specification, place)
        return job

    def change(self, job: RunningJob, lease: Lease) -> None:
        """Give the workers of ``job`` the CPUs, memory and storage bandwidth of ``lease``."""
        for worker, held in zip(job.workers, lease.held, strict=True):
            worker.held = held
            worker.work = self._work(lease, held)
            self._limit(worker)
            worker.is_changed = True

    def changes(self, worker: RunningWorker) -> dict[str, Any]:
        """What ``worker`` has to be told beside going on."""
        if not worker.is_changed:
            guard_bytes = worker.work.share.cache_bytes + GUARD_BYTES
            if guard_bytes < worker.guard_bytes:
                self._guard(worker, guard_bytes)
            return {}
        worker.is_changed = False
        work = worker.work
        return {"do": "change", "pipeline": asdict(work.pipeline), "share": asdict(work.share)}

    def remove(self, job: RunningJob) -> None:
        """End what is left of the workers' processes, and everything they held."""
        for worker in job.workers:
            if worker.process is not None:
                worker.process.close()
            if worker.group is not None:
                worker.group.remove()
            self._session.end_group(_group_name(job.lease, worker.held))
            self._cores.give_back(id(worker))
            self._ceilings.give_back(worker.held.server, worker.slot)

    def explain(self) -> str:
        """What a worker last wrote to its standard error, as the end of a sentence."""
        said = self._session.explain()
        return f": {said}" if said else ""

    def _prepare(self, lease: Lease, rank: int, held: Held) -> RunningWorker:
        slot = self._ceilings.take(held.server)
        group = self._session.limited_group(f"{_group_name(lease, held)}-loader")
        worker = RunningWorker(rank, held, self._work(lease, held), slot, group)
        self._limit(worker)
        return worker

    def _work(self, lease: Lease, held: Held) -> WorkerWork:
        work = worker_work(lease.stages, held.gpus, held.cpus, held.memory_bytes, self._divisors)
        if lease.command is None:
            return work
        # Each of its iterations is counted, and its memory is what it takes.
        memory_bytes = int(held.memory_bytes / self._commands.memory_divisor)
        share = replace(work.share, cache_bytes=memory_bytes)
        return replace(work, share=share, iterations_per_step=self._divisors.stride)

    def _limit(self, worker: RunningWorker) -> None:
        work, held = worker.work, worker.held
        # A cache that is to shrink does so once the worker has heard of it.
        self._guard(worker, max(work.share.cache_bytes + GUARD_BYTES, worker.guard_bytes))
        self._ceilings.hold(held.server, worker.slot, held.storage_bytes_per_s)

    def _guard(self, worker: RunningWorker, guard_bytes: int) -> None:
        worker.guard_bytes = guard_bytes
        if worker.group is not None:
            missing = worker.group.missing
            cores = self._cores.hold(id(worker), worker.work.cpu_cores)
            worker.group.set(
                cpu_cores=None if "cpu" in missing else worker.work.cpu_cores,
                memory_bytes=None if "memory" in missing else guard_bytes,
                cpus=None if "cpuset" in missing else cores,
            )

    def _specification(
        self,
        job: RunningJob,
        worker: RunningWorker,
        lease_address: str,
        checkpoint: WorkerCheckpoint | None,
    ) -> dict[str, Any]:
        lease, plan, work = job.lease, self._network.plan, worker.work
        node = server_name(worker.held.server)
        own_address = plan.addresses.server(node)
        state = checkpoint.pipeline if checkpoint else self._first_state(lease, worker)
        loader = LoaderSpecification(
            namespace=plan.namespaces[node],
            route=StorageRoute(
                own_address=own_address,
                address=plan.addresses.server(STORAGE),
                port=STORAGE_PORT,
                dscp=self._ceilings.dscp(worker.slot),
                window_bytes=self._network.storage_window_bytes,
                congestion_control=self._kind.congestion_control,
            ),
            pipeline=work.pipeline,
            share=work.share,
            state=state,
            shuffle_seed=(self._kind.seed << 32) + (lease.number << 8) + worker.rank,
            prefetch_steps=PREFETCH_STEPS,
            work=work_on(work.pipeline.item_bytes, self._kind.work),
        )
        return {
            "job": lease.job,
            "rank": worker.rank,
            "lease_address": lease_address,
            "namespace": plan.namespaces[node],
            "step_s": work.step_s,
            "steps_left": lease.iterations_left / work.iterations_per_step,
            "begun": checkpoint.begun if checkpoint else None,
            "loader": asdict(loader),
            "loader_groups": [str(path) for path in (worker.group.paths if worker.group else ())],
            "barrier": self._barrier(job, worker, own_address),
        }

    def _first_state(self, lease: Lease, worker: RunningWorker) -> PipelineState:
        """Of a job that has not run.

        Where a step stands for many iterations, the wait for the first one would count as often. So
        that part of a step is ready that the GPU computes for in the time between two: n steps then
        take n times the slowest stage's.
        """
        if self._divisors.stride == 1:
            return PipelineState()
        held, pipeline = worker.held, worker.work.pipeline
        iteration_s = lease.stages.iteration_s(
            held.cpus / held.gpus,
            held.memory_bytes / held.gpus,
            held.storage_bytes_per_s / held.gpus,
        )
        return PipelineState(ready_items=round(pipeline.items * lease.stages.gpu_s / iteration_s))

    def _barrier(
        self, job: RunningJob, worker: RunningWorker, own_address: str
    ) -> dict[str, Any] | None:
        if len(job.workers) == 1:
            return None
        root = server_name(job.workers[0].held.server)
        return {
            "rank": worker.rank,
            "ranks": len(job.workers),
            "address": own_address,
            "root_address": self._network.plan.addresses.server(root),
            "port": _FIRST_BARRIER_PORT + job.lease.number % _BARRIER_PORTS,
            "dscp": self._ceilings.dscp(worker.slot),
        }


def _group_name(lease: Lease, held: Held) -> str:
    return f"job{lease.number}-{server_name(held.server)}"
