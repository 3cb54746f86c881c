"""What was measured at one allocation, or why nothing was; as data that can be read back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from profiler.allocation import Allocation
from traces.errors import BadInputError

State = Literal["measured", "out-of-memory", "failed"]
Purpose = Literal["cpus", "memory", "grid", "check", "drift"]


@dataclass(frozen=True)
class MeasuredPoint:
    """Training with one allocation; times are of its steady iterations, and infinite without any.

    purpose: why it was measured: for the search along CPUs, to fit the memory model, as one of the
        full grid, to check the model, or once more at the end, for drift.
    state: whether it was; reason: why not.
    iteration_s, interval_s: see profiler.sensitivity.precision.Estimate.
    iterations: how many these rest on, after warmup_iterations that do not count.
    wait_s, copy_s, compute_s: means over iterations of what they are made of.
    hits, misses, fetched_bytes: of the cache, since the allocation took effect.
    evidence: what took effect, as plain data.
    steady, precise: whether it was left for that, and not because its budget was spent.
    cost_s: how long it took in all.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    allocation: Allocation
    purpose: Purpose = "cpus"
    state: State = "measured"
    reason: str = ""
    iteration_s: float = math.inf
    interval_s: tuple[float, float] = (math.inf, math.inf)
    iterations: int = 0
    warmup_iterations: int = 0
    wait_s: float = math.inf
    copy_s: float = math.inf
    compute_s: float = math.inf
    hits: int = 0
    misses: int = 0
    fetched_bytes: int = 0
    evidence: Mapping[str, Any] = field(default_factory=dict)
    steady: bool = False
    precise: bool = False
    cost_s: float = 0.0

    def __post_init__(self) -> None:
        low, high = self.interval_s
        if self.state == "measured" and not 0 < low <= self.iteration_s <= high < math.inf:
            raise ValueError("a measured point has a time, which lies in its interval")
        if self.state != "measured" and not self.reason:
            raise ValueError("a point that was not measured has a reason")

    @property
    def is_measured(self) -> bool:
        """Whether there is a time."""
        return self.state == "measured"

    def to_document(self) -> dict[str, Any]:
        """As plain data for JSON; what is as by default is left out."""
        document: dict[str, Any] = _ADAPTER.dump_python(self, mode="json", exclude_defaults=True)
        return document


_ADAPTER: Final = TypeAdapter(MeasuredPoint)


def point_from_document(document: object, file: Path, line: int) -> MeasuredPoint:
    """Read what ``to_document`` wrote into this line of ``file``. Raises BadInputError."""
    try:
        return _ADAPTER.validate_python(document)
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInputError(
            first["msg"],
            allowed="a point that Roundelay wrote",
            file=file,
            line=line,
            key=".".join(str(part) for part in first["loc"]) or None,
        ) from None
