"""Shares of cores as quota and period."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.limits.bandwidth import LEAST_CORES, CpuBandwidth, cpu_bandwidth


@pytest.mark.parametrize(
    ("cores", "quota_us", "period_us"),
    [
        (0.0125, 1_000, 80_000),
        (0.02, 1_000, 50_000),
        (0.25, 1_250, 5_000),
        (1.0, 5_000, 5_000),
        (1.5, 7_500, 5_000),
        (24.0, 120_000, 5_000),
        (0.001, 1_000, 1_000_000),
        (0.2, 1_000, 5_000),  # where the least quota meets the shortest period
    ],
)
def test_the_period_is_the_shortest_that_the_kernel_takes(
    cores: float, quota_us: int, period_us: int
) -> None:
    assert cpu_bandwidth(cores) == CpuBandwidth(quota_us, period_us)


@given(st.floats(LEAST_CORES, 512.0))
def test_what_is_kept_is_what_was_asked_for(cores: float) -> None:
    bandwidth = cpu_bandwidth(cores)
    assert math.isclose(bandwidth.cores, cores, rel_tol=1 / 2000)
    assert bandwidth.quota_us >= 1_000
    assert 5_000 <= bandwidth.period_us <= 1_000_000


@pytest.mark.parametrize("cores", [0.00099, 0.0, -1.0, math.inf, math.nan])
def test_what_the_kernel_cannot_keep_is_refused(cores: float) -> None:
    with pytest.raises(ValueError, match="cannot be kept"):
        cpu_bandwidth(cores)
