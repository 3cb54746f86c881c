"""VGG19's demand, reconstructed from its layers (Simonyan and Zisserman 2015, configuration E)."""

from __future__ import annotations

from traces.demand import Demand, Pattern, Transfer
from traces.model_profile import ModelProfile

_CONVOLUTIONS = (
    (64, 2),
    (128, 2),
    (256, 4),
    (512, 4),
    (512, 4),
)  # channels, layers; pooling halves
_FULLY_CONNECTED = (4096, 4096, 1000)
_IMAGE_PIXELS = 224
_KERNEL_PIXELS = 3 * 3
_FLOAT32_BYTES = 4

BATCH_PER_GPU = 64
A100_TF32_PEAK_FLOPS = 156e12  # NVIDIA A100 data sheet, dense
ASSUMED_UTILISATION = 0.35  # of that peak; an assumption, not a measurement
FORWARD_AND_BACKWARD = 3  # the backward pass costs two forward passes


def parameters_and_macs() -> tuple[int, int]:
    """(parameters, multiply-accumulates of one image's forward pass), summed over the layers."""
    parameters = macs = 0
    channels, pixels = 3, _IMAGE_PIXELS
    for out_channels, layers in _CONVOLUTIONS:
        for _ in range(layers):
            weights = _KERNEL_PIXELS * channels * out_channels
            parameters += weights + out_channels
            macs += weights * pixels * pixels
            channels = out_channels
        pixels //= 2
    inputs = channels * pixels * pixels
    for outputs in _FULLY_CONNECTED:
        parameters += inputs * outputs + outputs
        macs += inputs * outputs
        inputs = outputs
    return parameters, macs


def ring_all_reduce_wire_bytes(size_bytes: float, num_workers: int) -> float:
    """Bytes that each worker sends in a ring all-reduce of ``size_bytes``: 2 (n-1)/n x size."""
    return 2 * (num_workers - 1) / num_workers * size_bytes


def vgg19(num_workers: int) -> ModelProfile:
    """Data-parallel VGG19, one GPU a worker.

    Gradients leave in one piece after the backward pass: one Down and one Up phase, the picture
    that CASSINI draws. A framework that overlaps buckets with the backward pass starts earlier.
    """
    parameters, macs = parameters_and_macs()
    flops = 2 * macs * FORWARD_AND_BACKWARD * BATCH_PER_GPU
    compute_s = flops / (A100_TF32_PEAK_FLOPS * ASSUMED_UTILISATION)
    wire_bytes = ring_all_reduce_wire_bytes(parameters * _FLOAT32_BYTES, num_workers)
    transfers = (
        (Transfer(ready_s=compute_s, bytes=wire_bytes, pattern=Pattern.RING, name="all-reduce"),)
        if num_workers > 1
        else ()
    )
    return ModelProfile(
        model="vgg19",
        num_gpus=num_workers,
        batch_size=BATCH_PER_GPU * num_workers,
        gpu_type="A100-40GB",
        demand=Demand(compute_s=compute_s, transfers=transfers),
        provenance="reconstructed",
        source=(
            f"{parameters:,} float32 parameters, ring all-reduce after the backward pass; "
            f"{2 * macs * FORWARD_AND_BACKWARD / 1e9:.1f} GFLOP an image, "
            f"batch {BATCH_PER_GPU} a GPU, {A100_TF32_PEAK_FLOPS / 1e12:.0f} TFLOP/s peak "
            f"(A100, TF32) at an assumed utilisation of {ASSUMED_UTILISATION:.0%}"
        ),
    )
