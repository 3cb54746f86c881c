"""What is trained, to be measured: a built-in model or a person's own script. And how patiently."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from profiler.training.command_lines import builtin_command, script_command
from profiler.training.job_specification import JobSpecification
from traces.errors import MissingCapabilityError

MADE_DIRECTORY = "made-items"
"""Below the directory of the results."""

_LEAST_MADE_ITEMS = 512
_MADE_BATCHES = 8
"""Of made data; each has its own items, and an epoch is no shorter."""


@dataclass(frozen=True)
class Script:
    """A person's own training script. words: its command; no shell reads them."""

    words: tuple[str, ...]


Training = JobSpecification | Script


@dataclass(frozen=True)
class Patience:
    """budget_s: for the iterations of one point. silence_s: how long the training may show no
    iteration before it counts as one that never iterates."""

    budget_s: float = 30.0
    silence_s: float = 300.0


def command_of(training: Training) -> list[str]:
    """The words that run it so that it is measured. MissingCapabilityError without torch."""
    if isinstance(training, Script):
        return script_command(training.words)
    if importlib.util.find_spec("torch") is None:
        raise MissingCapabilityError(
            "built-in models are trained with torch, which is not installed",
            remedy="pip install 'roundelay[real]'",
        )
    return builtin_command(training)


def made_items_for(batch_size: int) -> int:
    """How many items are made for a training without a dataset."""
    return max(_MADE_BATCHES * batch_size, _LEAST_MADE_ITEMS)


def identity_of(training: Training) -> Mapping[str, object]:
    """All that must be the same for two points to be comparable, as far as a person chooses it."""
    if isinstance(training, Script):
        return {"command": list(training.words)}
    chosen = asdict(training)
    del chosen["made_directory"]
    return chosen
