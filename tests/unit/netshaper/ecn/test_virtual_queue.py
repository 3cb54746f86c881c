"""Times in the program's units against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netshaper.ecn.virtual_queue import (
    LEAST_RATE_BPS,
    MOST_PACKET_BYTES,
    MOST_RATE_BPS,
    MarkerSettings,
    end_at_another_rate,
)

RATES = st.integers(LEAST_RATE_BPS, MOST_RATE_BPS)
BUFFER = 2**30


def settings_at(rate_bps: int) -> MarkerSettings:
    return MarkerSettings(rate_bps, 80_000, 12_500, BUFFER)


def exact_ns(settings: MarkerSettings, size_bytes: int) -> Fraction:
    return Fraction(size_bytes * 8 * 10**9, settings.rate_bps)


@given(RATES)
def test_the_time_of_a_byte_is_as_exact_as_it_says(rate_bps: int) -> None:
    settings = settings_at(rate_bps)
    error = abs(Fraction(settings.byte_price, 2**30) / exact_ns(settings, 1) - 1)
    assert error <= Fraction(rate_bps, 8 * 10**9 * 2**31)


@given(RATES, st.integers(1, MOST_PACKET_BYTES))
def test_a_packets_time_is_rounded_by_less_than_a_unit(rate_bps: int, size_bytes: int) -> None:
    settings = settings_at(rate_bps)
    units = Fraction(size_bytes * settings.byte_price, 2**20)
    assert 0 <= units - settings.time_of(size_bytes) < 1


@pytest.mark.parametrize(
    ("rate_bps", "size_bytes", "most"),
    [
        (100_000_000_000, 1514, 9e-6),
        (100_000_000_000, 64, 2e-4),
        (50_000_000, 1514, 1e-8),
        (50_000_000, 64, 1e-7),
    ],
)
def test_errors_that_the_text_states(rate_bps: int, size_bytes: int, most: float) -> None:
    settings = settings_at(rate_bps)
    found = Fraction(settings.time_of(size_bytes), 2**10) / exact_ns(settings, size_bytes)
    assert abs(found - 1) < most


@given(RATES)
def test_no_product_overflows(rate_bps: int) -> None:
    settings = settings_at(rate_bps)
    assert MOST_PACKET_BYTES * settings.byte_price < 2**63
    assert settings.time_of(BUFFER) + settings.time_of(MOST_PACKET_BYTES) < 2**62


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"rate_bps": 999_999}, "999999 bit/s"),
        ({"rate_bps": MOST_RATE_BPS + 1}, "bit/s"),
        ({"threshold_bytes": 0}, "threshold of 0 bytes"),
        ({"threshold_bytes": 10**6}, "holds 1000000"),
        ({"buffer_bytes": 2**30 + 1}, "buffer"),
        ({"burst_bytes": -1}, "bucket of -1"),
        ({"burst_bytes": 2**30 + 1}, "bucket"),
        ({"unshaped_below_bytes": -1}, "shorter than -1"),
        ({"unshaped_below_bytes": 2**16 + 1}, "shorter than"),
    ],
)
def test_what_cannot_be_realised_is_refused(changed: dict[str, int], problem: str) -> None:
    given_settings = {
        "rate_bps": 10**9,
        "threshold_bytes": 80_000,
        "burst_bytes": 12_500,
        "buffer_bytes": 10**6,
    }
    MarkerSettings(**given_settings)
    with pytest.raises(ValueError, match=problem) as raised:
        MarkerSettings(**given_settings | changed)
    assert "|" in str(raised.value)


BYTES = st.integers(0, 10**6)


@given(RATES, RATES, BYTES, st.integers(1, 2**62))
def test_a_queue_keeps_its_bytes_at_another_rate(
    before_bps: int, after_bps: int, waiting_bytes: int, now_ns: int
) -> None:
    before, after = settings_at(before_bps), settings_at(after_bps)
    now = now_ns << 10
    end = end_at_another_rate((now + before.time_of(waiting_bytes)) % 2**64, now_ns, before, after)
    # What the time was rounded down by at the first rate, and again at the other.
    rounding = after.byte_price // before.byte_price + 2
    assert 0 <= after.time_of(waiting_bytes) - (end - now) % 2**64 <= rounding


@given(RATES, RATES, BYTES)
def test_tokens_and_a_queue_never_used_stay_what_they_are(
    before_bps: int, after_bps: int, spared_bytes: int
) -> None:
    before, after = settings_at(before_bps), settings_at(after_bps)
    now_ns = 10**15
    for end in (0, (now_ns << 10) - 1 - before.time_of(spared_bytes)):
        assert end_at_another_rate(end, now_ns, before, after) == end
