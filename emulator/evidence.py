"""From counter samples to link rows and to the verdict's evidence. Pure."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from emulator.link_changer import AppliedChange
from emulator.verdict import PortEvidence, RateChange, SwitchEvidence
from netshaper.disciplines import ROOT_CLASS, UNCLASSIFIED_CLASS
from netshaper.ecn.marking import Marking
from netshaper.plan import NetworkPlan, PlannedPort
from traces.cluster import Cluster
from traces.link_events import Change
from traces.results import LinkRow

Samples = Sequence[Sequence[Any]]
"""[before_s, after_s, namespace, device, {minor: [sent bytes, packets, drops, backlog bytes]},
{"dscp" or "class": {number: marked packets}}]"""


@dataclass(frozen=True)
class Sample:
    """Counters by class, read at some moment between ``before_s`` and ``after_s``."""

    before_s: float
    after_s: float
    counters: dict[int, list[int]]
    marks: dict[str, dict[int, int]]

    @property
    def t_s(self) -> float:
        """The middle of the reading."""
        return (self.before_s + self.after_s) / 2


PortSamples = Mapping[tuple[str, str], Sequence[Sample]]
"""(namespace, device) -> samples in order of time."""


def samples_by_port(samples: Samples) -> PortSamples:
    """Sort a sampler's report by port."""
    table: dict[tuple[str, str], list[Sample]] = defaultdict(list)
    for before_s, after_s, namespace, device, counters, marks in samples:
        by_class = {int(minor): values for minor, values in counters.items()}
        marked = {how: {int(n): count for n, count in by.items()} for how, by in marks.items()}
        table[(namespace, device)].append(Sample(before_s, after_s, by_class, marked))
    return dict(table)


def link_rows(
    arm: str,
    network: str,
    plan: NetworkPlan,
    samples: PortSamples,
    anchor_s: float,
    rate_divisor: float,
    applied: Sequence[AppliedChange] = (),
    *,
    skip_idle: bool = False,
) -> list[LinkRow]:
    """Load of every port per job, unscaled: rates and bytes times ``rate_divisor``.

    applied: what was changed while it ran; a link that is down has no capacity. skip_idle: leave
    jobs out of the ports that they never used; of many that come and go most use few.
    """
    rows = []
    for end in plan.ports.values():
        jobs: dict[int, str | None] = {}
        for name, minor in end.classes.of_job.items():
            jobs[minor] = None if minor in jobs else name
        series = samples[(end.namespace, end.device)]
        changes = _rate_changes(end, applied)
        shown = [
            minor
            for minor in jobs
            if not skip_idle or series[-1].counters[minor] != series[0].counters[minor]
        ]
        for before, now in itertools.pairwise(series):
            for minor in shown:
                job = jobs[minor]
                sent, packets, dropped, backlog = now.counters[minor]
                sent_before, packets_before, dropped_before, _ = before.counters[minor]
                rows.append(
                    LinkRow(
                        arm=arm,
                        network=network,
                        port=str(end.port),
                        job=job,
                        t_s=now.t_s - anchor_s,
                        rate_bps=(sent - sent_before) * 8 / (now.t_s - before.t_s) * rate_divisor,
                        capacity_bps=next(
                            (
                                each.change.event.rate_bps
                                for each in reversed(changes)
                                if each.done_s <= now.t_s
                            ),
                            end.shape.rate_bps * rate_divisor,
                        ),
                        backlog_bytes=backlog * rate_divisor,
                        dropped_packets=dropped - dropped_before,
                        sent_packets=packets - packets_before,
                        marked_packets=_newly_marked(before, now, plan, minor, job),
                    )
                )
    return rows


def _rate_changes(end: PlannedPort, applied: Sequence[AppliedChange]) -> list[AppliedChange]:
    return [
        each
        for each in applied
        if end.port in each.change.event.ports and each.change.event.change is not Change.LATENCY
    ]


def _newly_marked(
    before: Sample, now: Sample, plan: NetworkPlan, minor: int, job: str | None
) -> int | None:
    """Packets marked between two samples; None where nothing could mark those that should be."""
    if plan.marking is Marking.UNAVAILABLE:
        return None
    return _marked(now, plan, minor, job) - _marked(before, plan, minor, job)


def _marked(sample: Sample, plan: NetworkPlan, minor: int, job: str | None) -> int:
    """Packets of ``job`` (of all, where a queue is shared) that the port had marked by then."""
    by_dscp = sample.marks.get("dscp", {})
    of_jobs = sum(by_dscp.values()) if job is None else by_dscp.get(plan.job_dscp[job], 0)
    return of_jobs + sample.marks.get("class", {}).get(minor, 0)


def port_evidence(
    plan: NetworkPlan,
    samples: PortSamples,
    calibrated_bps: Mapping[str, float],
    applied: Sequence[AppliedChange] = (),
) -> list[PortEvidence]:
    """One PortEvidence a port. calibrated_bps: by port, as measured before the run."""
    return [
        _port_evidence(plan, end, samples[(end.namespace, end.device)], calibrated_bps, applied)
        for end in plan.ports.values()
    ]


def _port_evidence(
    plan: NetworkPlan,
    end: PlannedPort,
    series: Sequence[Sample],
    calibrated_bps: Mapping[str, float],
    applied: Sequence[AppliedChange],
) -> PortEvidence:
    first, last = series[0].counters, series[-1].counters
    # HTB counts a drop at the leaf class and again at the root; leaves are the ones to add.
    dropped = sum(last[m][2] - first[m][2] for m in last if m != ROOT_CLASS)
    nothing = [0, 0, 0, 0]
    stray = last.get(UNCLASSIFIED_CLASS, nothing)[0] - first.get(UNCLASSIFIED_CLASS, nothing)[0]
    changes = [
        (each, next(after.shape for after in each.change.ends if after.port == end.port))
        for each in _rate_changes(end, applied)
    ]
    burst_bytes = max([end.shape.burst_bytes, *(shape.burst_bytes for _, shape in changes)])
    return PortEvidence(
        port=f"{end.namespace} {end.port}",
        rate_bps=end.shape.rate_bps,
        # HTB lets a leaf spend its own bucket on top of the port's.
        burst_bytes=burst_bytes * (1 + len(end.classes.leaves)),
        calibrated_bps=calibrated_bps[str(end.port)],
        before_s=[sample.before_s for sample in series],
        after_s=[sample.after_s for sample in series],
        sent_bytes=[sample.counters[ROOT_CLASS][0] for sample in series],
        dropped_packets=dropped,
        unclassified_bytes=stray,
        changes=[RateChange(each.begun_s, each.done_s, shape.rate_bps) for each, shape in changes],
    )


def switch_evidence(
    cluster: Cluster,
    plan: NetworkPlan,
    samples: PortSamples,
    received: Mapping[str, Mapping[str, Sequence[int]]],
) -> list[SwitchEvidence]:
    """Bytes in and out of each switch between the first sample and the last."""
    found = []
    for switch in cluster.switches:
        namespace = plan.namespaces[switch]
        sent = dropped = backlog = 0
        for end in plan.ports.values():
            if end.namespace != namespace:
                continue
            series = samples[(end.namespace, end.device)]
            first, last = series[0].counters, series[-1].counters
            leaves = [minor for minor in last if minor != ROOT_CLASS]
            sent += sum(last[m][0] - first[m][0] for m in leaves)
            dropped += sum(last[m][2] - first[m][2] for m in leaves)
            backlog += sum(last[m][3] - first[m][3] for m in leaves)
        devices = {name: c for name, c in received[namespace].items() if name != "lo"}
        came_in = sum(end - start for start, end in devices.values())
        found.append(SwitchEvidence(switch, came_in, sent, dropped, backlog))
    return found
