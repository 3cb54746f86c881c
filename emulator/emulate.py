"""One arm, from plan to measurement: build, calibrate, run, count, judge, remove."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from emulator.coordinator import START_LEAD_S, JobRun, connect_workers, now_s, run_jobs
from emulator.cpu_time import read_cpu_time, shares
from emulator.evidence import link_rows, port_evidence, switch_evidence
from emulator.messages import Message, MessageSocket
from emulator.scale import ScalePlan
from emulator.session import Session
from emulator.timeshift import TimeShiftAgent
from emulator.verdict import (
    BoxEvidence,
    PortEvidence,
    SwitchEvidence,
    Verdict,
    invariants_of,
    judge,
)
from emulator.worker import flows_by_rank
from netshaper.plan import NetworkPlan, plan_network
from netshaper.shaping import window_bytes
from traces.cluster import Port
from traces.errors import EmulationError
from traces.results import IterationRow, LinkRow
from traces.scenario import Arm, Job
from traces.schedule import TimeShift

SAMPLE_INTERVAL_S = 0.02
PROBE_S = 0.3
FIRST_PORT = 20000
CONGESTION_CONTROL = "cubic"


@dataclass(frozen=True)
class PlannedNetwork:
    """One network of an arm with the jobs on it; a dedicated arm has one a job."""

    name: str
    plan: NetworkPlan
    jobs: tuple[Job, ...]


@dataclass
class ArmMeasurement:
    """What one arm's emulation gave, in unscaled units."""

    arm: str
    iterations: list[IterationRow] = field(default_factory=list)
    links: list[LinkRow] = field(default_factory=list)
    adjustments: dict[str, int] = field(default_factory=dict)
    lateness_s: list[float] = field(default_factory=list)
    sampler_busy_share: float = 0.0
    verdict: Verdict | None = None
    interrupted: bool = False
    box: tuple[float, float] = (1.0, 0.0)


Progress = Callable[[str, int, int], None]
"""Called with (what, done, total)."""


def plan_arm(
    arm: Arm, scale: ScalePlan, run_id: str, first_network: int = 0
) -> list[PlannedNetwork]:
    """The networks that ``arm`` needs, named n0, n1, ...: the same for ``plan`` and ``emulate``."""
    groups = [(job,) for job in arm.jobs] if arm.dedicated else [arm.jobs]
    networks = []
    for index, jobs in enumerate(groups, start=first_network):
        name = f"n{index}"
        plan = plan_network(
            run_id,
            name,
            arm.cluster,
            [job.id for job in jobs],
            scale.rate_divisor,
            connections=sum(len(_pairs(job)) for job in jobs),
        )
        networks.append(PlannedNetwork(name, plan, jobs))
    return networks


def emulate_arm(
    session: Session,
    arm: Arm,
    networks: list[PlannedNetwork],
    scale: ScalePlan,
    shifts: Mapping[str, TimeShift],
    progress: Progress,
    stop_wanted: Callable[[], bool],
) -> ArmMeasurement:
    """Run ``arm`` on this box. Once a stop is wanted, it ends with the iterations under way."""
    measurement = ArmMeasurement(arm.name)
    children: list[MessageSocket] = []
    try:
        for network in networks:
            session.build_network(network.plan)
        calibrated = [_calibrate(session, network) for network in networks]
        runs = []
        for network in networks:
            for index, job in enumerate(network.jobs):
                workers = _start_workers(session, network, job, index, scale)
                children += workers
                runs.append(JobRun(job.id, workers, _wanted(arm), start_after_s=job.start_s))
        for run in runs:
            connect_workers(run.workers, session.explain)
        samplers = [_start_sampler(session, network) for network in networks]
        children += samplers
        anchor_s = now_s() + START_LEAD_S
        for run in runs:
            shift = shifts.get(run.job)
            if shift is not None:
                run.agent = TimeShiftAgent(anchor_s, shift.shift_s, shift.grid_period_s)
        _run(runs, anchor_s, arm, measurement, progress, stop_wanted, session)
        reports = [_stop_sampler(sampler, session) for sampler in samplers]
        _collect(measurement, arm, runs, anchor_s)
        _judge(measurement, arm, networks, calibrated, reports, runs)
        for network, report in zip(networks, reports, strict=True):
            measurement.links += link_rows(
                arm.name,
                network.name,
                network.plan,
                report["samples"],
                anchor_s,
                scale.rate_divisor,
            )
        return measurement
    finally:
        for child in children:
            child.close()
        for network in networks:
            session.remove_network(network.plan)


def _wanted(arm: Arm) -> int:
    return arm.warmup_iterations + arm.iterations


def _pairs(job: Job) -> set[tuple[int, int]]:
    """(source rank, destination rank) of every connection that the job needs."""
    return {
        (source, destination)
        for transfer in job.profile.demand.transfers
        for source, destination, _ in transfer.flows(len(job.servers))
    }


def _window_bytes(plan: NetworkPlan) -> int:
    """One window for all connections, so that none has an advantage in a shared queue."""
    return window_bytes(min(end.shape.rate_bps for end in plan.ports.values()))


def _calibrate(session: Session, network: PlannedNetwork) -> dict[str, float]:
    """Rate of every port as the probe measured it, by port."""
    plan = network.plan
    ends = list(plan.ports.values())
    by_port = {end.port: end for end in ends}
    ports = []
    for end in ends:
        neighbour = by_port[Port(end.port.peer, end.port.node)]
        here = [end.namespace, end.device, end.address]
        ports.append([*here, neighbour.namespace, neighbour.address])
    specification = {
        "duration_s": PROBE_S,
        "dscp": next(iter(plan.job_dscp.values())),
        "window_bytes": _window_bytes(plan),
        "congestion_control": CONGESTION_CONTROL,
        "ports": ports,
    }
    probe = session.start("probe", specification)
    try:
        report = probe.receive()
    finally:
        probe.close()
    if report is None:
        raise EmulationError(f"the calibration of the links ended early: {session.explain()}")
    return {str(end.port): rate for end, rate in zip(ends, report["rates_bps"], strict=True)}


def worker_timeline(job: Job, rank: int, scale: ScalePlan) -> Message:
    """A worker's compute timeline with what it sends and receives, in scaled payload bytes."""
    transfers = []
    for transfer in job.profile.demand.transfers:
        flows = flows_by_rank(
            [
                (source, destination, scale.payload_bytes(size))
                for source, destination, size in transfer.flows(len(job.servers))
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


def _start_workers(
    session: Session, network: PlannedNetwork, job: Job, index: int, scale: ScalePlan
) -> list[MessageSocket]:
    plan = network.plan
    pairs = sorted(_pairs(job))
    port = FIRST_PORT + index
    workers = []
    for rank, server in enumerate(job.servers):
        peers = [
            [destination, plan.server_addresses[job.servers[destination]], port]
            for source, destination in pairs
            if source == rank
        ]
        specification = {
            "rank": rank,
            "namespace": plan.namespaces[server],
            "address": plan.server_addresses[server],
            "port": port,
            "dscp": plan.job_dscp[job.id],
            "window_bytes": _window_bytes(plan),
            "congestion_control": CONGESTION_CONTROL,
            "peers": peers,
            "sources": [source for source, destination in pairs if destination == rank],
            "timeline": worker_timeline(job, rank, scale),
        }
        workers.append(session.start("worker", specification, f"{network.name}-{server}"))
    return workers


def _start_sampler(session: Session, network: PlannedNetwork) -> MessageSocket:
    devices: dict[str, list[str]] = {}
    for end in network.plan.ports.values():
        devices.setdefault(end.namespace, []).append(end.device)
    specification = {"interval_s": SAMPLE_INTERVAL_S, "namespaces": devices}
    sampler = session.start("sampler", specification)
    if sampler.receive() is None:
        raise EmulationError(f"the sampler ended early: {session.explain()}")
    return sampler


def _stop_sampler(sampler: MessageSocket, session: Session) -> Message:
    sampler.send({"do": "stop"})
    report = sampler.receive()
    if report is None:
        raise EmulationError(f"the sampler ended early: {session.explain()}")
    return report


def _run(
    runs: list[JobRun],
    anchor_s: float,
    arm: Arm,
    measurement: ArmMeasurement,
    progress: Progress,
    stop_wanted: Callable[[], bool],
    session: Session,
) -> None:
    total = _wanted(arm) * len(runs)
    before = read_cpu_time()

    def on_iteration(_: JobRun) -> None:
        progress(f"emulating {arm.name}", sum(len(run.measured) for run in runs), total)

    run_jobs(runs, anchor_s, on_iteration, stop_wanted, session.explain)
    measurement.interrupted = stop_wanted()
    measurement.box = shares(before, read_cpu_time())


def _collect(measurement: ArmMeasurement, arm: Arm, runs: list[JobRun], anchor_s: float) -> None:
    for run in runs:
        previous_end_s: float | None = None
        for index, iteration in enumerate(run.measured):
            begun_s = iteration.start_s if previous_end_s is None else previous_end_s
            measurement.iterations.append(
                IterationRow(
                    arm=arm.name,
                    job=run.job,
                    iteration=index,
                    counted=index >= arm.warmup_iterations,
                    start_s=iteration.start_s - anchor_s,
                    communication_start_s=iteration.communication_start_s - anchor_s,
                    end_s=iteration.end_s - anchor_s,
                    iteration_s=iteration.end_s - begun_s,
                )
            )
            previous_end_s = iteration.end_s
        measurement.adjustments[run.job] = 0 if run.agent is None else run.agent.adjustments
        measurement.lateness_s += run.lateness_s


def _judge(
    measurement: ArmMeasurement,
    arm: Arm,
    networks: list[PlannedNetwork],
    calibrated: list[dict[str, float]],
    reports: list[Message],
    runs: list[JobRun],
) -> None:
    ports: list[PortEvidence] = []
    switches: list[SwitchEvidence] = []
    for network, rates, report in zip(networks, calibrated, reports, strict=True):
        ports += port_evidence(network.plan, report["samples"], rates)
        switches += switch_evidence(
            arm.cluster, network.plan, report["samples"], report["received"]
        )
    counted = [row.iteration_s for row in measurement.iterations if row.counted]
    idle_share, steal_share = measurement.box
    box = BoxEvidence(
        idle_share=idle_share,
        steal_share=steal_share,
        lateness_s=measurement.lateness_s,
        iteration_s=sorted(counted)[len(counted) // 2] if counted else 0.0,
        iterations_wanted=_wanted(arm) * len(runs),
        iterations_measured=sum(len(run.measured) for run in runs),
    )
    measurement.verdict = judge(invariants_of(ports, switches, box))
