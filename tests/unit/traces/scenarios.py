"""Parts of the small scenario that tests put others in place of, and what is said of the result."""

from __future__ import annotations

from pathlib import Path

from tests.unit.builders import write_scenario
from tests.unit.refusal import refusal_of
from traces.errors import BadInputError
from traces.scenario import load_scenario

JOB_B = "servers: [left1, right1]"
FIFO = "{sharing: fifo}"


def refusal(directory: Path, text: str) -> BadInputError:
    file = write_scenario(directory, text)
    return refusal_of(file, load_scenario, file)
