"""One arm through the fluid simulator, into the same rows as a measurement."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from harness.experiments.placed import PlacedRun, run_placed
from harness.simulation.fluid import FluidNetwork, RateSegment, Simulation, simulate
from harness.simulation.network_jobs import SimulatedNetworkJobs
from harness.simulation.sampled_loads import SampledLoads
from traces.arm import Arm
from traces.cluster import Port
from traces.results import EventRow, IterationRow, LinkRow, iteration_rows
from traces.schedule import TimeShift

SAMPLE_INTERVAL_S = 0.02
PLACED_INTERVAL_S = 0.1
"""Jobs that a scheduler places are many, and run for minutes."""


@dataclass
class ArmPrediction:
    """What the simulator says of one arm. placed: where a scheduler placed its jobs."""

    arm: str
    iterations: list[IterationRow] = field(default_factory=list)
    links: list[LinkRow] = field(default_factory=list)
    events: list[EventRow] = field(default_factory=list)
    adjustments: dict[str, int] = field(default_factory=dict)
    placed: PlacedRun | None = None


def predict_arm(arm: Arm, shifts: Mapping[str, TimeShift]) -> ArmPrediction:
    """Simulate ``arm``: each job on a cluster of its own where the arm is dedicated."""
    prediction = ArmPrediction(arm.name)
    for index, jobs in enumerate(arm.networks):
        simulation = simulate(arm.cluster, jobs, arm.iterations_of, shifts, arm.events)
        for job, iterations in simulation.iterations.items():
            prediction.iterations += iteration_rows(
                arm.name, job, iterations, arm.warmup_iterations, anchor_s=0.0
            )
        prediction.adjustments.update(simulation.adjustments)
        prediction.events += _event_rows(arm, f"n{index}", simulation)
        prediction.links += _link_rows(arm, f"n{index}", simulation.segments)
    return prediction


def predict_placed(
    arm: Arm,
    seed: int,
    progress: Callable[[int, int], None],
    stop: Callable[[], bool],
) -> ArmPrediction:
    """Simulate ``arm``, whose jobs a scheduler places."""
    loads = SampledLoads(PLACED_INTERVAL_S)
    network = SimulatedNetworkJobs(arm.cluster, FluidNetwork(arm.cluster, loads.add, arm.events))
    run = run_placed(arm, seed, network, progress, stop)
    return ArmPrediction(
        arm.name,
        iterations=run.iteration_rows(arm),
        links=[
            LinkRow(arm.name, "n0", str(port), job, float(t_s), float(rate), capacity, 0.0, 0)
            for (port, job), (times_s, rates) in sorted(loads.rates().items())
            for t_s, rate, capacity in zip(
                times_s, rates, _capacity_bps(arm, port, times_s), strict=True
            )
        ],
        events=_events_until(
            arm, "n0", max((s.spans[-1].end_s for s in run.stints if s.spans), default=0.0)
        ),
        adjustments=dict(network.adjustments),
        placed=run,
    )


def _event_rows(arm: Arm, network: str, simulation: Simulation) -> list[EventRow]:
    return _events_until(
        arm, network, max(spans[-1].end_s for spans in simulation.iterations.values())
    )


def _events_until(arm: Arm, network: str, end_s: float) -> list[EventRow]:
    """The events that came before the end."""
    return [
        EventRow(arm.name, network, str(event), event.at_s, event.at_s, event.at_s)
        for event in arm.events
        if event.at_s < end_s
    ]


def _link_rows(arm: Arm, network: str, segments: Sequence[RateSegment]) -> list[LinkRow]:
    """Mean rate of each job at each port it uses, every SAMPLE_INTERVAL_S."""
    end_s = max((segment.end_s for segment in segments), default=0.0)
    edges = np.arange(0.0, end_s + SAMPLE_INTERVAL_S, SAMPLE_INTERVAL_S)
    series: dict[tuple[Port, str], list[RateSegment]] = defaultdict(list)
    for segment in segments:
        series[(segment.port, segment.job)].append(segment)
    rows = []
    for (port, job), parts in sorted(series.items()):
        times = np.array([t for part in parts for t in (part.start_s, part.end_s)])
        bits = np.array([(part.end_s - part.start_s) * part.rate_bps for part in parts])
        sent = np.repeat(np.cumsum(bits), 2)
        sent[::2] -= bits
        rates = np.diff(np.interp(edges, times, sent)) / SAMPLE_INTERVAL_S
        capacities = _capacity_bps(arm, port, edges[1:])
        rows += [
            LinkRow(arm.name, network, str(port), job, float(t_s), float(rate), capacity, 0.0, 0)
            for (_, t_s), rate, capacity in zip(
                itertools.pairwise(edges), rates, capacities, strict=True
            )
        ]
    return rows


def _capacity_bps(arm: Arm, port: Port, times_s: NDArray[np.float64]) -> list[float]:
    """Rate of ``port`` at each of ``times_s``."""
    changes = [event for event in arm.events if port in event.ports]
    rates = [arm.cluster.rate_bps(port), *(event.rate_bps for event in changes)]
    in_force = np.searchsorted([event.at_s for event in changes], times_s, side="right")
    return [rates[index] for index in in_force]
