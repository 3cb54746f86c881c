"""The arithmetic of one shaped port: packet, bucket, quantum and buffer. Pure."""

from __future__ import annotations

from dataclasses import dataclass

MTU_BYTES = 1500
FRAME_BYTES = MTU_BYTES + 14  # what a qdisc counts of a full packet: Ethernet header, no CRC or gap
TCP_PAYLOAD_BYTES = MTU_BYTES - 20 - 32  # IPv4 and TCP headers with timestamps
PAYLOAD_SHARE = TCP_PAYLOAD_BYTES / FRAME_BYTES

FAST_BPS = 300e6
"""Above it a wake-up of the timer comes late by more than a few frames. Scaled links are slower."""

BUCKET_S = 0.1e-3
"""Length of a port's token bucket at its rate up to FAST_BPS, where that is more than a frame.

A full bucket passes at once at the start of a transfer. That is worth time to the job that comes
first and none to the one that comes second, so that two jobs in lock-step slide apart by a bucket
an iteration, which no switch does to them. So the bucket is as short as the timer's wake-up
allows."""

FAST_BUCKET_S = 0.4e-3
"""The same above FAST_BPS: tokens that find the bucket full while the timer is late are lost, and
with 0.1 ms that is several per cent of the rate."""

FAST_PACKET_S = 0.1e-3
"""Length of a packet of several segments, above FAST_BPS: a quarter of the bucket. One packet for
each frame would take more of a CPU than there is."""

MOST_SEGMENTS = 2**16 // FRAME_BYTES

WINDOW_S = 2e-3
MIN_WINDOW_BYTES = 32 * 2**10


@dataclass(frozen=True)
class PortShape:
    """What a port is set to. Rates in bit/s, the rest in bytes.

    quantum_bytes: the largest packet, which is what HTB hands out in a turn.
    """

    rate_bps: int
    burst_bytes: int
    quantum_bytes: int
    buffer_bytes: int


def burst_bytes(rate_bps: float) -> int:
    """Token bucket of a port: at least the frame that HTB sends as soon as it has any tokens."""
    bucket_s = FAST_BUCKET_S if rate_bps > FAST_BPS else BUCKET_S
    return max(round(rate_bps / 8 * bucket_s), FRAME_BYTES)


def packet_segments(slowest_bps: float) -> int:
    """Segments that may travel as one packet where no port is slower than ``slowest_bps``.

    One up to FAST_BPS: a queue then holds, shares out and marks what a wire would carry.
    """
    if slowest_bps <= FAST_BPS:
        return 1
    return min(int(slowest_bps / 8 * FAST_PACKET_S / FRAME_BYTES), MOST_SEGMENTS)


def window_bytes(rate_bps: float) -> int:
    """Receive window of a connection on a lossless fabric.

    A few times rate x path delay and one bucket: enough to keep the path busy, little enough that
    no port ever has to drop and no whole transfer hides in the first queue.
    """
    return max(round(rate_bps / 8 * WINDOW_S), MIN_WINDOW_BYTES)


def port_shape(rate_bps: float, connections: int, segments: int) -> PortShape:
    """Shape of a port that up to ``connections`` windows may queue at, of packets of ``segments``.

    The buffer holds twice all their windows: TCP's window counts payload, a queue counts frames,
    and a window may be exceeded by a packet.
    """
    if rate_bps < 8:
        raise ValueError(f"a rate of {rate_bps} bps is too small to shape")
    return PortShape(
        rate_bps=round(rate_bps),
        burst_bytes=burst_bytes(rate_bps),
        quantum_bytes=segments * FRAME_BYTES,
        buffer_bytes=2 * max(connections, 1) * window_bytes(rate_bps) + 16 * segments * FRAME_BYTES,
    )
