"""From times to the sensitivity that schedulers read. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from profiler.allocation import Allocation
from profiler.sensitivity.isotonic import Floats, Risen, risen
from profiler.sensitivity.measured_point import MeasuredPoint
from traces.sensitivity import Sensitivity


@dataclass(frozen=True)
class Subject:
    """What was measured: a job with one GPU (or none), on a machine.

    dataset_bytes, sample_bytes: of the samples as they lie in storage, and their mean; None where
        the training does not tell.
    dataset: in words. machine: in words. gpu_uuid: None without a GPU. versions: of what ran there,
        by name.
    """

    model: str
    kind: str
    gpu_type: str
    batch_size: int
    dataset_bytes: float | None
    sample_bytes: float | None
    dataset: str
    machine: str
    versions: Mapping[str, str]
    gpu_uuid: str | None = None

    @property
    def source(self) -> str:
        """Where the figures come from, in words."""
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        gpu = "" if self.gpu_uuid is None else f" (GPU {self.gpu_uuid})"
        return f"measured on {self.machine}{gpu}" + (f" with {versions}" if versions else "")


def with_measured(
    iteration_s: Floats,
    cpus: Sequence[float],
    cache_bytes: Sequence[float],
    points: Sequence[MeasuredPoint],
) -> Floats:
    """``iteration_s``, (cpus, cache_bytes), with the times of ``points`` wherever there is one.

    Raises ValueError where a point is not on the grid.
    """
    filled = iteration_s.copy()
    rows = {value: row for row, value in enumerate(cpus)}
    columns = {value: column for column, value in enumerate(cache_bytes)}
    for point in points:
        row = rows.get(point.allocation.cpus)
        column = columns.get(point.allocation.cache_bytes)
        if row is None or column is None:
            raise ValueError(f"{point.allocation} is not on the grid")
        if point.is_measured:
            filled[row, column] = point.iteration_s
    return filled


def sensitivity_of(
    subject: Subject,
    cpus: ArrayLike,
    cache_bytes: ArrayLike,
    iteration_s: Floats,
    reference: Allocation,
    how: str,
) -> tuple[Sensitivity, Risen]:
    """The sensitivity, and what had to be changed of its throughput so that it falls nowhere.

    iteration_s: (cpus, cache_bytes), finite. reference: a point of the grid, at which throughput is
    1. how: in words, how the table was made; it is part of the source, as is the repair where there
    was one. Raises ValueError where the reference is not on the grid, SensitivityError as
    Sensitivity does.
    """
    cpus, cache = np.asarray(cpus, dtype=np.float64), np.asarray(cache_bytes, dtype=np.float64)
    row, column = (
        np.flatnonzero(cpus == reference.cpus),
        np.flatnonzero(cache == reference.cache_bytes),
    )
    if not (len(row) and len(column)):
        raise ValueError(f"{reference} is not on the grid")
    repair = risen(1 / iteration_s)
    at_reference = float(repair.values[row[0], column[0]])
    sensitivity = Sensitivity(
        model=subject.model,
        kind=subject.kind,
        gpu_type=subject.gpu_type,
        batch_size=subject.batch_size,
        iteration_s=1 / at_reference,
        reference_cpus=reference.cpus,
        reference_memory_bytes=reference.cache_bytes,
        cpus=cpus,
        memory_bytes=cache,
        throughput=repair.values / at_reference,
        provenance="measured",
        source="; ".join(part for part in (subject.source, how, _repair_in_words(repair)) if part),
        dataset_bytes=subject.dataset_bytes,
        sample_bytes=subject.sample_bytes,
        dataset_provenance=None if subject.dataset_bytes is None else "measured",
        dataset_source="" if subject.dataset_bytes is None else subject.dataset,
    )
    return sensitivity, repair


def _repair_in_words(repair: Risen) -> str:
    if not repair.changed:
        return ""
    return (
        f"{repair.changed} of {repair.values.size} values changed by up to {repair.most:.2%}, "
        "as neither more CPUs nor more memory slows training down"
    )
