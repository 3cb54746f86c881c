"""How close goodput comes to a port's rate, ours and Mininet's."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass

from bench.figures import Figure
from bench.full_flows import FullFlow, Route, all_sending, goodputs_bps, route_of
from bench.mininet_peer import MOST_RATE_BPS, peer_network, why_absent
from emulator.budget import BUSY_LIMIT
from emulator.cpu_time import read_cpu_time, shares
from emulator.session import Session
from netshaper.disciplines import JobTraffic
from netshaper.plan import plan_network
from netshaper.run_state import new_run_id
from netshaper.shaping import PAYLOAD_SHARE, window_bytes
from traces.cluster import Cluster
from traces.quantities import format_rate
from traces.topologies.single_switch import single_switch

_RATES_BPS = (50e6, 200e6, 500e6, 1e9, 2e9)
_FLOWS = (1, 4)
_WINDOWS = 3
_WINDOW_S = 0.6
_QUIET_S = 0.3
_MOST_WAITS = 5


@dataclass(frozen=True)
class _Case:
    rate_bps: float
    flows: int

    def __str__(self) -> str:
        return f"{format_rate(self.rate_bps)}, {self.flows} flow{'s' if self.flows > 1 else ''}"

    @property
    def cluster(self) -> Cluster:
        return single_switch(2, self.rate_bps)


@dataclass(frozen=True)
class _Found:
    """error_pct: signed. Idle shares of the box's CPU time: just before, and meanwhile."""

    error_pct: float
    idle_before: float
    idle: float

    @property
    def is_disturbed(self) -> bool:
        """Whether others had the CPU that a full port needs."""
        return 1 - self.idle_before > BUSY_LIMIT

    def __str__(self) -> str:
        return f"{self.error_pct:+.2f} % ({self.idle:.0%} idle, {self.idle_before:.0%} before)"


def measure_rates() -> Iterator[Figure]:
    """Two servers at one switch; all links have the rate."""
    reason = why_absent()
    ours: dict[_Case, _Found] = {}
    theirs: dict[_Case, _Found] = {}
    for case in (_Case(rate, flows) for rate in _RATES_BPS for flows in _FLOWS):
        ours[case] = _ours(case)
        peer = "absent"
        if reason is None and case.rate_bps > MOST_RATE_BPS:
            peer = "ignores such a rate"
        elif reason is None:
            theirs[case] = _mininet(case)
            peer = str(theirs[case])
        print(f"  {case}: ours {ours[case]}, Mininet {peer}", flush=True)
    how = f"median of {_WINDOWS} windows of {_WINDOW_S:g} s a case"
    comparable = {case: found for case, found in ours.items() if case.rate_bps <= MOST_RATE_BPS}
    worst, error = _worst(ours)
    note = (
        f"at {worst} ({ours[worst].idle:.0%} CPU idle); "
        f"up to 1 Gbit/s: {_said(comparable)}; {_disturbed(ours)}; {how}"
    )
    peer_error = _worst(theirs)[1] if theirs else None
    yield Figure("netshaper.rate_error_pct", error, "%", 0.5, "at most", peer_error, note)
    if peer_error is None:
        print(f"  Mininet is absent ({reason}): no netshaper.rate_error_pct_mininet", flush=True)
        return
    note = f"{_said(theirs)}; it ignores rates above 1 Gbit/s; {_disturbed(theirs)}; {how}"
    name = "netshaper.rate_error_pct_mininet"
    yield Figure(name, peer_error, "%", None, "at most", None, note)


def _worst(found: dict[_Case, _Found]) -> tuple[_Case, float]:
    case = max(found, key=lambda each: abs(found[each].error_pct))
    return case, abs(found[case].error_pct)


def _said(found: dict[_Case, _Found]) -> str:
    case, error = _worst(found)
    return f"{error:.2f} % at {case}"


def _disturbed(found: dict[_Case, _Found]) -> str:
    count = sum(each.is_disturbed for each in found.values())
    return f"{count} of {len(found)} cases beside other programs"


def _ours(case: _Case) -> _Found:
    run_id = new_run_id()
    with Session(run_id) as session:
        jobs = [JobTraffic("job")]
        plan = plan_network(run_id, "n0", case.cluster, jobs, 1.0, connections=case.flows)
        session.build_network(plan)
        return _measured(case, route_of(plan, "job", *case.cluster.servers))


def _mininet(case: _Case) -> _Found:
    with (
        Session(new_run_id()) as session,
        peer_network(session, case.cluster, 1.0, loops=False) as network,
    ):
        source, destination = (network.hosts[server] for server in case.cluster.servers)
        return _measured(case, Route(source, destination))


def _measured(case: _Case, route: Route) -> _Found:
    """The same senders and readers for both: they differ in what their network asks for."""
    piece_bytes = window_bytes(case.rate_bps) // 4
    flows = [FullFlow(route, piece_bytes) for _ in range(case.flows)]
    idle_before = _wait_for_quiet()
    with all_sending(flows):
        before = read_cpu_time()
        found = [sum(goodputs_bps(flows, _WINDOW_S)) for _ in range(_WINDOWS)]
        idle, _ = shares(before, read_cpu_time())
    ideal_bps = case.rate_bps * PAYLOAD_SHARE
    return _Found(100 * (statistics.median(found) / ideal_bps - 1), idle_before, idle)


def _wait_for_quiet() -> float:
    """Idle share of the last moment, the first in which others leave the CPU alone."""
    idle = 0.0
    for _ in range(_MOST_WAITS):
        before = read_cpu_time()
        time.sleep(_QUIET_S)
        idle, _ = shares(before, read_cpu_time())
        if 1 - idle <= BUSY_LIMIT:
            break
    return idle
