"""A measured sensitivity as one JSON document. Pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from harness.report.profiles.speeds_document import speeds_document
from profiler.measuring.sensitivity_result import SensitivityResult


def sensitivity_document(result: SensitivityResult) -> dict[str, Any]:
    """Plain data. Arrays of the matrix are (cpus, cache_bytes)."""
    found, curve = result.found, result.found.model.curve
    return {
        "model": result.sensitivity.model,
        "gpu_type": result.sensitivity.gpu_type,
        "gpu_uuid": found.subject.gpu_uuid,
        "cpus": list(found.grid.cpus),
        "cache_bytes": list(found.grid.cache_bytes),
        "iteration_s": result.iteration_s.tolist(),
        "modelled_s": result.modelled_s.tolist(),
        "throughput": result.sensitivity.throughput.tolist(),
        "curve": {
            "iteration_s": curve.iteration_s.tolist(),
            "measured": curve.measured.tolist(),
            "uncertain": curve.uncertain.tolist(),
            "ideal_cpus": curve.knee_cpus,
        },
        "chosen": [asdict(point.allocation) for point in result.chosen],
        "points": [point.to_document() for point in found.points],
        "check": None
        if not result.checked.by_point
        else {
            "points": len(result.checked.by_point),
            "median": result.checked.median,
            "worst": result.checked.worst,
        },
        "drift": None if result.drift is None else asdict(result.drift),
        "cost": asdict(result.cost),
        "overlap": found.model.fetching.overlap,
        "miss_cpu_s": found.model.fetching.miss_cpu_s,
        "speeds": speeds_document(found.speeds),
        "unenforced": list(result.unenforced),
        "notes": list(found.notes),
        "interrupted": found.is_interrupted,
    }
