"""Data-parallel models: one Down phase, and one Up phase of a ring all-reduce."""

from __future__ import annotations

import pytest

from traces.demand import Pattern
from traces.models import RECONSTRUCTED
from traces.models.collectives import all_to_all_wire_bytes, ring_all_reduce_wire_bytes, ring_pairs

GRADIENT_BYTES = {
    "vgg11": 4 * 132_863_336,
    "vgg16": 4 * 138_357_544,
    "vgg19": 4 * 143_667_240,
    "resnet50": 4 * 25_557_032,
    "wideresnet101": 4 * 126_886_696,
    "bert": 4 * 109_482_240,
    "roberta": 4 * 124_645_632,
    "camembert": 4 * 110_621_952,
    "gpt1": 2 * 116_534_784,  # mixed precision
}


@pytest.mark.parametrize("name", [*GRADIENT_BYTES, "xlm"])
def test_gradients_leave_in_one_piece_after_all_the_compute(name: str) -> None:
    demand = RECONSTRUCTED[name].profile(2).demand
    (transfer,) = demand.transfers
    assert (transfer.pattern, transfer.blocking) == (Pattern.RING, False)
    assert transfer.ready_s == demand.compute_s


@pytest.mark.parametrize("workers", range(2, 9))
@pytest.mark.parametrize("name", GRADIENT_BYTES)
def test_each_worker_sends_the_bytes_of_a_ring_all_reduce(name: str, workers: int) -> None:
    # reduce-scatter and all-gather: n - 1 steps each, of one n-th of the gradients
    expected = 2 * sum(GRADIENT_BYTES[name] / workers for _ in range(workers - 1))
    (transfer,) = RECONSTRUCTED[name].profile(workers).demand.transfers
    assert transfer.bytes == pytest.approx(expected, rel=1e-12)


def test_vgg19_computes_three_passes_at_the_assumed_speed() -> None:
    # 2 x 19.6 G operations a pass, on 64 images, at 35 % of 156 TFLOP/s
    computed_s = RECONSTRUCTED["vgg19"].profile(2).demand.compute_s
    assert computed_s == pytest.approx(3 * 2 * 19.632e9 * 64 / (0.35 * 156e12), rel=1e-3)


def test_in_mixed_precision_a_gpu_is_twice_as_fast() -> None:
    # 2 x 64.2 G operations a pass, on 32 sequences, at 35 % of 312 TFLOP/s
    computed_s = RECONSTRUCTED["gpt1"].profile(2).demand.compute_s
    assert computed_s == pytest.approx(3 * 2 * 64.24e9 * 32 / (0.35 * 312e12), rel=1e-3)


@pytest.mark.parametrize(
    ("workers", "all_reduce", "all_to_all"), [(1, 0, 0), (2, 12, 6), (4, 18, 9)]
)
def test_wire_bytes_of_collectives(workers: int, all_reduce: float, all_to_all: float) -> None:
    assert ring_all_reduce_wire_bytes(12, workers) == all_reduce
    assert all_to_all_wire_bytes(12, workers) == all_to_all


def test_rings_in_groups_close_each_in_itself() -> None:
    assert ring_pairs([(0, 4, 2), (5,), (1, 3)]) == ((0, 4), (4, 2), (2, 0), (1, 3), (3, 1))
