"""The virtual queue of a shaped port: its settings, and the same in the program's units. Pure.

A port that is shaped by a token bucket has sent everything it was given by the time ``t``, its
bytes at its rate one after another. ``t - now`` is how long its queue still takes: positive with a
backlog, negative with tokens in the bucket, and never below minus a full bucket, which is what
``burst_bytes`` credits: those bytes pass at once and are no queue.
"""

from __future__ import annotations

from dataclasses import dataclass

TIME_SHIFT = 10
"""Times are counted in 2**-10 ns: fine enough for a small packet at 100 Gbit/s, and a signed
difference of 64 bits still spans 104 days."""

PRICE_SHIFT = 30
"""The time of a byte is counted in 2**-30 ns and a packet's is rounded down to 2**-10 ns.

Error of the rate by rounding the time of a byte: at most rate x 2**-31 / 8e9, that is 6e-9 at
100 Gbit/s and 3e-12 at 50 Mbit/s. Error of a packet's time: less than 2**-10 ns, that is 2e-4 of
64 bytes and 8e-6 of a full frame at 100 Gbit/s, and 2000 times less at 50 Mbit/s."""

LEAST_RATE_BPS = 1_000_000
MOST_RATE_BPS = 400_000_000_000
MOST_PACKET_BYTES = 2**19
"""More than the kernel puts into one segmented packet (GSO_MAX_SIZE, 524,280 bytes). Such a packet
at LEAST_RATE_BPS costs 2**62 units before the shift, so that no product of the program overflows
64 bits."""

_MOST_BYTES = 2**30
_WORD = 2**64


@dataclass(frozen=True)
class MarkerSettings:
    """A port's marker: packets that find more than ``threshold_bytes`` waiting are marked.

    Parameters
    ----------
    rate_bps: of the port, in bit/s.
    threshold_bytes: K.
    burst_bytes: the port's token bucket; 0 where it has none.
    buffer_bytes: all that the port holds before it drops; what it drops does not wait in it.
    unshaped_below_bytes: IPv4 packets shorter than this pass beside the port's queue (see
        netshaper.plan), so they are neither queued, counted nor marked here.

    Raises ValueError, ``problem|allowed``, for what cannot be realised.
    """

    rate_bps: int
    threshold_bytes: int
    burst_bytes: int
    buffer_bytes: int
    unshaped_below_bytes: int = 0

    def __post_init__(self) -> None:
        if not LEAST_RATE_BPS <= self.rate_bps <= MOST_RATE_BPS:
            raise ValueError(
                f"a marker at a port of {self.rate_bps} bit/s|"
                f"{LEAST_RATE_BPS} to {MOST_RATE_BPS} bit/s"
            )
        if not 0 < self.threshold_bytes < self.buffer_bytes:
            raise ValueError(
                f"a threshold of {self.threshold_bytes} bytes at a port that holds "
                f"{self.buffer_bytes}|more than 0 and less than the port holds"
            )
        if self.buffer_bytes > _MOST_BYTES:
            raise ValueError(f"a buffer of {self.buffer_bytes} bytes|at most {_MOST_BYTES} bytes")
        if not 0 <= self.burst_bytes <= _MOST_BYTES:
            raise ValueError(f"a bucket of {self.burst_bytes} bytes|0 to {_MOST_BYTES} bytes")
        if not 0 <= self.unshaped_below_bytes <= 2**16:
            raise ValueError(
                f"packets shorter than {self.unshaped_below_bytes} bytes|0 to {2**16} bytes"
            )

    @property
    def byte_price(self) -> int:
        """Time of a byte in 2**-30 ns, rounded to nearest."""
        bits_of_a_second = 8 * 10**9 << PRICE_SHIFT
        return (2 * bits_of_a_second + self.rate_bps) // (2 * self.rate_bps)

    def time_of(self, size_bytes: int) -> int:
        """Time of ``size_bytes`` at the port's rate in 2**-10 ns, rounded down."""
        return size_bytes * self.byte_price >> (PRICE_SHIFT - TIME_SHIFT)


def end_at_another_rate(
    end: int, now_ns: int, before: MarkerSettings, after: MarkerSettings
) -> int:
    """When the queue that ended at ``end`` ends, now that it drains at the other rate.

    Ends are times ``t`` as the program keeps them, of 64 bits. Tokens of the bucket stay what they
    are, in time; the program takes back what is more than a full bucket.
    """
    now = now_ns << TIME_SHIFT
    left = (end - now) % _WORD
    if end == 0 or left >= _WORD // 2:
        return end
    return (now + left * after.byte_price // before.byte_price) % _WORD
