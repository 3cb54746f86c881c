"""What the report reads of the tables of an emulation, and of a prediction to set beside them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from harness.report.rounds.parquet import rows
from harness.report.rounds.sides import EMULATED, SIMULATED, Sides

_KEY = ["arm", "seed", "job"]
_USE = ["cpus_enforced", "cpus_used", "cpu_demanded_s"]


@dataclass(frozen=True)
class EmulatedData:
    """Of all arms and seeds.

    times: ``jct_s`` of the jobs that count and have ended on either side, by ``arm``, ``side``,
    ``seed``, ``job`` and ``model``. leases: by ``arm``, ``seed``, ``job`` and ``server``, those of
    which the kernel tells what they used: _USE and ``length_s``. untold: of how many it does not.
    """

    times: pd.DataFrame
    leases: pd.DataFrame
    untold: int

    @property
    def pairs(self) -> pd.DataFrame:
        """The jobs that ended on both sides: ``emulated_s``, ``simulated_s`` and their ``error``,
        which is the simulated time over the emulated one, less 1."""
        emulated, simulated = (
            self.times[self.times["side"] == side].drop(columns="side")
            for side in (EMULATED, SIMULATED)
        )
        both = emulated.rename(columns={"jct_s": "emulated_s"}).merge(
            simulated.rename(columns={"jct_s": "simulated_s"}).drop(columns="model"), on=_KEY
        )
        return both.assign(error=both["simulated_s"] / both["emulated_s"] - 1)


def read_emulated(sides: Sides) -> EmulatedData | None:
    """None where nothing was emulated. Raises BadInputError where a table is damaged."""
    emulated = sides.places.get(EMULATED)
    if emulated is None:
        return None
    leases = rows(
        emulated / "rounds.parquet",
        [*_KEY, "server", "from_s", "until_s", *_USE],
        pc.scalar(True),
    )
    told = leases[["cpus_enforced", "cpus_used"]].notna().all(axis=1)
    return EmulatedData(
        times=pd.concat(
            [_times(place).assign(side=side) for side, place in sides.places.items()],
            ignore_index=True,
        ),
        leases=leases[told].assign(length_s=leases["until_s"] - leases["from_s"]),
        untold=int(np.count_nonzero(~told)),
    )


def _times(place: Path) -> pd.DataFrame:
    ended = pc.field("counted") & pc.field("jct_s").is_valid()
    columns = [*_KEY, "model", "jct_s"]
    found = rows(place / "jobs.parquet", [*columns, "counted"], ended)[columns]
    # As words again: categories of two tables are no keys to join them by.
    return found.astype(dict.fromkeys(("arm", "job", "model"), object))
