"""A real training job on emulated servers, counted: its iterations, its ports, its packets."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from emulator.coordinator import START_LEAD_S, end_workers, now_s, run_jobs
from emulator.cpu_time import read_cpu_time, shares
from emulator.jobs import start_jobs
from emulator.measurement import NetworkRecord, gather, record_of
from emulator.messages import MessageSocket
from emulator.networks import PlannedNetwork, plan_arm
from emulator.scale import Budget, plan_scale
from emulator.session import Session
from emulator.verdict import Verdict
from emulator.wake import waking_promptly
from emulator.watch import calibrate, start_sampler, stop_sampler
from netshaper.disciplines import ACKNOWLEDGEMENT_CLASS
from profiler.network.counted import series_of_port
from traces.arm import Arm, Job, JobCommand
from traces.cluster import Port
from traces.cluster_spec import ClusterSpec
from traces.demand import Demand, Pattern, Transfer
from traces.errors import EmulationError
from traces.load_series import LoadSeries
from traces.model_profile import ModelProfile
from traces.results import IterationSpan

JOB = "job"

_SWITCH = "switch"
_UNKNOWN_IS = "not measured yet"


@dataclass(frozen=True)
class JobOnHosts:
    """What to run. iterations: that count, after ``warmup_iterations``; the job's first one, in
    which it connects and allocates, is neither. rate_bps: of every server's link."""

    command: JobCommand
    hosts: int
    rate_bps: float
    iterations: int
    warmup_iterations: int
    interval_s: float


@dataclass(frozen=True)
class HostCount:
    """One server. sent: the job's data by its port's counters, on the clock of ``iterations``;
    port_sent: with the acknowledgements that pass beside them. capture: the file with the packets
    that it sent, and how many of them the kernel could not hand over."""

    server: str
    address: str
    sent: LoadSeries
    port_sent: LoadSeries
    capture: Path
    captured_packets: int
    lost_packets: int


@dataclass(frozen=True)
class CountedJob:
    """A job as it ran. iterations: those that count, on the monotonic clock, and what that lacks to
    the time of captures. interrupted: a person stopped it."""

    job: JobOnHosts
    iterations: tuple[IterationSpan, ...]
    unix_minus_monotonic_s: float
    hosts: tuple[HostCount, ...]
    verdict: Verdict
    interrupted: bool


def count_job(
    session: Session,
    job: JobOnHosts,
    budget: Budget,
    captures: Path,
    number: int,
    progress: Callable[[int, int], None],
    stop_wanted: Callable[[], bool],
    logs: Path | None = None,
) -> CountedJob:
    """Run ``job`` on servers around one switch. Once a stop is wanted, it ends with the iteration.

    captures: an existing directory for the files. number: of this call in the session. logs: see
        emulator.jobs.start_jobs.
    Raises EmulationError where the command does no iterations, BadInputError for a link that this
    box cannot emulate.
    """
    arm = _arm(job)
    scale = plan_scale([arm], budget)
    (network,) = plan_arm(arm, scale, session.state.run_id, number)
    with contextlib.ExitStack() as undo:
        undo.callback(session.remove_network, network.plan)
        session.build_network(network.plan)
        calibrated_bps = calibrate(session, network, budget.hop_bps)
        (run,) = start_jobs(session, [network], arm.iterations_of, scale, "cubic", logs)
        undo.callback(end_workers, [run])
        writers = undo.enter_context(_captures(session, network, captures))
        sampler = start_sampler(session, network, job.interval_s)
        undo.callback(sampler.close)
        anchor_s = now_s() + START_LEAD_S
        before = read_cpu_time()
        with waking_promptly():
            run_jobs(
                [run],
                anchor_s,
                lambda done: progress(len(done.measured), done.iterations),
                stop_wanted,
                session.explain,
            )
        cpu_shares = shares(before, read_cpu_time())
        record = NetworkRecord(network, calibrated_bps, stop_sampler(sampler, session))
        measured = gather(
            arm,
            record_of(arm, [run], anchor_s),
            [record],
            cpu_shares,
            anchor_s,
            scale,
            interrupted=stop_wanted(),
            unenforced=session.unenforced(network.plan.marking),
        )
        return CountedJob(
            job=job,
            iterations=tuple(run.measured[job.warmup_iterations :]),
            unix_minus_monotonic_s=time.time() - time.monotonic(),
            hosts=tuple(_hosts(network, record, captures, _stop(session, writers))),
            verdict=measured.verdict,
            interrupted=measured.interrupted,
        )


def _arm(job: JobOnHosts) -> Arm:
    """Its demand is not known: of it only who may send to whom is used, to size the buffers."""
    spec = ClusterSpec.model_validate(
        {"preset": "single-switch", "servers": job.hosts, "rate": f"{job.rate_bps} bit/s"}
    )
    cluster = spec.build(Path()).cluster
    pairs = tuple(itertools.permutations(range(job.hosts), 2))
    anybody = Transfer(ready_s=0.0, bytes=1.0, pattern=Pattern.PAIRS, pairs=pairs)
    profile = ModelProfile(
        model=JOB,
        num_gpus=job.hosts,
        demand=Demand(compute_s=1.0, transfers=(anybody,)),
        provenance="reconstructed",
        source=_UNKNOWN_IS,
    )
    return Arm(
        name=JOB,
        cluster=cluster,
        dedicated=False,
        jobs=(Job(id=JOB, profile=profile, servers=cluster.servers, command=job.command),),
        iterations=job.iterations,
        warmup_iterations=job.warmup_iterations,
    )


@contextlib.contextmanager
def _captures(
    session: Session, network: PlannedNetwork, directory: Path
) -> Iterator[Mapping[str, MessageSocket]]:
    """A capture of what each server sends, by server, running when this returns."""
    writers: dict[str, MessageSocket] = {}
    try:
        for port, end in network.plan.ports.items():
            if port.node in network.jobs[0].servers:
                specification = {
                    "namespace": end.namespace,
                    "device": end.device,
                    "file": str(_capture_file(directory, port.node)),
                }
                writers[port.node] = session.start("capture", specification)
        for writer in writers.values():
            _hear(session, writer)
        yield writers
    finally:
        for writer in writers.values():
            writer.close()


def _stop(session: Session, writers: Mapping[str, MessageSocket]) -> Mapping[str, tuple[int, int]]:
    """(packets, lost packets) of each capture."""
    counts = {}
    for server, writer in writers.items():
        with contextlib.suppress(OSError):  # it is gone: then it has no report either
            writer.send({"do": "stop"})
        report = _hear(session, writer)
        counts[server] = (int(report["packets"]), int(report["lost"]))
    return counts


def _hear(session: Session, writer: MessageSocket) -> dict[str, int]:
    message = writer.receive()
    if message is None:
        raise EmulationError(f"a capture of packets ended early: {session.explain()}")
    return message


def _capture_file(directory: Path, server: str) -> Path:
    return directory / f"{server}.pcap"


def _hosts(
    network: PlannedNetwork,
    record: NetworkRecord,
    captures: Path,
    counts: Mapping[str, tuple[int, int]],
) -> Iterator[HostCount]:
    (job,) = network.jobs
    for server in job.servers:
        end = network.plan.ports[Port(server, _SWITCH)]
        packets, lost = counts[server]
        samples = record.samples[(end.namespace, end.device)]
        source, own = f"counters of {server}'s port", end.classes.of_job[job.id]
        yield HostCount(
            server=server,
            address=network.plan.addresses.server(server),
            sent=series_of_port(samples, (own,), source),
            port_sent=series_of_port(samples, (own, ACKNOWLEDGEMENT_CLASS), source),
            capture=_capture_file(captures, server),
            captured_packets=packets,
            lost_packets=lost,
        )


def iteration_lengths_s(iterations: Sequence[IterationSpan]) -> list[float]:
    """From end to end, as the job's own timer has it; one fewer than ``iterations``."""
    return [after.end_s - before.end_s for before, after in itertools.pairwise(iterations)]
