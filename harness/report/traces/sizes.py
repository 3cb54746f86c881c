"""The jobs of traces by GPUs, in classes that all of them share. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.report.traces.data import ShownTrace
from harness.report.words import number

MAX_SIZES = 12
"""Above so many different sizes, they are put together up to each power of two."""


@dataclass(frozen=True)
class SizeClass:
    """Jobs of ``least`` to ``most`` GPUs. The rest has one entry a trace: counts, and shares of
    its jobs and of its GPU time (None where no run time is known)."""

    least: int
    most: int
    jobs: tuple[int, ...]
    jobs_share: tuple[float, ...]
    gpu_time_share: tuple[float | None, ...]

    @property
    def name(self) -> str:
        if self.least == self.most:
            return number(self.least)
        return f"{number(self.least)} to {number(self.most)}"


def size_classes(traces: Sequence[ShownTrace]) -> list[SizeClass]:
    """From the fewest GPUs on; every class has a job of some trace."""
    sizes = sorted({int(size.name) for each in traces for size in each.description.sizes})
    if len(sizes) <= MAX_SIZES:
        return [_class(traces, size, size) for size in sizes]
    tops = sorted({1 << (size - 1).bit_length() for size in sizes})
    return [_class(traces, top // 2 + 1, top) for top in tops]


def _class(traces: Sequence[ShownTrace], least: int, most: int) -> SizeClass:
    found = [
        [size for size in each.description.sizes if least <= int(size.name) <= most]
        for each in traces
    ]
    times = [
        [size.gpu_time_share for size in sizes if size.gpu_time_share is not None]
        if each.description.gpu_time_s is not None
        else None
        for each, sizes in zip(traces, found, strict=True)
    ]
    return SizeClass(
        least,
        most,
        jobs=tuple(sum(size.jobs for size in sizes) for sizes in found),
        jobs_share=tuple(sum(size.jobs_share for size in sizes) for sizes in found),
        gpu_time_share=tuple(None if shares is None else sum(shares) for shares in times),
    )
