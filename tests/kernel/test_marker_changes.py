"""A marker in the kernel that gets other settings while packets come: counts and queue stay."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from netshaper.ecn.loader import change_marker, check_marker
from tests.kernel.test_ecn_marker import (
    DATAGRAM_FRAME_BYTES,
    DATAGRAMS,
    ECT_0,
    FIRST_PORT,
    LEAST_RATE_BPS,
    mark_at,
    network,
    send_burst,
    settings_of,
)
from traces.errors import EmulationError

THRESHOLD_BYTES = 70_000


def test_a_queue_that_drains_a_thousand_times_as_fast_is_soon_gone() -> None:
    with network(1e9) as plan, mark_at(plan, FIRST_PORT, THRESHOLD_BYTES) as reader:
        end = plan.ports[FIRST_PORT]
        place, fast = (end.namespace, end.device), settings_of(end, THRESHOLD_BYTES)
        slow = replace(fast, rate_bps=LEAST_RATE_BPS, burst_bytes=1514)
        dscp = plan.job_dscp["one"]
        change_marker(*place, fast, slow)
        check_marker(*place, slow)
        begun_s = time.monotonic()
        for _ in range(2):
            send_burst(plan, "one", ECT_0)
        drained_bytes = (time.monotonic() - begun_s) * LEAST_RATE_BPS / 8
        marked = reader.counts()[dscp].marked
        waiting_bytes = 2 * DATAGRAMS * DATAGRAM_FRAME_BYTES - drained_bytes
        over_bytes = waiting_bytes - THRESHOLD_BYTES - slow.burst_bytes
        assert marked >= over_bytes / DATAGRAM_FRAME_BYTES - 1  # the first finds none before it
        assert marked > 0

        change_marker(*place, slow, fast)
        assert check_marker(*place, fast).direct
        time.sleep(waiting_bytes * 8 / fast.rate_bps)
        send_burst(plan, "one", ECT_0)  # fewer bytes than the threshold
        counts = reader.counts()[dscp]
        assert counts.packets == 3 * DATAGRAMS
        assert counts.marked == marked


def test_a_marker_that_is_not_as_it_was_left_is_not_changed() -> None:
    with network(1e9) as plan, mark_at(plan, FIRST_PORT, THRESHOLD_BYTES):
        end = plan.ports[FIRST_PORT]
        settings = settings_of(end, THRESHOLD_BYTES)
        other = replace(settings, threshold_bytes=THRESHOLD_BYTES + 1)
        with pytest.raises(EmulationError, match=r"threshold 70001.*found"):
            change_marker(end.namespace, end.device, other, settings)
