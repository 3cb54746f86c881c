"""Measures what this box carries: small shaped networks, all of whose ports are full, ever faster.

Each trial is a small run: networks from the same plan, workers, samplers and links as in any other,
so that what they cost is part of what is measured.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Sequence

from emulator.budget_search import Probe, Trial, most_carried, next_load_hop_bps
from emulator.budget_store import MeasuredBudget
from emulator.coordinator import JobRun, now_s, run_jobs
from emulator.cpu_time import read_cpu_time, shares
from emulator.emulate import Progress
from emulator.jobs import start_jobs
from emulator.machine import Machine
from emulator.messages import MessageSocket
from emulator.networks import PlannedNetwork, plan_arm
from emulator.scale import BUDGET_SHARE, ScalePlan, assumed_budget, load_hop_bps, plan_scale
from emulator.session import Session
from emulator.verdict import STEAL_LIMIT
from emulator.watch import start_sampler, stop_sampler
from traces.arm import Arm, Job
from traces.cluster import dumbbell
from traces.demand import Demand, Transfer
from traces.errors import RoundelayError
from traces.model_profile import ModelProfile
from traces.quantities import format_rate

QUIET_S = 0.5
"""How long the box is watched before the measurement."""

BUSY_LIMIT = 0.2
"""CPU share that others may take before it. What they take would be missing in the budget."""

PROBES = 3
PROBE_S = 0.25
"""Length of a probe at the right rate: on two cores, fifty ticks of /proc/stat."""

TIME_LIMIT_S = 7.0
"""After it no trial begins that would end later: on two cores, all is over within ten seconds."""

_RATE_BPS = 50e9
_MOST_NETWORKS = 8  # more take longer to build than to measure; each has two flows


class BusyBoxError(RoundelayError):
    """The box has other work to do: what is left of it is not what it can carry."""


def require_quiet_box() -> None:
    """Watch the box for a moment. Raises BusyBoxError where others use its CPU."""
    before = read_cpu_time()
    time.sleep(QUIET_S)
    idle, stolen = shares(before, read_cpu_time())
    busy = 1 - idle - stolen
    if busy > BUSY_LIMIT or stolen > STEAL_LIMIT:
        whom = "the hypervisor's others" if stolen > STEAL_LIMIT else "other programs"
        raise BusyBoxError(
            f"{busy + stolen:.0%} of the CPU is in use by {whom}, so the budget was not measured, "
            "and nothing is stored; try again when the box is quiet"
        )


def measure_budget(
    session: Session, machine: Machine, progress: Progress, stop_wanted: Callable[[], bool]
) -> MeasuredBudget | None:
    """Raise the load until the CPU has no headroom or rates are off; None where a stop is wanted.

    Raises RoundelayError where not even the smallest load that was tried held.
    """
    arm = _arm(machine.cores)
    trials: list[Trial] = []
    longest_s = 0.0
    networks = 0
    load: float | None = assumed_budget(machine.cores).hop_bps * BUDGET_SHARE
    began_s = now_s()
    while load is not None and now_s() - began_s + longest_s < TIME_LIMIT_S:
        trial_began_s = now_s()
        scale = _scale_for(arm, load, machine.cores)
        planned = plan_arm(arm, scale, session.state.run_id, networks)
        networks += len(planned)
        trials.append(_try(session, planned, scale, progress, stop_wanted))
        if stop_wanted():
            return None
        load = next_load_hop_bps(trials)
        longest_s = max(longest_s, now_s() - trial_began_s)
    best = most_carried(trials)
    if best is None:
        least = min(trials, key=lambda trial: trial.load_hop_bps)
        raise RoundelayError(
            f"not even {format_rate(least.load_hop_bps)} x hops were carried (CPU in use: "
            f"{least.busy_share:.0%}, rates off by {least.rate_error:.1%}), so nothing is stored; "
            "try again when the box is quiet"
        )
    return MeasuredBudget(
        hop_bps=best.load_hop_bps,
        cpu_share=best.busy_share,
        rate_error=best.rate_error,
        measured_utc=datetime.datetime.now(datetime.UTC).replace(microsecond=0),
        kernel=machine.kernel,
        cpu=machine.cpu,
        cores=machine.cores,
    )


def _arm(cores: int) -> Arm:
    """A job a core, up to a few, so that all cores have work, each with a network of its own.

    Two servers send to each other over two switches: three hops each way, every port full.
    """
    transfer = Transfer(ready_s=0.0, bytes=_RATE_BPS * PROBE_S / 8)
    profile = ModelProfile(
        model="load",
        num_gpus=2,
        demand=Demand(0.0, (transfer,)),
        provenance="reconstructed",
        source="made to measure the budget",
    )
    count = min(max(cores, 2), _MOST_NETWORKS)
    return Arm(
        name="budget",
        cluster=dumbbell(1, 1, _RATE_BPS),
        dedicated=True,
        jobs=tuple(
            Job(id=f"load{n}", profile=profile, servers=("left0", "right0")) for n in range(count)
        ),
        iterations=PROBES,
        warmup_iterations=0,
    )


def _scale_for(arm: Arm, load: float, cores: int) -> ScalePlan:
    divisor = load_hop_bps(arm.cluster, arm.jobs) / load
    return plan_scale([arm], assumed_budget(cores), divisor)


def _try(
    session: Session,
    networks: Sequence[PlannedNetwork],
    scale: ScalePlan,
    progress: Progress,
    stop_wanted: Callable[[], bool],
) -> Trial:
    """Build the networks, send for a few moments, remove them; ends early where that is wanted."""
    what = f"sending {scale.load_hop_bps / 1e9:.2f} Gbit/s x hops"
    children: list[MessageSocket] = []
    probes: list[Probe] = []
    try:
        for network in networks:
            session.build_network(network.plan)
        runs = start_jobs(session, networks, lambda _: PROBES, scale, "cubic")
        children += [worker for run in runs for worker in run.workers]
        samplers = [start_sampler(session, network) for network in networks]
        children += samplers
        while len(probes) < PROBES and not (probes and stop_wanted()):
            progress(what, len(probes), PROBES)
            probes.append(_probe(session, runs))
        for sampler in samplers:
            stop_sampler(sampler, session)
    finally:
        for child in children:
            child.close()
        for network in networks:
            session.remove_network(network.plan)
    progress(what, len(probes), PROBES)
    return Trial.of(scale.load_hop_bps, probes)


def _probe(session: Session, runs: Sequence[JobRun]) -> Probe:
    """One transfer of every job at once, over the connections that stand."""
    once = [JobRun(run.job, run.workers, iterations=1) for run in runs]
    before = read_cpu_time()
    run_jobs(once, now_s(), lambda _: None, lambda: False, session.explain)
    idle, _ = shares(before, read_cpu_time())
    slowest_s = max(
        span.end_s - span.communication_start_s for run in once for span in run.measured
    )
    return Probe(1 - idle, slowest_s / PROBE_S - 1)
