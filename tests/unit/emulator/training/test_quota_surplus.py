"""What a pause gave too much is waited for, and nothing else is."""

from __future__ import annotations

import pytest

from emulator.training.quota_surplus import QuotaSurplus

CORES = 0.01  # 1 ms in each period of 100 ms


def test_what_was_used_beyond_the_quota_is_waited_for() -> None:
    surplus = QuotaSurplus()
    surplus.end_round(CORES, length_s=2.0, used_s=0.0205)
    assert surplus.wait_s(CORES) == pytest.approx(0.05)


def test_rounds_together_use_what_the_quota_allows() -> None:
    surplus, used_s = QuotaSurplus(), 0.0
    for _ in range(100):
        in_round_s = CORES * (2.0 - surplus.wait_s(CORES)) + 0.001  # a quota more than its share
        surplus.end_round(CORES, 2.0, in_round_s)
        used_s += in_round_s
    assert used_s == pytest.approx(100 * 2.0 * CORES, abs=0.001 + 1e-9)


def test_a_pipeline_that_had_little_to_do_saves_nothing_up() -> None:
    surplus = QuotaSurplus()
    surplus.end_round(CORES, 2.0, 0.001)
    surplus.end_round(CORES, 2.0, 0.0205)
    assert surplus.wait_s(CORES) == pytest.approx(0.05)


def test_no_more_than_one_period_is_waited_for() -> None:
    surplus = QuotaSurplus()
    surplus.end_round(CORES, 2.0, 1.0)
    assert surplus.wait_s(CORES) == pytest.approx(0.1)
