"""Gavel's "Philly-derived" jobs, on which Synergy's figures rest too: Poisson arrivals.

Durations as those of durations.PhillyDerived, which are at the GPU-proportional share; GPUs: 1, or
Gavel's mix of 1, 2, 4 and 8.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from traces.generators.durations import PhillyDerived
from traces.generators.job_mix import GPU_MIXES, JobMix
from traces.generators.models import ClassSplit
from traces.job_trace import JobTrace, checked_trace
from traces.sensitivity import Sensitivities

GpuMix = Literal["single", "gavel"]


def jobs_per_hour_at(load: float, num_gpus: int, mix: GpuMix) -> float:
    """Arrivals for which the GPU time asked for is ``load`` (rho) times what there is."""
    return JobMix(PhillyDerived(), GPU_MIXES[mix]).jobs_per_hour_at(load, num_gpus)


def philly_derived(
    count: int,
    jobs_per_hour: float,
    mix: GpuMix,
    split: Mapping[str, float],
    sensitivities: Sensitivities | None,
    seed: int,
) -> JobTrace:
    """``count`` jobs; without models where no profiles are given.

    Two traces with the same seed begin with the same jobs, whatever their counts: JobMix.draw.
    """
    models = None if sensitivities is None else ClassSplit(split, sensitivities)
    jobs = JobMix(PhillyDerived(), GPU_MIXES[mix], models).draw(count, jobs_per_hour, seed)
    words = (
        f"Philly-derived jobs, {jobs_per_hour:.6g} an hour, GPU mix {mix!r}, "
        f"{models or 'without models'}, seed {seed}"
    )
    return checked_trace(jobs, source=words, format="generated")
