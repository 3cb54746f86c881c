"""The file of a trace: Parquet with JOB_COLUMNS, and in its metadata how it was made."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from traces.errors import BadInputError
from traces.job_trace import JobTrace, checked_trace, instant_of

SCHEMA_VERSION = 1

_ROW_GROUP = 10_000  # jobs that are read together, where not all are wanted
_METADATA_KEY = b"roundelay_job_trace"
_WRITTEN = "a trace that Roundelay wrote (Parquet)"
_WITHOUT_COUNTS = "what was left out, changed and reordered is counted for the whole file only"


class _TraceDocument(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    schema_version: Literal[1]
    source: str
    format: str
    read: int = Field(ge=0)
    reordered: int = Field(ge=0)
    notes: tuple[str, ...]
    left_out: dict[str, int] = Field(default_factory=dict)
    changed: dict[str, int] = Field(default_factory=dict)
    began: str | None = None
    share: float = Field(default=1.0, gt=0, le=1)
    rules: dict[str, bool] = Field(default_factory=dict)

    @field_validator("began")
    @classmethod
    def _is_instant(cls, began: str | None) -> str | None:
        if began is not None:
            instant_of(began)
        return began


def write_trace(trace: JobTrace, file: Path) -> None:
    """Write ``trace`` as Parquet; what is not a column goes into its metadata."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "source": trace.source,
        "format": trace.format,
        "read": trace.read,
        "reordered": trace.reordered,
        "notes": trace.notes,
        "left_out": dict(trace.left_out),
        "changed": dict(trace.changed),
        "began": trace.began,
        "share": trace.share,
        "rules": dict(trace.rules),
    }
    table = pa.Table.from_pandas(trace.jobs, preserve_index=False)
    metadata = {**(table.schema.metadata or {}), _METADATA_KEY: json.dumps(document).encode()}
    pq.write_table(
        table.replace_schema_metadata(metadata),
        file,
        row_group_size=_ROW_GROUP,
        write_page_checksum=True,
    )


def read_trace(file: Path, share: float = 1.0) -> JobTrace:
    """Read what :func:`write_trace` wrote, and check it again. share: of its jobs, the first ones.

    Of a part it is not known what was left out, changed or reordered: a note says so where anything
    was. Raises BadInputError, without a line, for what is damaged, lacks a column or has a bad
    value.
    """
    try:
        with pq.ParquetFile(file, page_checksum_verification=True) as parquet:
            table = _first_rows(parquet, share)
        # Without the metadata of pandas, which can make an index of a column.
        frame = table.to_pandas(ignore_metadata=True)
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = str(error).partition("\n")[0]
        raise BadInputError(f"cannot be read: {reason}", allowed=_WRITTEN, file=file) from None
    stored = (table.schema.metadata or {}).get(_METADATA_KEY)
    if stored is None:
        problem = "does not say where its jobs come from"
        raise BadInputError(problem, allowed=_WRITTEN, file=file)
    try:
        document = _TraceDocument.model_validate_json(stored)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise BadInputError(first["msg"], allowed=_WRITTEN, file=file, key=key or None) from None
    if share < 1.0:
        document = _of_part(document, len(frame))
    try:
        trace = checked_trace(
            frame,
            source=document.source,
            format=document.format,
            read=document.read,
            notes=document.notes,
            left_out=document.left_out,
            changed=document.changed,
            began=document.began,
            share=document.share * share,
        )
    except BadInputError as error:
        # The lines are those of the source, not of this file.
        raise BadInputError(
            error.problem, allowed=error.allowed, file=file, key=error.key
        ) from None
    reordered = document.reordered + trace.reordered
    return replace(trace, reordered=reordered, rules=document.rules)


def _of_part(document: _TraceDocument, jobs: int) -> _TraceDocument:
    """``document``, with the counts of the first ``jobs`` of the file alone."""
    counted = document.left_out or document.changed or document.reordered
    notes = (*document.notes, _WITHOUT_COUNTS) if counted else document.notes
    none: dict[str, object] = {"left_out": {}, "changed": {}, "reordered": 0}
    return document.model_copy(update={"read": jobs, "notes": notes, **none})


def _first_rows(parquet: pq.ParquetFile, share: float) -> pa.Table:
    """The first ``share`` of all rows, rounded up; of the file only the row groups they are in.

    Raises ValueError where the file has fewer rows than it says.
    """
    wanted = math.ceil(parquet.metadata.num_rows * share)
    groups, rows = 0, 0
    while rows < wanted:
        if groups == parquet.num_row_groups:
            raise ValueError("it has fewer jobs than it says")
        rows += parquet.metadata.row_group(groups).num_rows
        groups += 1
    return parquet.read_row_groups(list(range(groups))).slice(0, wanted)
