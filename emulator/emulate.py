"""One arm, from plan to measurement: build, calibrate, run, count, judge, remove."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from emulator.coordinator import START_LEAD_S, JobRun, now_s, run_jobs
from emulator.cpu_time import read_cpu_time, shares
from emulator.jobs import start_jobs
from emulator.link_changer import LinkChanger
from emulator.measurement import ArmMeasurement, NetworkRecord, gather
from emulator.messages import MessageSocket
from emulator.networks import PlannedNetwork
from emulator.scale import BUDGET_SHARE, ScalePlan
from emulator.session import Session
from emulator.timeshift import TimeShiftAgent
from emulator.watch import calibrate, start_sampler, stop_sampler
from traces.link_events import last_up_s
from traces.scenario import Arm
from traces.schedule import TimeShift

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
) -> ArmMeasurement:
    """Run ``arm`` on this box. Once a stop is wanted, it ends with the iterations under way."""
    children: list[MessageSocket] = []
    try:
        for network in networks:
            session.build_network(network.plan)
        at_once_bps = scale.budget_hop_bps * BUDGET_SHARE
        calibrated = [calibrate(session, network, at_once_bps) for network in networks]
        runs = start_jobs(
            session,
            networks,
            arm.iterations_of,
            scale,
            arm.transport.congestion_control,
        )
        children += [worker for run in runs for worker in run.workers]
        samplers = [start_sampler(session, network) for network in networks]
        children += samplers
        anchor_s = now_s() + START_LEAD_S
        for run in runs:
            shift = shifts.get(run.job)
            if shift is not None:
                run.agent = TimeShiftAgent(anchor_s, shift.shift_s, shift.grid_period_s)
        before = read_cpu_time()
        with LinkChanger(networks, anchor_s) as changer:
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
            runs,
            records,
            cpu_shares,
            anchor_s,
            scale,
            interrupted=stop_wanted(),
            unenforced=session.unenforced(networks[0].plan.marking),
        )
    finally:
        for child in children:
            child.close()
        for network in networks:
            session.remove_network(network.plan)


def _shown(progress: Progress, arm: Arm, runs: Sequence[JobRun]) -> Callable[[JobRun], None]:
    """Progress over all jobs' iterations, for each that ends."""
    total = sum(run.iterations for run in runs)

    def on_iteration(_: JobRun) -> None:
        progress(f"emulating {arm.name}", sum(len(run.measured) for run in runs), total)

    return on_iteration
