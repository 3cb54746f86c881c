"""A model's profile: one JSON document with a versioned schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from traces.demand import Demand, Pattern, Transfer
from traces.errors import BadInputError
from traces.text_file import read_text

SCHEMA_VERSION = 1
MAX_FILE_BYTES = 64 * 2**20

Provenance = Literal["measured", "published", "reconstructed"]

_NOT_OF_MODEL = {"demand": {"input_s"}}
"""What a job's share of CPUs makes of a demand, and no profile holds."""


class ModelProfile(BaseModel):
    """What is known of one model at one batch size and number of GPUs.

    source says in words where the numbers come from; it travels into every report.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    model: str
    num_gpus: int = Field(ge=1)
    batch_size: int | None = None
    gpu_type: str | None = None
    demand: Demand
    provenance: Provenance
    source: str
    measured_iteration_s: float | None = None

    @model_validator(mode="after")
    def _can_run(self) -> ModelProfile:
        if self.demand.compute_s == 0 and not self.demand.transfers:
            raise ValueError("an iteration neither computes nor sends, so it takes no time")
        for transfer in self.demand.transfers:
            for pair in transfer.pairs:
                if pair[0] == pair[1] or not all(0 <= rank < self.num_gpus for rank in pair):
                    raise ValueError(f"{pair} is not a pair of two of {self.num_gpus} ranks")
        return self


class _TransferDocument(BaseModel):
    model_config = ConfigDict(extra="forbid")

    ready_s: float = Field(ge=0)
    bytes: float = Field(gt=0)
    pattern: Pattern = Pattern.RING
    blocking: bool = False
    rate_limit_bps: Annotated[float, Field(gt=0)] | None = None
    pairs: list[tuple[int, int]] = []
    name: str = ""


class _DemandDocument(BaseModel):
    model_config = ConfigDict(extra="forbid")

    compute_s: float = Field(ge=0)
    transfers: list[_TransferDocument]


class _ProfileDocument(BaseModel):
    model_config = ConfigDict(extra="forbid", protected_namespaces=())

    schema_version: Literal[1]
    model: str
    num_gpus: int = Field(ge=1)
    batch_size: int | None = None
    gpu_type: str | None = None
    provenance: Provenance
    source: str
    measured_iteration_s: float | None = None
    demand: _DemandDocument


def profile_document(profile: ModelProfile) -> dict[str, object]:
    """The JSON document of ``profile``, as plain data."""
    document = _ProfileDocument.model_validate(
        {
            "schema_version": SCHEMA_VERSION,
            **profile.model_dump(mode="python", exclude=_NOT_OF_MODEL),
        }
    )
    return document.model_dump(mode="json", exclude_defaults=True, exclude_none=True)


def write_profile(profile: ModelProfile, file: Path) -> None:
    """Write ``profile`` as JSON."""
    file.write_text(json.dumps(profile_document(profile), indent=2) + "\n", encoding="utf-8")


def read_profile(file: Path) -> ModelProfile:
    """Read a profile. Raises BadInputError that names the key and what is allowed."""
    allowed = "a profile that 'roundelay demand import' wrote (JSON, at most 64 MiB)"
    text = read_text(file, MAX_FILE_BYTES, allowed)
    try:
        document = _ProfileDocument.model_validate_json(text)
        demand = Demand(
            compute_s=document.demand.compute_s,
            transfers=tuple(
                Transfer(**{**dict(transfer), "pairs": tuple(transfer.pairs)})
                for transfer in document.demand.transfers
            ),
        )
        fields = document.model_dump(exclude={"schema_version", "demand"})
        return ModelProfile(**fields, demand=demand)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise BadInputError(first["msg"], allowed=allowed, file=file, key=key or None) from None
    except ValueError as error:
        raise BadInputError(str(error), allowed=allowed, file=file, key="demand") from None
