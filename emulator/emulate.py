"""One arm, from plan to measurement: build, calibrate, run, count, judge, remove."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from emulator.coordinator import START_LEAD_S, JobRun, end_workers, now_s, run_jobs
from emulator.cpu_time import read_cpu_time, shares
from emulator.jobs import start_jobs
from emulator.link_changer import LinkChanger
from emulator.measurement import (
    ArmMeasurement,
    JobsRecord,
    NetworkRecord,
    gather,
    lateness_by_job,
    record_of,
)
from emulator.messages import MessageSocket
from emulator.network_jobs import EmulatedNetworkJobs
from emulator.networks import PlannedNetwork
from emulator.scale import ScalePlan
from emulator.session import Session
from emulator.timeshift import agent_of
from emulator.wake import waking_promptly
from emulator.watch import DRAIN_S, calibrate, start_sampler, stop_sampler
from traces.arm import Arm
from traces.link_events import last_up_s
from traces.results import IterationRow
from traces.schedule import TimeShift

SCHEDULED_SAMPLE_INTERVAL_S = 0.1
"""Jobs that a scheduler places are many, and run for minutes."""

_NO_MEMORY = "memory is divided and not limited, for what placed jobs read is not emulated"

Progress = Callable[[str, int, int], None]
"""Called with (what, done, total)."""


def emulate_arm(
    session: Session,
    arm: Arm,
    networks: Sequence[PlannedNetwork],
    scale: ScalePlan,
    shifts: Mapping[str, TimeShift],
    progress: Progress,
    stop_wanted: Callable[[], bool],
    logs: Path | None = None,
) -> ArmMeasurement:
    """Run ``arm`` on this box. Once a stop is wanted, it ends with the iterations under way.

    logs: see start_jobs.
    """
    runs: list[JobRun] = []
    samplers: list[MessageSocket] = []
    try:
        for network in networks:
            session.build_network(network.plan)
        calibrated = [calibrate(session, network, scale.budget_hop_bps) for network in networks]
        runs = start_jobs(
            session,
            networks,
            arm.iterations_of,
            scale,
            arm.transport.congestion_control,
            logs,
        )
        samplers += [start_sampler(session, network) for network in networks]
        anchor_s = now_s() + START_LEAD_S
        for run in runs:
            run.agent = agent_of(shifts.get(run.job), anchor_s)
        before = read_cpu_time()
        with LinkChanger(networks, anchor_s) as changer, waking_promptly():
            run_jobs(
                runs,
                anchor_s,
                _shown(progress, arm, runs),
                lambda: stop_wanted() or changer.failed,
                session.explain,
                quiet_until_s=anchor_s + last_up_s(arm.events),
            )
        cpu_shares = shares(before, read_cpu_time())
        records = [
            NetworkRecord(
                network, rates, stop_sampler(sampler, session), changer.applied(network.name)
            )
            for network, rates, sampler in zip(networks, calibrated, samplers, strict=True)
        ]
        return gather(
            arm,
            record_of(arm, runs, anchor_s),
            records,
            cpu_shares,
            anchor_s,
            scale,
            interrupted=stop_wanted(),
            unenforced=session.unenforced(networks[0].plan.marking),
        )
    finally:
        end_workers(runs)
        for sampler in samplers:
            sampler.close()
        for network in networks:
            session.remove_network(network.plan)


def emulate_scheduled(
    session: Session,
    arm: Arm,
    network: PlannedNetwork,
    scale: ScalePlan,
    drive: Callable[[EmulatedNetworkJobs, Callable[[], bool]], tuple[list[IterationRow], int]],
    stop_wanted: Callable[[], bool],
) -> ArmMeasurement:
    """Run ``arm``, whose jobs come and go as ``drive`` says, until it returns what they did.

    drive: is told when a stop is wanted; it says also how many iterations were wanted.
    """
    sampler: MessageSocket | None = None
    try:
        session.build_network(network.plan)
        calibrated = calibrate(session, network, scale.budget_hop_bps)
        sampler = start_sampler(session, network, SCHEDULED_SAMPLE_INTERVAL_S)
        before = read_cpu_time()
        congestion_control = arm.transport.congestion_control
        up_s = last_up_s(arm.events)
        with (
            EmulatedNetworkJobs(
                session, network, scale, congestion_control, up_s, stop_wanted
            ) as jobs,
            LinkChanger([network], jobs.anchor_s) as changer,
        ):
            iterations, wanted = drive(jobs, lambda: stop_wanted() or changer.failed)
        cpu_shares = shares(before, read_cpu_time())
        time.sleep(DRAIN_S)
        record = NetworkRecord(
            network, calibrated, stop_sampler(sampler, session), changer.applied(network.name)
        )
        return gather(
            arm,
            JobsRecord(
                iterations=iterations,
                adjustments=dict(jobs.adjustments),
                lateness_s=lateness_by_job(jobs.runs),
                wanted=wanted,
                late_starts=jobs.late_starts,
                cpu=jobs.cpu,
            ),
            [record],
            cpu_shares,
            jobs.anchor_s,
            scale,
            interrupted=stop_wanted(),
            unenforced=(
                *session.unenforced(network.plan.marking),
                *((_NO_MEMORY,) if arm.resources is not None else ()),
            ),
        )
    finally:
        if sampler is not None:
            sampler.close()
        session.remove_network(network.plan)


def _shown(progress: Progress, arm: Arm, runs: Sequence[JobRun]) -> Callable[[JobRun], None]:
    """Progress over all jobs' iterations, for each that ends."""
    total = sum(run.iterations for run in runs)

    def on_iteration(_: JobRun) -> None:
        progress(f"emulating {arm.name}", sum(len(run.measured) for run in runs), total)

    return on_iteration
