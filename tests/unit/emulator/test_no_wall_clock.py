"""Nothing in the emulator takes its time from a clock that can be set."""

from __future__ import annotations

import ast
from pathlib import Path

import emulator

WALL_CLOCKS = {("time", "time"), ("time", "time_ns"), ("datetime", "now"), ("datetime", "utcnow")}
WHEN_IT_WAS_MEASURED = {"budget.py", "doctor.py"}
"""They say on which day this box was measured."""


def wall_clock_reads(source: str) -> list[int]:
    """Lines that call a wall clock, or import one by its name."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            name = getattr(owner, "attr", None) or getattr(owner, "id", None)
            if (name, node.func.attr) in WALL_CLOCKS:
                found.append(node.lineno)
        if isinstance(node, ast.ImportFrom) and node.module == "time":
            found += [node.lineno for each in node.names if each.name in ("time", "time_ns")]
    return found


def test_a_wall_clock_is_seen_however_it_is_read() -> None:
    source = (
        "import time, datetime\nfrom time import time as now\n"
        "time.time()\ndatetime.datetime.now()\ntime.monotonic()\n"
    )
    assert sorted(wall_clock_reads(source)) == [2, 3, 4]


def test_the_emulator_reads_none() -> None:
    root = Path(emulator.__path__[0])
    files = [path for path in root.rglob("*.py") if path.name not in WHEN_IT_WAS_MEASURED]
    assert len(files) > 20
    assert {
        str(path): lines for path in files if (lines := wall_clock_reads(path.read_text()))
    } == {}
