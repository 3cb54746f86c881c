"""Starts the workers of the jobs on a network and connects them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from emulator.command_worker import END_S
from emulator.coordinator import JobRun, connect_workers, end_workers
from emulator.host_identity import hosts_text
from emulator.messages import Message, MessageSocket
from emulator.networks import PlannedNetwork, common_window_bytes
from emulator.rendezvous import rendezvous
from emulator.scale import ScalePlan
from emulator.session import Session
from emulator.worker import flows_by_rank
from traces.arm import Job, JobCommand
from traces.caller import calling_user
from traces.workload_spec import MAX_WORKERS

FIRST_PORT = 20000


def start_jobs(
    session: Session,
    networks: Sequence[PlannedNetwork],
    iterations: Callable[[Job], int],
    scale: ScalePlan,
    congestion_control: str,
    logs: Path | None = None,
) -> list[JobRun]:
    """All jobs of ``networks``, their workers connected and waiting for the first iteration.

    logs: the directory, made where there is something for it, for what each job's command writes on
        each server, in JOB.SERVER.log; None where only the last line is for an error.
    The workers are the caller's to end.
    """
    runs: list[JobRun] = []
    try:
        for network in networks:
            for index, job in enumerate(network.jobs):
                first_port = FIRST_PORT + index * MAX_WORKERS
                workers = start_workers(
                    session, network, job, first_port, scale, congestion_control, logs=logs
                )
                runs.append(
                    JobRun(
                        job.id,
                        workers,
                        iterations(job),
                        start_after_s=job.start_s,
                        quiet_s=job.profile.demand.compute_s,
                        end_s=0.0 if job.command is None else END_S,
                    )
                )
        for run in runs:
            connect_workers(run.workers, session.explain)
    except BaseException:
        end_workers(runs)
        raise
    return runs


def worker_timeline(job: Job, rank: int, scale: ScalePlan) -> Message:
    """A worker's compute timeline with what it sends and receives, in scaled payload bytes.

    What stays inside a server crosses no link, and takes no time here as in the simulator.
    """
    transfers = []
    for transfer in job.profile.demand.transfers:
        flows = flows_by_rank(
            [
                (source, destination, scale.payload_bytes(size))
                for source, destination, size in transfer.flows(len(job.servers))
                if job.servers[source] != job.servers[destination]
            ]
        )
        limit = transfer.rate_limit_bps
        transfers.append(
            {
                "ready_s": transfer.ready_s,
                "blocking": transfer.blocking,
                "rate_limit_bytes_per_s": None if limit is None else scale.payload_bytes(limit / 8),
                "send": flows["send"][rank],
                "receive": flows["receive"][rank],
            }
        )
    return {"compute_s": job.profile.demand.compute_s, "transfers": transfers}


def start_workers(
    session: Session,
    network: PlannedNetwork,
    job: Job,
    first_port: int,
    scale: ScalePlan,
    congestion_control: str,
    group: str | None = None,
    inputs: Sequence[Message] = (),
    logs: Path | None = None,
) -> list[MessageSocket]:
    """The workers of ``job`` on its servers, on their way to listening: rank i at first_port + i.

    group: of all of them; else each is in that of its server. inputs: the input pipeline of each,
    as ``emulator.fed_worker`` describes it, where they wait for samples. logs: see start_jobs.
    """
    plan = network.plan
    if job.command is not None:
        return _start_command(
            session, network, job, job.command, first_port, congestion_control, logs
        )
    pairs = [
        (source, destination)
        for source, destination in sorted(job.connections)
        if job.servers[source] != job.servers[destination]
    ]
    workers = []
    for rank, server in enumerate(job.servers):
        peers = [
            [
                destination,
                plan.addresses.server(job.servers[destination], job.path_variant),
                first_port + destination,
            ]
            for source, destination in pairs
            if source == rank
        ]
        specification = {
            "rank": rank,
            "namespace": plan.namespaces[server],
            "address": plan.addresses.server(server, job.path_variant),
            "port": first_port + rank,
            "dscp": plan.job_dscp[job.id],
            "window_bytes": common_window_bytes(plan),
            "congestion_control": congestion_control,
            "peers": peers,
            "sources": [source for source, destination in pairs if destination == rank],
            "timeline": worker_timeline(job, rank, scale),
        }
        if inputs:
            specification["input"] = inputs[rank]
        kind = "fed-worker" if inputs else "worker"
        workers.append(session.start(kind, specification, group or f"{network.name}-{server}"))
    return workers


def _start_command(
    session: Session,
    network: PlannedNetwork,
    job: Job,
    command: JobCommand,
    first_port: int,
    congestion_control: str,
    logs: Path | None,
) -> list[MessageSocket]:
    """The ranks of a job that is the user's own program, one on each server."""
    if logs is not None:
        logs.mkdir(parents=True, exist_ok=True)
    plan, ranks = network.plan, len(job.servers)
    root_address = plan.addresses.server(job.servers[0], job.path_variant)
    user = calling_user(os.environ)
    hosts = session.state.directory / f"{network.name}-{job.id}.hosts"
    hosts.write_text(hosts_text({name: plan.addresses.server(name) for name in job.servers}))
    hosts.chmod(0o644)
    workers = []
    for rank, server in enumerate(job.servers):
        specification = {
            "namespace": plan.namespaces[server],
            "argv": list(command.argv),
            "directory": str(command.directory),
            "environment": {
                **rendezvous(root_address, first_port - FIRST_PORT, rank, ranks, gpus=1),
                "ROUNDELAY_JOB": job.id,
            },
            "log": logs and str(logs.resolve() / f"{job.id}.{server}.log"),
            "host": server,
            "hosts": str(hosts),
            "user": user and list(user),
            "dscp": plan.job_dscp[job.id],
            "window_bytes": common_window_bytes(plan),
            "congestion_control": congestion_control,
        }
        kind = "command-worker"
        workers.append(session.start(kind, specification, f"{network.name}-{server}"))
    return workers
