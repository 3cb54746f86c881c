"""The arithmetic of one shaped port: bucket, quantum and buffer. Pure."""

from __future__ import annotations

from dataclasses import dataclass

MTU_BYTES = 1500
FRAME_BYTES = MTU_BYTES + 14  # what a qdisc counts of a full packet: Ethernet header, no CRC or gap
TCP_PAYLOAD_BYTES = MTU_BYTES - 20 - 32  # IPv4 and TCP headers with timestamps
PAYLOAD_SHARE = TCP_PAYLOAD_BYTES / FRAME_BYTES

BUCKET_S = 0.1e-3
"""Length of a port's token bucket at its rate, where that is more than a frame.

A full bucket passes at once at the start of a transfer. That is worth time to the job that comes
first and none to the one that comes second, so that two jobs in lock-step slide apart by a bucket
an iteration, which no switch does to them. So the bucket is as short as the timer's wake-up
allows."""

WINDOW_S = 2e-3
MIN_WINDOW_BYTES = 32 * 2**10


@dataclass(frozen=True)
class PortShape:
    """What a port is set to. Rates in bit/s, the rest in bytes."""

    rate_bps: int
    burst_bytes: int
    quantum_bytes: int
    buffer_bytes: int


def burst_bytes(rate_bps: float) -> int:
    """Token bucket of a port: at least the frame that HTB sends as soon as it has any tokens."""
    return max(round(rate_bps / 8 * BUCKET_S), FRAME_BYTES)


def window_bytes(rate_bps: float) -> int:
    """Receive window of a connection on a lossless fabric.

    A few times rate x path delay and one bucket: enough to keep the path busy, little enough that
    no port ever has to drop and no whole transfer hides in the first queue.
    """
    return max(round(rate_bps / 8 * WINDOW_S), MIN_WINDOW_BYTES)


def port_shape(rate_bps: float, connections: int) -> PortShape:
    """Shape of a port that up to ``connections`` windows may queue at.

    The buffer holds twice all their windows: TCP's window counts payload, a queue counts frames,
    and a window may be exceeded by a segment.
    """
    if rate_bps < 8:
        raise ValueError(f"a rate of {rate_bps} bps is too small to shape")
    return PortShape(
        rate_bps=round(rate_bps),
        burst_bytes=burst_bytes(rate_bps),
        quantum_bytes=FRAME_BYTES,
        buffer_bytes=2 * max(connections, 1) * window_bytes(rate_bps) + 16 * FRAME_BYTES,
    )
