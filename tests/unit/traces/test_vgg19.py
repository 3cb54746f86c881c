"""VGG19 against a second count of its layers and against the published numbers."""

from __future__ import annotations

import pytest

from traces.demand import Pattern
from traces.models import RECONSTRUCTED
from traces.models.vgg19 import parameters_and_macs, ring_all_reduce_wire_bytes, vgg19

# (inputs, outputs, pixels of the side of its feature map), one row a layer
CONVOLUTIONS = [
    (3, 64, 224), (64, 64, 224),
    (64, 128, 112), (128, 128, 112),
    (128, 256, 56), (256, 256, 56), (256, 256, 56), (256, 256, 56),
    (256, 512, 28), (512, 512, 28), (512, 512, 28), (512, 512, 28),
    (512, 512, 14), (512, 512, 14), (512, 512, 14), (512, 512, 14),
]  # fmt: skip
FULLY_CONNECTED = [(512 * 7 * 7, 4096), (4096, 4096), (4096, 1000)]
PARAMETERS = 143_667_240


def test_the_parameters_are_those_of_the_published_network() -> None:
    assert parameters_and_macs()[0] == PARAMETERS


def test_parameters_and_operations_agree_with_a_count_layer_by_layer() -> None:
    parameters = sum(9 * a * b + b for a, b, _ in CONVOLUTIONS)
    parameters += sum(a * b + b for a, b in FULLY_CONNECTED)
    macs = sum(9 * a * b * side**2 for a, b, side in CONVOLUTIONS)
    macs += sum(a * b for a, b in FULLY_CONNECTED)
    assert parameters_and_macs() == (parameters, macs)


@pytest.mark.parametrize("workers", range(2, 9))
def test_each_worker_sends_the_bytes_of_a_ring_all_reduce(workers: int) -> None:
    # reduce-scatter and all-gather: n - 1 steps each, of one n-th of the gradients
    expected = 2 * sum(4 * PARAMETERS / workers for _ in range(workers - 1))
    (transfer,) = vgg19(workers).demand.transfers
    assert transfer.bytes == pytest.approx(expected, rel=1e-12)
    assert transfer.pattern is Pattern.RING
    assert ring_all_reduce_wire_bytes(4 * PARAMETERS, workers) == pytest.approx(expected)


def test_the_transfer_comes_after_all_the_compute() -> None:
    demand = vgg19(2).demand
    assert demand.transfers[0].ready_s == demand.compute_s
    # 3 passes of 2 x 19.6 G operations on 64 images at 35 % of 156 TFLOP/s
    assert demand.compute_s == pytest.approx(3 * 2 * 19.632e9 * 64 / (0.35 * 156e12), rel=1e-3)


def test_compute_does_not_depend_on_the_number_of_workers() -> None:
    assert vgg19(2).demand.compute_s == vgg19(8).demand.compute_s
    assert (vgg19(2).batch_size, vgg19(8).batch_size) == (128, 512)


def test_one_worker_sends_nothing() -> None:
    assert vgg19(1).demand.transfers == ()


def test_the_profile_says_that_it_is_a_reconstruction() -> None:
    profile = RECONSTRUCTED["vgg19"](3)
    assert (profile.provenance, profile.num_gpus) == ("reconstructed", 3)
    assert "143,667,240" in profile.source
    assert "assumed" in profile.source
