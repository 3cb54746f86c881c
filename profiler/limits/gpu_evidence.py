"""What samples of a GPU's counters say of one measured point. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from profiler.limits.gpu_counters import (
    CLOCK,
    ENERGY,
    MEMORY,
    POWER,
    REASONS,
    RECEIVED,
    SENT,
    UTILISATION,
    GpuSample,
)


@dataclass(frozen=True)
class Spread:
    """Of the values in all samples."""

    mean: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class GpuEvidence:
    """None for what was not told. utilisation: share of the time in which a kernel ran.

    clock_reasons: why the clock was not higher, as NVML calls it, with the share of the samples.
    energy_j: between the first and the last sample.
    """

    name: str
    uuid: str
    samples: int
    utilisation: Spread | None
    memory_used_bytes: Spread | None
    sm_clock_mhz: Spread | None
    power_w: Spread | None
    pcie_received_bytes_per_s: Spread | None
    pcie_sent_bytes_per_s: Spread | None
    clock_reasons: Mapping[str, float] | None
    energy_j: float | None


def gpu_evidence(
    name: str, uuid: str, samples: Sequence[GpuSample], reasons: Callable[[int], list[str]]
) -> GpuEvidence:
    """reasons: names of the bits of the counter clock_reasons."""
    energies_j = [sample[ENERGY] for sample in samples if ENERGY in sample]
    return GpuEvidence(
        name=name,
        uuid=uuid,
        samples=len(samples),
        utilisation=_spread(samples, UTILISATION),
        memory_used_bytes=_spread(samples, MEMORY),
        sm_clock_mhz=_spread(samples, CLOCK),
        power_w=_spread(samples, POWER),
        pcie_received_bytes_per_s=_spread(samples, RECEIVED),
        pcie_sent_bytes_per_s=_spread(samples, SENT),
        clock_reasons=_reason_shares(samples, reasons),
        energy_j=energies_j[-1] - energies_j[0] if len(energies_j) > 1 else None,
    )


def _spread(samples: Sequence[GpuSample], counter: str) -> Spread | None:
    values = [sample[counter] for sample in samples if counter in sample]
    return Spread(sum(values) / len(values), min(values), max(values)) if values else None


def _reason_shares(
    samples: Sequence[GpuSample], reasons: Callable[[int], list[str]]
) -> Mapping[str, float] | None:
    told = [reasons(int(sample[REASONS])) for sample in samples if REASONS in sample]
    if not told:
        return None
    counts = Counter(name for names in told for name in names)
    return {name: count / len(told) for name, count in sorted(counts.items())}
