"""Added latency of a port, by a netem queue in each of its leaves. Pure.

The queue is there from the start, with no delay, so that a change of it keeps what is queued.
"""

from __future__ import annotations

from netshaper.shaping import FRAME_BYTES


def netem_words(delay_s: float, buffer_bytes: int) -> tuple[str, ...]:
    """What follows ``tc qdisc VERB dev DEVICE parent CLASS``.

    netem counts packets: as many full frames as the queue has bytes, and as many short ones again.
    """
    limit = 2 * (buffer_bytes // FRAME_BYTES + 1)
    return ("netem", "limit", str(limit), "delay", f"{round(delay_s * 1e6)}us")
