"""A threshold that a port cannot have is refused with what it could be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from netshaper.disciplines import JobTraffic, port_classes
from netshaper.ecn.threshold import marker_settings, red_queue_words
from netshaper.ecn.virtual_queue import MarkerSettings
from netshaper.shaping import PortShape
from traces.cluster import Sharing
from traces.errors import BadInputError

SHAPE = PortShape(10**8, 1514, 1514, 100_000)
CLASSES = port_classes(Sharing.FAIR, SHAPE, [JobTraffic("one"), JobTraffic("two")])


def test_a_marker_knows_the_whole_port() -> None:
    assert marker_settings(SHAPE, CLASSES, 30_000, 64) == MarkerSettings(
        10**8, 30_000, 1514, 2 * 100_000, 64
    )


@pytest.mark.parametrize(
    ("shape", "threshold_bytes", "problem", "allowed"),
    [
        (SHAPE, 3027, "less than what a port lets through at once", "at least 3028 bytes"),
        (SHAPE, 200_000, "at a port that holds 200000", "less than the port holds"),
        (replace(SHAPE, rate_bps=10**5), 30_000, "a port of 100000 bit/s", "1000000 to"),
    ],
)
def test_a_marker_that_cannot_be(
    shape: PortShape, threshold_bytes: int, problem: str, allowed: str
) -> None:
    with pytest.raises(BadInputError) as raised:
        marker_settings(shape, CLASSES, threshold_bytes, 64)
    assert problem in raised.value.problem
    assert allowed in raised.value.allowed
    assert raised.value.key == "transport.ecn_threshold"


def test_a_red_queue_that_cannot_be() -> None:
    assert red_queue_words(SHAPE, 30_000)[0] == "red"
    with pytest.raises(BadInputError, match="for a queue of 100000") as raised:
        red_queue_words(SHAPE, 100_000)
    assert raised.value.key == "transport.ecn_threshold"
