"""The load of a port as the link table has it, by network and job. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from harness.report.iterations.data import RunData, Side
from harness.report.iterations.documents import ArmRead
from harness.report.thinning import Floats, lengths

ZOOM_ITERATIONS = 6

SENDING_SHARE = 0.05
"""Share of the capacity above which a job counts as sending in a sample."""

ALL_JOBS = "all jobs (one queue)"


@dataclass(frozen=True)
class Load:
    """What crossed one port of one network. rate_bps: shape (jobs, samples); t_s ends a sample.

    capacity_bps: shape (samples,), for events may change it.
    """

    network: str
    jobs: tuple[str, ...]
    t_s: Floats
    rate_bps: Floats
    capacity_bps: Floats

    def between(self, start_s: float, end_s: float) -> Load:
        """The samples that end in this window."""
        inside = (self.t_s >= start_s) & (self.t_s <= end_s)
        return Load(
            self.network,
            self.jobs,
            self.t_s[inside],
            self.rate_bps[:, inside],
            self.capacity_bps[inside],
        )

    @property
    def mean_share(self) -> float:
        """Mean load over the mean capacity."""
        weights = lengths(self.t_s)
        total_bps = np.average(self.rate_bps.sum(axis=0), weights=weights)
        return float(total_bps / np.average(self.capacity_bps, weights=weights))


def ports_by_load(run: RunData) -> list[str]:
    """All ports that have samples: the contended ones first, and among them the busiest."""
    links = pd.concat([side.links for _, side in run.sides])
    load = links.groupby("port")["rate_bps"].sum().sort_values(ascending=False, kind="stable")
    contended = {port for circle in run.circles for port in circle.ports}
    ports = [str(port) for port in load.index]
    return [port for port in ports if port in contended] + [
        port for port in ports if port not in contended
    ]


def ports_by_meetings(run: RunData, arm: ArmRead) -> list[str]:
    """The ports of an arm whose jobs come and go: where several send at once for longest first, and
    of alike ones the busiest."""
    sides = [side.links[side.links["arm"] == arm.name] for _, side in run.sides]
    links = next((links for links in sides if len(links)), sides[0])
    sending = links[links["rate_bps"] > SENDING_SHARE * links["capacity_bps"]]
    jobs = sending.groupby(["port", "network", "t_s"])["job"].nunique()
    together = (jobs > 1).groupby("port").sum()
    load = links.groupby("port")["rate_bps"].sum()
    return sorted(load.index.astype(str), key=lambda port: (-together.get(port, 0), -load[port]))


def loads_of(rows: pd.DataFrame) -> list[Load]:
    """One load a network: a dedicated arm has one network a job."""
    found = []
    named = rows.assign(job=rows["job"].fillna(ALL_JOBS))
    for network, group in named.groupby("network", sort=False):
        wide = group.pivot_table(index="t_s", columns="job", values="rate_bps", aggfunc="sum")
        found.append(
            Load(
                str(network),
                tuple(str(job) for job in wide.columns),
                wide.index.to_numpy(dtype=float),
                wide.fillna(0.0).to_numpy(dtype=float).T,
                group.groupby("t_s")["capacity_bps"].first().to_numpy(dtype=float),
            )
        )
    return found


def first_iterations(side: Side, arm: str, loads: list[Load]) -> tuple[float, float]:
    """The first few iterations after the warm-up, of the jobs in ``loads`` where they are told
    apart; all there is where none was counted."""
    rows = side.iterations[(side.iterations["arm"] == arm) & side.iterations["counted"]]
    here = rows[rows["job"].isin([job for load in loads for job in load.jobs])]
    rows = rows if here.empty else here
    if rows.empty:
        return min(float(load.t_s[0]) for load in loads), max(float(load.t_s[-1]) for load in loads)
    start_s = float(rows["start_s"].min())
    return start_s, start_s + ZOOM_ITERATIONS * float(rows["iteration_s"].mean())
