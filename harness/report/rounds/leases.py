"""What the report reads of the leases of a run of rounds: what they hold over time, and the
earliest of them on the first servers, one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from harness.report.rounds.documents import ArmRead, SeedRead
from harness.report.rounds.occupancy import Occupancy, OccupancyBins
from harness.report.rounds.parquet import parts, rows
from harness.report.thinning import Floats

SHARES = ["cpus", "memory_bytes", "storage_bytes_per_s"]
"""What a lease holds beside its GPUs."""

MOST_GPUS = 32
"""GPUs of an arm whose leases are shown one by one; whole servers, and at least one."""

MOST_LEASES = 300
"""Leases of an arm that are shown one by one."""

_SHARE_POINTS = 300
_TIMES = ["from_s", "until_s"]
_COLUMNS = ["arm", "seed", "job", "server", "gpus", *SHARES, *_TIMES]


@dataclass(frozen=True)
class ShownLeases:
    """Of one arm with its first seed.

    rows: ``job``, ``model``, ``server``, ``gpus``, ``cpus``, ``from_s`` and ``until_s`` of leases
    on the first ``servers``, in order of their beginning. from_s, until_s: all of the leases on
    these servers in this time are there. of: leases of the arm with this seed, in all.
    """

    rows: pd.DataFrame
    servers: int
    from_s: float
    until_s: float
    of: int


@dataclass(frozen=True)
class LeasesRead:
    """By arm, of those that ran, with the first seed of each.

    occupancy: by ``gpus`` and SHARES, what all of its leases hold. shown: of the arms that have
    leases on the first servers.
    """

    occupancy: dict[str, dict[str, Occupancy]]
    shown: dict[str, ShownLeases]


def read_leases(tables: Path, arms: list[ArmRead], from_s: Mapping[str, float]) -> LeasesRead:
    """Of the run whose ``tables`` are in this directory.

    from_s: by arm, from when on leases are shown one by one. Raises BadInputError.
    """
    readers = [_Reader(arm, arm.runs[0], from_s.get(arm.name, 0.0)) for arm in arms if arm.runs]
    for part in parts(tables / "rounds.parquet", _COLUMNS):
        for reader in readers:
            reader.add(part)
    models = _models(tables / "jobs.parquet", readers)
    return LeasesRead(
        {reader.arm.name: reader.occupancy() for reader in readers},
        {
            reader.arm.name: shown
            for reader in readers
            if (shown := reader.shown(models)) is not None
        },
    )


def _models(file: Path, readers: list[_Reader]) -> pd.DataFrame:
    """``model`` of each of the jobs whose leases are shown, by ``arm``, ``seed`` and ``job``."""
    jobs = sorted({str(job) for reader in readers for job in reader.earliest["job"]})
    key = ["arm", "seed", "job"]
    wanted = pc.field("job").isin(pa.array(jobs, pa.string()))
    found = rows(file, [*key, "model"], wanted).drop_duplicates(key)
    # As words: categories of two tables are no keys to join them by.
    return found.astype(dict.fromkeys(("arm", "job", "model"), object))


class _Reader:
    """Takes what is shown of one arm out of one part of the table after the other."""

    def __init__(self, arm: ArmRead, run: SeedRead, from_s: float) -> None:
        self.arm = arm
        self.earliest = pd.DataFrame(columns=_COLUMNS)
        self._run = run
        self._from_s = from_s
        self._servers = _first_servers(arm)
        self._count = 0
        self._gpus = OccupancyBins(run.end_s, arm.round_s)
        self._shares = {
            name: OccupancyBins(run.end_s, arm.round_s, _SHARE_POINTS) for name in SHARES
        }

    def add(self, part: pa.Table) -> None:
        """Leases of any arms and seeds."""
        own = part.filter((pc.field("arm") == self.arm.name) & (pc.field("seed") == self._run.seed))
        self._count += own.num_rows
        times_s = [_floats(own[name]) for name in _TIMES]
        for name, bins in {"gpus": self._gpus, **self._shares}.items():
            bins.add(times_s[0], times_s[1], _floats(own[name]))
        # Where the cluster counts as one machine, a lease is on no server: -1.
        is_there = (pc.field("server") >= 0) & (pc.field("server") < self._servers)
        frame = own.filter(is_there & (pc.field("until_s") > self._from_s)).to_pandas()
        if frame.empty:
            return
        frame["job"] = frame["job"].astype(object)
        both = pd.concat([self.earliest, frame]) if len(self.earliest) else frame
        # One more than is shown says from when on leases are missing.
        self.earliest = both.nsmallest(MOST_LEASES + 1, "from_s", keep="first")

    def occupancy(self) -> dict[str, Occupancy]:
        """By what leases hold."""
        return {
            name: each.occupancy() for name, each in {"gpus": self._gpus, **self._shares}.items()
        }

    def shown(self, models: pd.DataFrame) -> ShownLeases | None:
        """None where no lease is."""
        if self.earliest.empty:
            return None
        until_s = self._run.end_s
        found = self.earliest
        if len(found) > MOST_LEASES:
            until_s = float(found["from_s"].iloc[MOST_LEASES])
            found = found[found["from_s"] < until_s]
        found = found.astype({"arm": object}).merge(models, on=["arm", "seed", "job"], how="left")
        columns = ["job", "model", "server", "gpus", "cpus", *_TIMES]
        return ShownLeases(found[columns], self._servers, self._from_s, until_s, self._count)


def _floats(column: pa.ChunkedArray) -> Floats:
    return np.asarray(column, dtype=float)


def _first_servers(arm: ArmRead) -> int:
    """How many of the first servers have MOST_GPUS GPUs or fewer, and at least 1."""
    gpus = [servers.gpus for servers in arm.cluster for _ in range(min(servers.count, MOST_GPUS))]
    return max(int((np.cumsum(gpus[:MOST_GPUS]) <= MOST_GPUS).sum()), 1)
