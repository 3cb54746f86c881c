"""The stalls of a training as one JSON document. Pure."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from harness.report.profiles.speeds_document import speeds_document
from profiler.measuring.stalls import StallResult
from profiler.sensitivity.stalls import Rates, enough, stalls, what_if


def stall_document(result: StallResult) -> dict[str, Any]:
    """Plain data; a rate that is not known is null."""
    rates, points = result.found.rates, result.points
    return {
        "model": result.model,
        "device": result.ready.device_name,
        "gpu_uuid": result.gpu_uuid,
        "cpus": result.cpus,
        "batch_size": result.ready.batch_size,
        "rates": _rates(rates),
        "hidden": result.found.hidden,
        "limit": rates.limit,
        "stalls": asdict(stalls(rates)),
        "enough": {name: _finite(value) for name, value in asdict(enough(rates)).items()},
        "what_if": [
            {"change": each.change, "limit": each.rates.limit, "samples_per_s": each.rates.speed}
            for each in what_if(rates)
        ],
        "points": {
            name: None if point is None else point.to_document()
            for name, point in vars(points).items()
        },
        "speeds": speeds_document(result.speeds),
        "notes": list(result.notes),
    }


def _rates(rates: Rates) -> dict[str, float | None]:
    return {
        "ingestion": _finite(rates.ingestion),
        "preparation": _finite(rates.preparation),
        "fetch": _finite(rates.fetch),
        "storage": _finite(rates.storage),
        "memory": _finite(rates.memory),
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
