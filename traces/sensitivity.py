"""How fast a model trains with how many CPUs and how much memory, and the document it lives in."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, overload

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, GetPydanticSchema, PlainSerializer, ValidationError

from traces.errors import BadInputError
from traces.model_profile import Provenance
from traces.text_file import read_text

SCHEMA_VERSION: Final = 1
MAX_FILE_BYTES = 16 * 2**20

BUILTIN = {"synergy": "synergy.json"}
"""Name -> file in traces/models."""

Floats = NDArray[np.float64]
# Documents hold plain numbers; __post_init__ makes the arrays.
_Points = Annotated[
    Floats,
    GetPydanticSchema(lambda _, handler: handler(tuple[float, ...])),
    PlainSerializer(np.ndarray.tolist),
]
_Table = Annotated[
    Floats,
    GetPydanticSchema(lambda _, handler: handler(tuple[tuple[float, ...], ...])),
    PlainSerializer(np.ndarray.tolist),
]

_REFERENCE_TOLERANCE = 1e-6
_GB = 1e9
_ALLOWED = "a sensitivity document as traces/models/synergy.json (JSON, at most 16 MiB)"


class SensitivityError(ValueError):
    """One field is wrong. field: its name in the document; str() says what is wrong with it."""

    def __init__(self, field: str, problem: str) -> None:
        self.field = field
        super().__init__(f"{field} {problem}")


@dataclass(frozen=True)
class TwoPoint:
    """The coarsest model of one CPU:GPU ratio: the proportional share, or the ideal demand.

    ratio: CPUs per GPU of the servers, which is the proportional share.
    iteration_s: seconds of one iteration at that share.
    speedup: how many times as fast an iteration is with the ideal demand.
    cpus, memory_bytes: the ideal demand, per GPU.
    Raises SensitivityError where one of them is not a positive number.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    ratio: float
    iteration_s: float
    speedup: float
    cpus: float
    memory_bytes: float

    def __post_init__(self) -> None:
        for field in ("ratio", "iteration_s", "speedup", "cpus", "memory_bytes"):
            _require_positive(field, getattr(self, field))


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Throughput of one model on one type of GPU over CPUs and memory, both per GPU.

    model, kind: its name, and in a word what it works on ("image", "language", "speech").
    batch_size: samples per GPU and iteration.
    iteration_s: seconds of one iteration at the reference share.
    reference_cpus, reference_memory_bytes: that share, per GPU.
    cpus, memory_bytes: the points of the two axes, per GPU, strictly increasing.
    throughput: (cpus, memory_bytes), relative to the reference share, where it is 1. Neither more
        CPUs nor more memory lowers it.
    provenance, source: where all these come from; source, in words, travels into every report.
    placeholder_memory_bytes: those of ``memory_bytes`` whose values stand for "too little" and were
        never measured; between such a point and the next, ``at`` is no better than that.
    dataset_bytes, sample_bytes: the dataset's size and its samples' mean size in storage; both
        known or neither.
    dataset_provenance, dataset_source: where these two come from, which is often elsewhere.
    two_point: the published coarse model by CPU:GPU ratio, ascending, where there is one.

    Arrays are kept as read-only copies. Raises SensitivityError (a ValueError) with the field.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    model: str
    kind: str
    gpu_type: str
    batch_size: int
    iteration_s: float
    reference_cpus: float
    reference_memory_bytes: float
    cpus: _Points
    memory_bytes: _Points
    throughput: _Table
    provenance: Provenance
    source: str
    placeholder_memory_bytes: tuple[float, ...] = ()
    dataset_bytes: float | None = None
    sample_bytes: float | None = None
    dataset_provenance: Provenance | None = None
    dataset_source: str = ""
    two_point: tuple[TwoPoint, ...] = ()

    def __post_init__(self) -> None:
        for field in ("cpus", "memory_bytes", "throughput"):
            object.__setattr__(self, field, _read_only(field, getattr(self, field)))
        for field in ("batch_size", "iteration_s", "reference_cpus", "reference_memory_bytes"):
            _require_positive(field, getattr(self, field))
        for field in ("dataset_bytes", "sample_bytes"):
            if getattr(self, field) is not None:
                _require_positive(field, getattr(self, field))
        if (self.dataset_bytes is None) != (self.sample_bytes is None):
            raise SensitivityError(
                "sample_bytes", "and dataset_bytes must both be given, or neither"
            )
        _require_increasing("cpus", self.cpus)
        _require_positive("cpus", self.cpus[0])
        _require_increasing("memory_bytes", self.memory_bytes)
        for memory in self.placeholder_memory_bytes:
            if memory not in self.memory_bytes:
                raise SensitivityError(
                    "placeholder_memory_bytes", f"has {memory:g}, which is not in memory_bytes"
                )
        self._require_a_rising_table()
        at_reference = self.at(self.reference_cpus, self.reference_memory_bytes)
        if abs(at_reference - 1) > _REFERENCE_TOLERANCE:
            share = _share(self.reference_cpus, self.reference_memory_bytes)
            raise SensitivityError(
                "throughput",
                f"of {self.model} at its reference share, {share}, is {at_reference:g}, not 1",
            )
        if self.two_point:
            _require_increasing("two_point", np.array([point.ratio for point in self.two_point]))

    def _require_a_rising_table(self) -> None:
        rows, columns = len(self.cpus), len(self.memory_bytes)
        if self.throughput.shape != (rows, columns):
            raise SensitivityError(
                "throughput", f"must have {rows} rows (cpus) of {columns} values (memory_bytes)"
            )
        for (row, column), here in np.ndenumerate(self.throughput):
            share = _share(self.cpus.item(row), self.memory_bytes.item(column))
            place = f"of {self.model} at {share} is {here:g}"
            if not 0 <= here < math.inf:
                raise SensitivityError(
                    "throughput", f"{place}, and must be zero or more, and finite"
                )
            if row and here < self.throughput[row - 1, column]:
                raise SensitivityError("throughput", f"{place}, lower than with fewer CPUs")
            if column and here < self.throughput[row, column - 1]:
                raise SensitivityError("throughput", f"{place}, lower than with less memory")

    @overload
    def at(self, cpus: float, memory_bytes: float) -> float: ...
    @overload
    def at(self, cpus: NDArray[Any], memory_bytes: float | NDArray[Any]) -> Floats: ...
    @overload
    def at(self, cpus: float, memory_bytes: NDArray[Any]) -> Floats: ...

    def at(self, cpus: float | NDArray[Any], memory_bytes: float | NDArray[Any]) -> float | Floats:
        """Throughput with this share per GPU, relative to the reference share.

        Bilinear between the points and exact on them. Beyond the last point of either axis it is
        held, and below the first of memory too; below the first of CPUs it is proportional to CPUs.
        Arrays are broadcast against each other. Raises ValueError where a share is negative.
        """
        wanted_cpus, wanted_memory = np.broadcast_arrays(
            np.asarray(cpus, dtype=np.float64), np.asarray(memory_bytes, dtype=np.float64)
        )
        if not (np.all(wanted_cpus >= 0) and np.all(wanted_memory >= 0)):
            raise ValueError("a share of CPUs or memory is not zero or more")
        table = self.throughput
        row, next_row, between_rows = _position(wanted_cpus, self.cpus)
        column, next_column, between_columns = _position(wanted_memory, self.memory_bytes)
        less = _blend(table[row, column], table[next_row, column], between_rows)
        more = _blend(table[row, next_column], table[next_row, next_column], between_rows)
        below_first_row = np.minimum(wanted_cpus / self.cpus[0], 1.0)
        relative = _blend(less, more, between_columns) * below_first_row
        return relative if relative.ndim else float(relative)

    @overload
    def missed_bytes_per_iteration(self, memory_bytes: float, num_gpus: int) -> float: ...
    @overload
    def missed_bytes_per_iteration(self, memory_bytes: NDArray[Any], num_gpus: int) -> Floats: ...

    def missed_bytes_per_iteration(
        self, memory_bytes: float | NDArray[Any], num_gpus: int
    ) -> float | Floats:
        """Bytes that each GPU's iteration reads from storage once the cache is full.

        memory_bytes: cache per GPU; num_gpus: the job's GPUs on one server, which share theirs.
        The cache holds a fixed part of the dataset and never evicts (MinIO, VLDB 2021), so that in
        every epoch the share of samples that hit it is the share of the dataset that it holds.
        Raises ValueError where the dataset is unknown, or the cache negative.
        """
        if self.dataset_bytes is None or self.sample_bytes is None:
            raise ValueError(f"the dataset of {self.model} is unknown")
        memory = np.asarray(memory_bytes, dtype=np.float64)
        if not (np.all(memory >= 0) and num_gpus >= 1):
            raise ValueError("a cache is not zero or more bytes on each of one or more GPUs")
        cached_share = np.minimum(1.0, memory * num_gpus / self.dataset_bytes)
        missed = self.batch_size * self.sample_bytes * (1 - cached_share)
        return missed if missed.ndim else float(missed)

    def two_point_at(self, ratio: float) -> TwoPoint:
        """The coarse model at ``ratio`` CPUs per GPU. KeyError, with what is known, if none."""
        for point in self.two_point:
            if point.ratio == ratio:
                return point
        known = ", ".join(f"{point.ratio:g}" for point in self.two_point) or "none"
        raise KeyError(f"no two_point of {self.model} at {ratio:g} CPUs per GPU; known: {known}")


@dataclass(frozen=True, eq=False)
class Sensitivities:
    """Sensitivities by model and type of GPU, in the order of their document.

    Raises SensitivityError where there is none, one comes twice, or a model has two kinds.
    """

    entries: tuple[Sensitivity, ...]
    description: str = ""

    def __post_init__(self) -> None:
        if not self.entries:
            raise SensitivityError("models", "must have at least one entry")
        kinds: dict[str, str] = {}
        seen = set()
        for entry in self.entries:
            if (entry.model, entry.gpu_type) in seen:
                raise SensitivityError("models", f"has {entry.model} on {entry.gpu_type} twice")
            seen.add((entry.model, entry.gpu_type))
            if kinds.setdefault(entry.model, entry.kind) != entry.kind:
                raise SensitivityError(
                    "models", f"has {entry.model} as {kinds[entry.model]} and as {entry.kind}"
                )

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(dict.fromkeys(entry.model for entry in self.entries))

    @property
    def gpu_types(self) -> tuple[str, ...]:
        """Types of GPU that a model was seen on."""
        return tuple(dict.fromkeys(entry.gpu_type for entry in self.entries))

    @property
    def kinds(self) -> dict[str, tuple[str, ...]]:
        """Kind -> its models."""
        kind_of = {entry.model: entry.kind for entry in self.entries}
        return {
            kind: tuple(model for model in kind_of if kind_of[model] == kind)
            for kind in dict.fromkeys(kind_of.values())
        }

    def find(self, model: str, gpu_type: str) -> Sensitivity | None:
        """The sensitivity of ``model`` on ``gpu_type``, where there is one."""
        for entry in self.entries:
            if (entry.model, entry.gpu_type) == (model, gpu_type):
                return entry
        return None

    def of(self, model: str, gpu_type: str) -> Sensitivity:
        """As ``find``; KeyError, with what is known, where there is none."""
        entry = self.find(model, gpu_type)
        if entry is None:
            known = ", ".join(f"{entry.model} on {entry.gpu_type}" for entry in self.entries)
            raise KeyError(f"no sensitivity of {model} on {gpu_type}; known: {known}")
        return entry


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid")

    schema_version: Literal[1]
    description: str = ""
    models: tuple[Sensitivity, ...]


def read_sensitivities(file: Path) -> Sensitivities:
    """Read a document. Raises BadInputError that names the key and what is allowed."""
    text = read_text(file, MAX_FILE_BYTES, _ALLOWED)
    try:
        document = _Document.model_validate_json(text)
        return Sensitivities(document.models, document.description)
    except ValidationError as error:
        first = error.errors()[0]
        cause = first.get("ctx", {}).get("error")
        fields = [cause.field] if isinstance(cause, SensitivityError) else []
        key = ".".join(str(part) for part in (*first["loc"], *fields)) or None
        problem = str(cause) if fields else first["msg"]
        raise BadInputError(problem, allowed=_ALLOWED, file=file, key=key) from None
    except SensitivityError as error:
        raise BadInputError(str(error), allowed=_ALLOWED, file=file, key=error.field) from None


def write_sensitivities(sensitivities: Sensitivities, file: Path) -> None:
    """Write ``sensitivities`` as JSON, so that reading it gives the same again."""
    document = _Document(
        schema_version=SCHEMA_VERSION,
        description=sensitivities.description,
        models=sensitivities.entries,
    )
    values = document.model_dump(mode="json", exclude_defaults=True)
    file.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")


def builtin_sensitivities(name: str) -> Sensitivities:
    """The set of that name in BUILTIN. Raises BadInputError where there is none."""
    if name not in BUILTIN:
        raise BadInputError(f"there is no built-in set {name}", allowed=", ".join(BUILTIN))
    with resources.as_file(resources.files("traces.models") / BUILTIN[name]) as file:
        return read_sensitivities(file)


def _share(cpus: float, memory_bytes: float) -> str:
    return f"{cpus:g} CPUs and {memory_bytes / _GB:g} GB"


def _read_only(field: str, values: Floats) -> Floats:
    try:
        array = np.array(values, dtype=np.float64)
    except ValueError:
        raise SensitivityError(field, "has rows of different lengths") from None
    array.setflags(write=False)
    return array


def _require_positive(field: str, value: float) -> None:
    if not 0 < value < math.inf:
        raise SensitivityError(field, f"is {value:g}, and must be more than 0, and finite")


def _require_increasing(field: str, points: Floats) -> None:
    if not points.size:
        raise SensitivityError(field, "has no points, and must have at least one")
    for point in points:
        if not 0 <= point < math.inf:
            raise SensitivityError(field, f"has {point:g}, and must be zero or more, and finite")
    for point, following in itertools.pairwise(points):
        if following <= point:
            raise SensitivityError(field, f"has {following:g} after {point:g}, and must increase")


def _position(values: Floats, axis: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """(index of the point below, index of the one above, how far between them), all as values."""
    held = np.clip(values, axis[0], axis[-1])
    below = np.searchsorted(axis, held, side="right") - 1
    above = np.minimum(below + 1, len(axis) - 1)
    width = axis[above] - axis[below]
    return below, above, (held - axis[below]) / np.where(width > 0, width, 1.0)


def _blend(low: Floats, high: Floats, between: Floats) -> Floats:
    # In this form two equal ends give exactly that value, so that a plateau is flat.
    return low + between * (high - low)
