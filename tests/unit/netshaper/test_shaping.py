"""The arithmetic of one port."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netshaper.shaping import (
    FAST_BPS,
    FRAME_BYTES,
    PAYLOAD_SHARE,
    TCP_PAYLOAD_BYTES,
    burst_bytes,
    packet_segments,
    port_shape,
    window_bytes,
)

RATES = st.floats(1e3, 1e12)


def test_frames_and_payload_are_those_of_ethernet_and_tcp() -> None:
    assert FRAME_BYTES == 1514
    assert TCP_PAYLOAD_BYTES == 1448
    assert pytest.approx(1448 / 1514) == PAYLOAD_SHARE


@pytest.mark.parametrize(
    ("rate_bps", "burst"),
    [(1e6, 1514), (100e6, 1514), (200e6, 2500), (300e6, 3750), (1e9, 50_000), (50e9, 2_500_000)],
)
def test_the_bucket_is_at_least_a_frame_and_longer_where_the_port_is_fast(
    rate_bps: float, burst: int
) -> None:
    assert burst_bytes(rate_bps) == burst


@pytest.mark.parametrize(("rate_bps", "window"), [(1e6, 32_768), (1e9, 250_000)])
def test_the_window_is_two_milliseconds_and_at_least_32_kib(rate_bps: float, window: int) -> None:
    assert window_bytes(rate_bps) == window


@given(RATES, st.integers(0, 1000))
def test_a_buffer_holds_every_window_in_frames(rate_bps: float, connections: int) -> None:
    shape = port_shape(rate_bps, connections, segments=1)
    in_frames = connections * (window_bytes(rate_bps) + TCP_PAYLOAD_BYTES) / PAYLOAD_SHARE
    assert shape.buffer_bytes >= in_frames
    assert shape.buffer_bytes >= window_bytes(rate_bps)


@pytest.mark.parametrize(
    ("slowest_bps", "segments"),
    [(1e6, 1), (200e6, 1), (300e6, 1), (301e6, 2), (500e6, 4), (1e9, 8), (2e9, 16), (1e11, 43)],
)
def test_packets_grow_with_a_fast_ports_rate(slowest_bps: float, segments: int) -> None:
    assert packet_segments(slowest_bps) == segments


@given(RATES)
def test_a_bucket_holds_the_packets_of_its_port(rate_bps: float) -> None:
    packets = burst_bytes(rate_bps) / (packet_segments(rate_bps) * FRAME_BYTES)
    assert packets >= (3.9 if rate_bps > FAST_BPS else 1)


@given(RATES, st.integers(1, 1000))
def test_a_port_is_set_to_its_rate_with_room_for_a_frame(rate_bps: float, connections: int) -> None:
    shape = port_shape(rate_bps, connections, segments=1)
    assert abs(shape.rate_bps - rate_bps) <= 0.5
    assert shape.burst_bytes >= FRAME_BYTES
    assert shape.quantum_bytes == FRAME_BYTES


@given(RATES, RATES)
def test_a_slower_port_never_has_a_larger_window(a: float, b: float) -> None:
    slow, fast = sorted((a, b))
    assert window_bytes(slow) <= window_bytes(fast)


@pytest.mark.parametrize("rate_bps", [0.0, 7.9, -5.0])
def test_a_rate_below_a_byte_a_second_is_refused(rate_bps: float) -> None:
    with pytest.raises(ValueError, match="too small"):
        port_shape(rate_bps, 1, segments=1)
