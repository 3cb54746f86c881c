"""DLRM: rows travel by all-to-all before and after the top MLP, the MLPs' gradients by a ring."""

from __future__ import annotations

import pytest

from traces.demand import Pattern, demand_curve
from traces.models import RECONSTRUCTED

MLP_PARAMETERS = 306_264_065


@pytest.mark.parametrize("workers", [2, 4, 12])
def test_every_sample_gets_a_row_of_every_table_of_the_others(workers: int) -> None:
    forward, backward, all_reduce = RECONSTRUCTED["dlrm"].profile(workers, 128).demand.transfers
    assert [t.pattern for t in (forward, backward, all_reduce)] == [
        Pattern.ALL_TO_ALL,
        Pattern.ALL_TO_ALL,
        Pattern.RING,
    ]
    # 64 / n tables here, n - 1 other workers with 128 samples each, 128 columns of 4 bytes
    rows = 64 / workers * (workers - 1) * 128 * 128 * 4
    assert (forward.bytes, backward.bytes) == (pytest.approx(rows), pytest.approx(rows))
    assert all_reduce.bytes == pytest.approx(2 * (workers - 1) / workers * MLP_PARAMETERS * 4)


def test_the_compute_waits_for_the_rows_and_not_for_the_all_reduce() -> None:
    demand = RECONSTRUCTED["dlrm"].profile(4).demand
    assert [t.blocking for t in demand.transfers] == [True, True, False]
    assert len(demand_curve(demand, 50e9).phases) == 3


def test_compute_is_three_passes_of_the_mlps_and_of_the_look_ups() -> None:
    flops = 3 * 2 * 128 * (7 * 2048**2 + 10240 * 4096 + 14 * 4096**2 + 4096)
    looked_up_bytes = 3 * 128 * 64 * 100 * 128 * 4
    expected_s = flops / (0.35 * 156e12) + looked_up_bytes / (0.35 * 1555e9)
    demand = RECONSTRUCTED["dlrm"].profile(4, 128).demand
    assert demand.compute_s == pytest.approx(expected_s)
    assert demand.transfers[-1].ready_s == demand.compute_s
