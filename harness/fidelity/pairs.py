"""The jobs or iterations that both sides have, in pairs, and what only one has. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from harness.fidelity.bootstrap import Counts, Floats
from harness.fidelity.inputs.results import ALL_JOBS, Results
from traces.errors import BadInputError

Measure = Literal["jct_s", "iteration_s"]

SIDES = ("reference", "prediction")
_KEYS: dict[Measure, list[str]] = {
    "jct_s": ["seed", "job"],
    "iteration_s": ["seed", "job", "iteration"],
}


@dataclass(frozen=True)
class OneSided:
    """Of an arm, what only one side has. of: how many it has. names: all of them, as text.

    unended: of them, those that the other side has too, but that did not end there.
    """

    side: str
    names: tuple[str, ...]
    unended: int
    of: int


@dataclass(frozen=True, eq=False)
class Pairs:
    """An arm on both sides. table: a row a pair, ``seed``, ``job``, (``iteration``,) ``unit``, and
    each other column twice, as ``jct_s_reference`` and ``jct_s_prediction``."""

    arm: str
    measure: Measure
    table: pd.DataFrame
    one_sided: tuple[OneSided, ...]

    @property
    def reference_s(self) -> Floats:
        return self.column(self.measure, "reference")

    @property
    def prediction_s(self) -> Floats:
        return self.column(self.measure, "prediction")

    @property
    def unit(self) -> Counts:
        return self.table["unit"].to_numpy(dtype=np.int64)

    @property
    def units(self) -> int:
        return int(self.table["unit"].max()) + 1

    def column(self, name: str, side: str) -> Floats:
        """NaN where it is not known."""
        return self.table[f"{name}_{side}"].to_numpy(dtype=float)


@dataclass(frozen=True, eq=False)
class Paired:
    """All arms that both sides have; arms that only one of them has, by measure or not at all.

    unpaired: arms that both have, without a job or iteration that both have.
    """

    arms: tuple[Pairs, ...]
    only_reference: tuple[str, ...]
    only_prediction: tuple[str, ...]
    unpaired: tuple[str, ...]


def pair(reference: Results, prediction: Results) -> Paired:
    """Raises BadInputError where there is nothing to compare."""
    reference, prediction = _with_names(reference, prediction)
    arms, theirs = reference.arms, prediction.arms
    common = [arm for arm in arms if arm in theirs]
    if not common:
        raise BadInputError(
            "the two sides have no arm in common",
            allowed=f"runs of the same scenario; REFERENCE has {_names(arms)}, "
            f"PREDICTION has {_names(theirs)}",
            file=prediction.source,
        )
    found = [each for arm in common for each in _pairs(reference, prediction, arm)]
    if not found:
        raise BadInputError(
            "no job is on both sides",
            allowed=_examples(reference, prediction, common),
            file=prediction.source,
            key="job",
        )
    there = {each.arm for each in found}
    return Paired(
        tuple(found),
        tuple(arm for arm in arms if arm not in theirs),
        tuple(arm for arm in theirs if arm not in arms),
        tuple(arm for arm in common if arm not in there),
    )


def _with_names(reference: Results, prediction: Results) -> tuple[Results, Results]:
    """Where a side names no arm, its one is that of the other side, if that has just one."""
    for one, other in ((reference, prediction), (prediction, reference)):
        if one.arms == ("",) and len(other.arms) > 1:
            raise BadInputError(
                "its jobs name no arm, and the other side has several",
                allowed=f"a column arm, with {_names(other.arms)}",
                file=one.source,
                key="arm",
            )
    name = next((arm for side in (reference, prediction) for arm in side.arms if arm), ALL_JOBS)
    return reference.with_name(name), prediction.with_name(name)


def _pairs(reference: Results, prediction: Results, arm: str) -> Iterator[Pairs]:
    if reference.jobs is not None and prediction.jobs is not None:
        yield from _measured(reference.jobs, prediction.jobs, arm, "jct_s")
    if reference.iterations is not None and prediction.iterations is not None:
        yield from _measured(reference.iterations, prediction.iterations, arm, "iteration_s")


def _measured(
    reference: pd.DataFrame, prediction: pd.DataFrame, arm: str, measure: Measure
) -> Iterator[Pairs]:
    """One or none."""
    ours, theirs = (side[side["arm"] == arm] for side in (reference, prediction))
    ours, theirs = _same_seeds(ours, theirs)
    keys = _KEYS[measure]
    named = [_with_side(rows, side, keys) for rows, side in zip((ours, theirs), SIDES, strict=True)]
    both = (
        named[0]
        .assign(place=range(len(ours)))
        .merge(named[1], on=keys, how="outer", indicator=True)
    )
    # A merge sorts; in the order of the reference, the same seed draws the same jobs.
    both = both.sort_values("place", kind="stable").drop(columns="place")
    times = [both[f"{measure}_{side}"] for side in SIDES]
    paired = times[0].notna() & times[1].notna()
    if not paired.any():
        return
    one_sided = (
        _one_sided(both, side, times[place], times[1 - place], measure)
        for place, side in enumerate(SIDES)
    )
    table = both[paired].drop(columns="_merge").reset_index(drop=True)
    yield Pairs(arm, measure, table.assign(unit=_units(table, measure)), tuple(one_sided))


def _with_side(rows: pd.DataFrame, side: str, keys: list[str]) -> pd.DataFrame:
    own = [name for name in rows.columns if name not in keys]
    return rows.rename(columns={name: f"{name}_{side}" for name in own}).drop(columns=f"arm_{side}")


def _same_seeds(ours: pd.DataFrame, theirs: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Where seeds have different names and a side has just one, it stands for each of the other."""
    seeds, others = (list(side["seed"].unique()) for side in (ours, theirs))
    if set(seeds) & set(others):
        return ours, theirs
    if len(others) == 1:
        return ours, _repeated(theirs, seeds)
    if len(seeds) == 1:
        return _repeated(ours, others), theirs
    raise BadInputError(
        f"the sides have no seed in common: {_names(tuple(seeds))} and {_names(tuple(others))}",
        allowed="the same seeds on both sides, or a single one on one of them",
        key="seed",
    )


def _repeated(side: pd.DataFrame, seeds: list[str]) -> pd.DataFrame:
    return pd.concat([side.assign(seed=seed) for seed in seeds], ignore_index=True)


def _one_sided(
    both: pd.DataFrame, side: str, own: pd.Series, other: pd.Series, measure: Measure
) -> OneSided:
    alone = own.notna() & other.isna()
    unended = int((alone & (both["_merge"] == "both")).sum())
    rows = both.loc[alone, ["seed", "job"]]
    if measure == "iteration_s":
        rows = rows.drop_duplicates()
        unended = 0
    several = both["seed"].nunique() > 1
    names = [
        f"{job} (seed {seed})" if several else str(job)
        for seed, job in zip(rows["seed"], rows["job"], strict=True)
    ]
    total = int(own.notna().sum()) if measure == "jct_s" else int(both["job"].nunique())
    return OneSided(side, tuple(names), unended, total)


def _units(table: pd.DataFrame, measure: Measure) -> Counts:
    """What is drawn anew as a whole: a job with all its seeds, whose times depend on each other; or
    as many iterations that follow each other as the square root of a job's (batch means)."""
    if measure == "jct_s":
        return _codes(table, ["job"])
    groups = table.groupby(["seed", "job"], sort=False)["iteration"]
    length = np.ceil(np.sqrt(groups.transform("size").to_numpy(dtype=float)))
    block = groups.cumcount().to_numpy() // length
    return _codes(table[["seed", "job"]].assign(block=block), ["seed", "job", "block"])


def _codes(table: pd.DataFrame, key: list[str]) -> Counts:
    return np.asarray(table.groupby(key, sort=False).ngroup(), dtype=np.int64)


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(name or "one without a name" for name in names) or "none"


def _examples(reference: Results, prediction: Results, common: list[str]) -> str:
    """What may tell a person why no job is on both sides."""
    found = [
        f"{name} has {_names(side.some_jobs(common))}"
        for name, side in (("REFERENCE", reference), ("PREDICTION", prediction))
    ]
    measures = {name: side.measures for name, side in (("r", reference), ("p", prediction))}
    if not set(measures["r"]) & set(measures["p"]):
        return (
            f"the same times on both sides; REFERENCE has {_names(reference.measures)}, "
            f"PREDICTION has {_names(prediction.measures)}"
        )
    return f"the same jobs under the same names; {', '.join(found)}"
