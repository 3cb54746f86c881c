"""How much the links of a run of rounds carried, in time of the cluster. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from emulator.evidence import PortSamples
from emulator.rounds.clock import RoundClock
from netshaper.disciplines import ROOT_CLASS
from netshaper.plan import NetworkPlan


@dataclass(frozen=True)
class LinkLoad:
    """One port between the sample before and ``t_s``, in seconds of the cluster since its start.

    Unscaled: rates and bytes as in the cluster. dropped_packets: of the emulation.
    """

    port: str
    t_s: float
    rate_bps: float
    capacity_bps: float
    backlog_bytes: float
    dropped_packets: int


def link_loads(
    plan: NetworkPlan, samples: PortSamples, clock: RoundClock, byte_divisor: float
) -> list[LinkLoad]:
    """The loads of all ports. What a port sent between two rounds counts to the next sample in one:
    time of the cluster stood still."""
    loads = []
    for end in plan.ports.values():
        series = samples[(end.namespace, end.device)]
        wall_s = np.array([sample.t_s for sample in series])
        passed_s, cluster_s = clock.passed_s(wall_s), clock.cluster_s(wall_s)
        before = 0
        for now in range(1, len(series)):
            length_s = float(passed_s[now] - passed_s[before])
            if length_s <= 0:
                continue
            root, earlier = series[now].counters[ROOT_CLASS], series[before].counters[ROOT_CLASS]
            leaves = [minor for minor in series[now].counters if minor != ROOT_CLASS]
            loads.append(
                LinkLoad(
                    port=str(end.port),
                    t_s=float(cluster_s[now]),
                    rate_bps=(root[0] - earlier[0]) * 8 / length_s * byte_divisor,
                    capacity_bps=end.shape.rate_bps * byte_divisor,
                    backlog_bytes=byte_divisor
                    * sum(series[now].counters[minor][3] for minor in leaves),
                    dropped_packets=sum(
                        series[now].counters[minor][2]
                        - series[before].counters.get(minor, [0, 0, 0, 0])[2]
                        for minor in leaves
                    ),
                )
            )
            before = now
    return loads
