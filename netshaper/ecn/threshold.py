"""An ECN threshold at one port: its marker's settings, or the words of its ``red`` queues. Pure.

What cannot be realised is a BadInputError with the key of the scenario.
"""

from __future__ import annotations

from netshaper.disciplines import PortClasses
from netshaper.ecn.red import red_words
from netshaper.ecn.virtual_queue import MarkerSettings
from netshaper.shaping import FRAME_BYTES, PortShape
from traces.errors import BadInputError

_KEY = "transport.ecn_threshold"


def marker_settings(
    shape: PortShape, classes: PortClasses, threshold_bytes: int, unshaped_below_bytes: int
) -> MarkerSettings:
    """A threshold below the token bucket would mark what passes at once, and nothing waits."""
    if threshold_bytes < shape.burst_bytes + FRAME_BYTES:
        raise BadInputError(
            f"an ECN threshold of {threshold_bytes} bytes is less than what a port lets through at "
            f"once ({shape.burst_bytes} bytes) and a frame",
            allowed=f"at least {shape.burst_bytes + FRAME_BYTES} bytes at this scale",
            key=_KEY,
        )
    try:
        return MarkerSettings(
            rate_bps=shape.rate_bps,
            threshold_bytes=threshold_bytes,
            burst_bytes=shape.burst_bytes,
            buffer_bytes=shape.buffer_bytes * len(classes.leaves),
            unshaped_below_bytes=unshaped_below_bytes,
        )
    except ValueError as error:
        raise _bad_threshold(error) from None


def red_queue_words(shape: PortShape, threshold_bytes: int) -> tuple[str, ...]:
    """See red_words."""
    try:
        return red_words(shape.rate_bps, threshold_bytes, shape.burst_bytes, shape.buffer_bytes)
    except ValueError as error:
        raise _bad_threshold(error) from None


def _bad_threshold(error: ValueError) -> BadInputError:
    problem, allowed = str(error).split("|")
    return BadInputError(problem, allowed=allowed, key=_KEY)
