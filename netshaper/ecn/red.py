"""A ``red`` queue as a step marker at a threshold: its tc words, and what it counts. Pure.

For kernels that have it (net/sched/sch_red.c). It hangs in a class in place of its fifo and looks
at that class's real queue, so under fair sharing there is a threshold for each job, where the
marker of this package has one for the port. It counts buffers of the kernel, not segments: the
same where a device's ``gso_max_segs`` is 1, as netshaper.plan sets it. What arrives marked counts
as marked again.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from netshaper.shaping import FRAME_BYTES

# tc rounds times to microseconds, and only the fading of the average while the queue is empty
# depends on this rate.
_MOST_BANDWIDTH_BPS = 10_000_000_000
# With more of them, the rounding of avpkt to a byte would add up to another weight.
_MOST_PACKETS = 1000
_XSTATS = struct.Struct("=4I")


@dataclass(frozen=True)
class RedCounts:
    """struct tc_red_xstats, in packets.

    early: dropped for the average queue, none with ``ecn nodrop``. over_limit: dropped because
    the queue was full. other: dropped otherwise. marked: marked, or had arrived so.
    """

    early: int
    over_limit: int
    other: int
    marked: int


def red_words(
    rate_bps: int, threshold_bytes: int, burst_bytes: int, buffer_bytes: int
) -> tuple[str, ...]:
    """What follows ``tc qdisc add dev DEVICE parent CLASS`` for a step marker.

    rate_bps: of the port. threshold_bytes: packets that find more than this are marked.
    burst_bytes: the token bucket of the cluster's ports. buffer_bytes: the queue's limit.
    Raises ValueError, ``problem|allowed``.

    Everything between min and max is marked with a probability, so max is one byte above min.
    tc takes the weight of the average from ``burst`` and ``avpkt``; min / avpkt = burst gives the
    largest it can, a half: the average is the queue with a memory of one or two packets. Packets
    of senders without ECN pass (``nodrop``), as at a switch whose buffer is not full.
    """
    if not 2 * FRAME_BYTES <= threshold_bytes < buffer_bytes:
        raise ValueError(
            f"a threshold of {threshold_bytes} bytes for a queue of {buffer_bytes}|"
            f"at least two frames ({2 * FRAME_BYTES} bytes) and less than the queue holds"
        )
    if threshold_bytes < burst_bytes:
        raise ValueError(
            f"a threshold of {threshold_bytes} bytes is smaller than the token bucket of "
            f"{burst_bytes}: a bucket that the port before lets through at once would be marked "
            f"without any congestion|at least {burst_bytes} bytes, or the eBPF marker, which "
            f"gives credit for the bucket"
        )
    packets = min(threshold_bytes // FRAME_BYTES, _MOST_PACKETS)
    packet_bytes = -(-threshold_bytes // packets)
    return (
        *("red", "limit", str(buffer_bytes)),
        *("min", str(threshold_bytes), "max", str(threshold_bytes + 1)),
        *("avpkt", str(packet_bytes), "burst", str(packets), "probability", "1"),
        *("bandwidth", f"{min(rate_bps, _MOST_BANDWIDTH_BPS)}bit", "ecn", "nodrop"),
    )


def decode_red(statistics: bytes) -> RedCounts:
    """What a ``red`` queue counts, from ``NetlinkSocket.own_statistics``."""
    return RedCounts(*_XSTATS.unpack_from(statistics))
