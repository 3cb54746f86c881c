"""The GPU that the reconstructions assume, NVIDIA's A100 with 40 GB, and how long it computes."""

from __future__ import annotations

from dataclasses import dataclass

GPU_TYPE = "A100-40GB"
MEMORY_BYTES_PER_S = 1555e9
"""NVIDIA A100 data sheet, 40 GB."""

ASSUMED_UTILISATION = 0.35
"""Of the peak of arithmetic or memory; an assumption, not a measurement."""

FORWARD_AND_BACKWARD = 3
"""The backward pass costs two forward passes."""


@dataclass(frozen=True)
class Precision:
    """Numbers of one kind: how long they are, and the peak of products of them (dense)."""

    name: str
    number_bytes: int
    peak_flops: float


FLOAT32 = Precision("float32", 4, 156e12)
"""Multiplied as TF32, PyTorch's choice on an A100; NVIDIA A100 data sheet."""

FLOAT16 = Precision("float16", 2, 312e12)
"""Mixed precision, as DeepSpeed trains; NVIDIA A100 data sheet."""


def compute_s(forward_macs: float, precision: Precision) -> float:
    """Seconds of one GPU for the forward and backward passes of ``forward_macs``."""
    flops = 2 * forward_macs * FORWARD_AND_BACKWARD
    return flops / (precision.peak_flops * ASSUMED_UTILISATION)


def words_on_compute(forward_macs: float, precision: Precision, batch_per_gpu: int) -> str:
    """What :func:`compute_s` rests on, for a profile's ``source``."""
    return (
        f"{2 * forward_macs * FORWARD_AND_BACKWARD / 1e9:.1f} GFLOP a sample, "
        f"batch {batch_per_gpu} a GPU, {precision.peak_flops / 1e12:.0f} TFLOP/s peak "
        f"(A100) at an assumed utilisation of {ASSUMED_UTILISATION:.0%}"
    )
