"""One measured figure beside its target."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

RESULTS = Path(__file__).with_name("results.json")

_LOOP_TURNS = 5_000_000


@dataclass(frozen=True)
class Figure:
    """A figure of `make bench`. peer: the same of another tool, where there is one.

    bound: whether the value has to stay below the target or to reach it. note: how it was measured.
    """

    name: str
    value: float
    unit: str
    target: float | None
    bound: Literal["at most", "at least"]
    peer: float | None
    note: str

    @property
    def ok(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        if self.target is None:
            return None
        return self.value <= self.target if self.bound == "at most" else self.value >= self.target

    def document(self) -> dict[str, object]:
        """As it stands in results.json."""
        return {**asdict(self), "ok": self.ok}

    def __str__(self) -> str:
        target = "" if self.target is None else f" ({self.bound} {self.target:g})"
        state = {True: "ok", False: "MISSED", None: ""}[self.ok]
        return f"{self.name:36} {self.value:10.4g} {self.unit:8}{target:20} {state:7} {self.note}"


def machine_reference() -> Figure:
    """Seconds for a fixed pure-Python loop, so that two machines can be compared."""
    began_s = time.perf_counter()
    total = 0
    for number in range(_LOOP_TURNS):
        total += number & 7
    taken_s = time.perf_counter() - began_s
    note = f"{_LOOP_TURNS:,} turns of a pure-Python loop"
    return Figure("machine.python_loop_s", taken_s, "s", None, "at most", None, note)


def write(figures: list[Figure]) -> None:
    """Write results.json."""
    RESULTS.write_text(json.dumps([figure.document() for figure in figures], indent=2) + "\n")
