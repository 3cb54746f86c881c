"""Data-parallel training: every worker has the whole model, and all sum their gradients."""

from __future__ import annotations

from traces.demand import Demand, Pattern, Transfer
from traces.models.collectives import ring_all_reduce_wire_bytes
from traces.models.gpu import Precision, compute_s, words_on_compute
from traces.models.known_model import Reconstruction
from traces.models.layers import ModelSize


def data_parallel(
    size: ModelSize, layers: str, precision: Precision, num_workers: int, batch_per_gpu: int
) -> Reconstruction:
    """One GPU a worker. ``layers`` says where the layers are published.

    Gradients leave in one piece after the backward pass: one Down and one Up phase, the picture
    that CASSINI draws. A framework that overlaps buckets with the backward pass starts earlier.
    """
    computed_s = compute_s(size.forward_macs * batch_per_gpu, precision)
    gradient_bytes = size.parameters * precision.number_bytes
    wire_bytes = ring_all_reduce_wire_bytes(gradient_bytes, num_workers)
    transfers = (
        (Transfer(ready_s=computed_s, bytes=wire_bytes, pattern=Pattern.RING, name="all-reduce"),)
        if num_workers > 1
        else ()
    )
    return Reconstruction(
        Demand(compute_s=computed_s, transfers=transfers),
        f"layers of {layers}: {size.parameters:,} parameters in {precision.name}, ring all-reduce "
        f"after the backward pass; {words_on_compute(size.forward_macs, precision, batch_per_gpu)}",
    )
