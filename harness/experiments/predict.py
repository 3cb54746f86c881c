"""One arm through the fluid simulator, into the same rows as a measurement."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from harness.simulation.fluid import RateSegment, Simulation, simulate
from traces.cluster import Port
from traces.results import EventRow, IterationRow, LinkRow, iteration_rows
from traces.scenario import Arm
from traces.schedule import TimeShift

SAMPLE_INTERVAL_S = 0.02


@dataclass
class ArmPrediction:
    """What the simulator says of one arm."""

    arm: str
    iterations: list[IterationRow] = field(default_factory=list)
    links: list[LinkRow] = field(default_factory=list)
    events: list[EventRow] = field(default_factory=list)
    adjustments: dict[str, int] = field(default_factory=dict)


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


def _event_rows(arm: Arm, network: str, simulation: Simulation) -> list[EventRow]:
    """The events that came before the end."""
    end_s = max(spans[-1].end_s for spans in simulation.iterations.values())
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
