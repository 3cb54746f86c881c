"""The JSON documents of a run as the report reads them. Keys that it does not show are ignored."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from traces.errors import BadInputError
from traces.run_directory import read_json

Read = TypeVar("Read")


class _Document(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Times(_Document):
    """Iteration times over all counted iterations of an arm, in seconds."""

    mean: float = Field(gt=0)
    p50: float
    p99: float


class SideTimes(_Document):
    """What one side, the measurement or the prediction, says of an arm."""

    iteration_s: Times


class InvariantCheck(_Document):
    """One check of the verdict."""

    name: str
    ok: bool
    value: float
    limit: float
    bound: str
    unit: str
    explanation: str


class VerdictRead(_Document):
    """An arm's verdict; without invariants where it was never reached."""

    status: Literal["valid", "suspect", "invalid"]
    invariants: list[InvariantCheck]


class ScaleRead(_Document):
    """How the cluster was made small enough for the machine."""

    rate_divisor: float = Field(gt=0)
    reason: str
    load_hop_bps: float
    budget_hop_bps: float = Field(gt=0)
    smallest_transfer_packets: float | None
    warnings: list[str]


class JobRead(_Document):
    """A job and where its numbers come from."""

    job: str
    model: str
    provenance: str
    source: str


class ArmRead(_Document):
    """One arm with what was done of it; difference: prediction over measurement - 1.

    incomparable: why groups of contended links have no circle; there is no score then.
    """

    name: str
    sharing: str
    dedicated: bool
    interleaver: str
    measured: SideTimes | None
    predicted: SideTimes | None
    difference: dict[str, float] | None
    time_shifts_s: dict[str, float]
    score: float | None
    incomparable: list[str] = []
    verdict: VerdictRead | None
    scale: ScaleRead | None


class Summary(_Document):
    """summary.json."""

    scenario: str
    description: str
    seed: int
    interrupted: bool
    jobs: list[JobRead]
    arms: list[ArmRead]


class Circle(_Document):
    """One group of contended links: jobs that share the same ports.

    demand_bps: shape (jobs, angles), the mean demand in each angle of the unified circle.
    """

    arm: str
    jobs: list[str] = Field(min_length=1)
    ports: list[str] = Field(min_length=1)
    capacity_bps: float = Field(gt=0)
    perimeter_s: float = Field(gt=0)
    demand_bps: list[list[float]]
    applied_shifts_s: list[float]
    best_shifts_s: list[float]
    best_score: float

    @model_validator(mode="after")
    def _one_row_a_job(self) -> Circle:
        of_jobs = (self.demand_bps, self.applied_shifts_s, self.best_shifts_s)
        if any(len(values) != len(self.jobs) for values in of_jobs):
            raise ValueError("a demand or a shift is missing for a job")
        if len({len(row) for row in self.demand_bps}) != 1 or not self.demand_bps[0]:
            raise ValueError("the demands have different numbers of angles")
        return self


class Machine(_Document):
    """The computer that a result was made on."""

    kernel: str | None = None
    architecture: str | None = None
    cpu: str | None = None
    cores: int | None = None
    memory_bytes: int | None = None


class Provenance(_Document):
    """provenance.json."""

    finished_utc: str
    run_id: str | None
    seed: int
    scenario_sha256: str
    versions: dict[str, str | None]
    machine: Machine


def read_summary(file: Path) -> Summary:
    """Read summary.json. Raises BadInputError that names the key."""
    return _read(file, TypeAdapter(Summary))


def read_circles(file: Path) -> list[Circle]:
    """Read circles.json; none where the file is absent. Raises BadInputError that names the key."""
    return _read(file, TypeAdapter(list[Circle])) if file.is_file() else []


def read_provenance(file: Path) -> Provenance:
    """Read provenance.json. Raises BadInputError that names the key."""
    return _read(file, TypeAdapter(Provenance))


def _read(file: Path, kind: TypeAdapter[Read]) -> Read:
    try:
        return kind.validate_python(read_json(file))
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInputError(
            first["msg"],
            allowed="a file that Roundelay wrote",
            file=file,
            key=".".join(str(part) for part in first["loc"]) or None,
        ) from None
