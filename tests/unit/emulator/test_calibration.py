"""The rate of a port from a probe's readings."""

from __future__ import annotations

import pytest

from emulator.calibration import median_rate_bps


def test_the_rate_is_bits_over_time() -> None:
    assert median_rate_bps([(10.0, 0), (12.0, 500)]) == 2000.0


def test_one_disturbed_slice_does_not_count() -> None:
    readings = [(0.0, 0), (1.0, 100), (2.0, 200), (5.0, 300), (6.0, 400), (7.0, 500)]
    assert median_rate_bps(readings) == pytest.approx(800.0)
