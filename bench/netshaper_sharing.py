"""How evenly a fair port divides its rate among jobs, and whether every mark is counted once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.figures import Figure
from bench.full_flows import FullFlow, all_sending, goodputs_bps, route_of
from emulator.session import Session
from netshaper.disciplines import JobTraffic
from netshaper.ecn.loader import MarkReader
from netshaper.ecn.marking import Marking
from netshaper.namespaces import inside_namespace
from netshaper.plan import NetworkPlan, plan_network
from netshaper.run_state import new_run_id
from netshaper.shaping import window_bytes
from traces.cluster import Sharing, dumbbell
from traces.errors import MissingCapabilityError

_RATE_BPS = 100e6
_FLOW_COUNTS = ((1, 8), (1, 2, 4), (8, 1, 4, 2), (1, 2, 3, 4, 8))
_DURATION_S = 1.5

_MARKING_CASES = (
    (50e6, 30_000, Sharing.FAIR),
    (100e6, 30_000, Sharing.FAIR),
    (100e6, 30_000, Sharing.WEIGHTED),
    (100e6, 30_000, Sharing.FIFO),
    (200e6, 40_000, Sharing.FAIR),
    (500e6, 80_000, Sharing.FAIR),
)
_MARKED_FLOWS = (4, 4)
_MARKING_S = 0.5
_ARRIVAL_S = 0.3  # for what is on its way when the senders end


def measure_fairness() -> Iterator[Figure]:
    """Jobs of several flows that share the middle of a dumbbell."""
    worst = 1.0
    for counts in _FLOW_COUNTS:
        with Session(new_run_id()) as session:
            plan = _shared_link(session, _RATE_BPS, Sharing.FAIR, counts)
            flows = _flows(plan, _RATE_BPS, counts)
            with all_sending(flows):
                found = goodputs_bps(flows, _DURATION_S)
        of_jobs = _of_jobs(found, counts)
        index = _jain_index(of_jobs)
        shown = ", ".join(f"{value / 1e6:.2f}" for value in of_jobs)
        print(f"  jobs of {counts} flows: Jain {index:.5f}, {shown} Mbit/s", flush=True)
        worst = min(worst, index)
    note = f"worst of {len(_FLOW_COUNTS)} sets of 2-5 jobs with 1-8 flows each, 100 Mbit/s"
    yield Figure("netshaper.fairness_jain", worst, "", 0.99, "at least", None, note)


def measure_marks() -> Iterator[Figure]:
    """All marks of all ports against all CE packets of all servers."""
    worst, total = 0, 0
    for rate_bps, threshold_bytes, sharing in _MARKING_CASES:
        with Session(new_run_id()) as session:
            try:
                marking = session.marking
            except MissingCapabilityError as error:
                print(f"  no marking ({error}): no netshaper.ecn_count_error", flush=True)
                return
            if marking is not Marking.MARKER:
                print("  no marker here: no netshaper.ecn_count_error", flush=True)
                return
            plan = _shared_link(session, rate_bps, sharing, _MARKED_FLOWS, threshold_bytes)
            flows = _flows(plan, rate_bps, _MARKED_FLOWS)
            with all_sending(flows):
                time.sleep(_MARKING_S)
            time.sleep(_ARRIVAL_S)
            marked, received = _marked_packets(plan), _received_marks(plan, _MARKED_FLOWS)
        print(
            f"  {rate_bps / 1e6:g} Mbit/s, K {threshold_bytes}, {sharing}: "
            f"{marked} marked, {received} received",
            flush=True,
        )
        if marked == 0:
            raise SystemExit("no packet was marked, so that there is nothing to compare")
        worst, total = max(worst, abs(marked - received)), total + marked
    note = f"worst of {len(_MARKING_CASES)} cases, {total:,} marks in all"
    yield Figure("netshaper.ecn_count_error", worst, "packets", 0.0, "at most", None, note)


def _shared_link(
    session: Session,
    rate_bps: float,
    sharing: Sharing,
    counts: Sequence[int],
    threshold_bytes: int | None = None,
) -> NetworkPlan:
    """Every job has servers of its own, at links twice as fast as the one they share."""
    jobs = [JobTraffic(f"job{place}", weight=1.0 + place) for place in range(len(counts))]
    cluster = dumbbell(len(jobs), len(jobs), 2 * rate_bps, rate_bps, sharing)
    plan = plan_network(
        session.state.run_id,
        "n0",
        cluster,
        jobs,
        1.0,
        connections=sum(counts),
        ecn_threshold_bytes=threshold_bytes,
    )
    session.build_network(plan)
    return plan


def _flows(plan: NetworkPlan, rate_bps: float, counts: Sequence[int]) -> list[FullFlow]:
    return [
        FullFlow(
            route_of(plan, f"job{place}", f"left{place}", f"right{place}"),
            window_bytes(rate_bps) // 4,
        )
        for place, count in enumerate(counts)
        for _ in range(count)
    ]


def _of_jobs(of_flows: Sequence[float], counts: Sequence[int]) -> list[float]:
    left = iter(of_flows)
    return [sum(next(left) for _ in range(count)) for count in counts]


def _jain_index(values: Sequence[float]) -> float:
    """1 where all are equal, 1 / n where one has everything (Jain, Chiu, Hawe 1984)."""
    return sum(values) ** 2 / (len(values) * sum(value**2 for value in values))


def _marked_packets(plan: NetworkPlan) -> int:
    total = 0
    for end in plan.ports.values():
        if end.marker is not None:
            with MarkReader(end.namespace, end.device) as reader:
                total += sum(count.marked for count in reader.counts())
    return total


def _received_marks(plan: NetworkPlan, counts: Sequence[int]) -> int:
    """IpExtInCEPkts of all servers; a switch counts what it forwards as well."""
    total = 0
    for server in (f"{side}{place}" for side in ("left", "right") for place in range(len(counts))):
        with inside_namespace(plan.namespaces[server]):
            lines = Path("/proc/thread-self/net/netstat").read_text().splitlines()
        names, values = (line.split() for line in lines if line.startswith("IpExt:"))
        total += int(values[names.index("InCEPkts")])
    return total
