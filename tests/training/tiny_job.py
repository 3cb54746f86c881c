"""A tiny built-in model that trains on made images, and what it says of its iterations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from profiler.training.job_specification import JobSpecification
from profiler.training.protocol import Event, Iterations


def tiny_job(directory: Path, **options: object) -> JobSpecification:
    """On the CPU; ``options`` go before what is said here."""
    return JobSpecification(
        **{  # type: ignore[arg-type]
            "model": "alexnet",
            "tiny": True,
            "device": "cpu",
            "made_directory": str(directory / "made"),
            **options,
        }
    )


def iterations_of(events: Sequence[Event]) -> list[Iterations]:
    """The reports of iterations among ``events``."""
    return [event for event in events if isinstance(event, Iterations)]
