"""The marker's program, run on packets, against a queue written down another way.

``golden/`` holds the code of one marker, an instruction a line. After a change that is meant, write
it anew with ``REGENERATE_GOLDEN=1``, and read the diff.
"""

from __future__ import annotations

import os
import struct
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netshaper.ecn.assembler import encode
from netshaper.ecn.marker import (
    DSCP_COUNT,
    VALUE_BYTES,
    MarkCounts,
    decode_counts,
    marker_program,
)
from netshaper.ecn.virtual_queue import LEAST_RATE_BPS, MOST_RATE_BPS, MarkerSettings
from tests.unit.netshaper.ecn.interpreter import Machine, Packet

GOLDEN = Path(__file__).parent / "golden" / "marker.txt"
SETTINGS = MarkerSettings(10**9, 80_000, 12_500, 10**6, 64)
NOT_ECT, ECT_1, ECT_0, CE = range(4)
MAP = 7
START_NS = 123_456_789_012


@dataclass
class BucketAndQueue:
    """A token bucket with a queue behind it, in times of 2**-10 ns at the port's rate.

    ``level`` is the backlog, or minus the tokens; time lowers it and never below a full bucket.
    """

    settings: MarkerSettings
    level: int
    last_ns: int

    def arrive(self, now_ns: int, wire_bytes: int) -> bool:
        """Whether a packet finds more than the threshold."""
        self.level -= (now_ns - self.last_ns) << 10
        self.level = max(self.level, -self.settings.time_of(self.settings.burst_bytes))
        self.last_ns = now_ns
        found = self.level
        after = self.level + self.settings.time_of(wire_bytes)
        if after <= self.settings.time_of(self.settings.buffer_bytes):
            self.level = after
        return found > self.settings.time_of(self.settings.threshold_bytes)


class Port:
    """A port with a marker."""

    def __init__(self, settings: MarkerSettings, start_ns: int = START_NS) -> None:
        self.code = encode(marker_program(settings, MAP))
        self.machine = Machine(bytearray(VALUE_BYTES), start_ns)

    def send(self, *packets: Packet) -> None:
        for packet in packets:
            assert self.machine.run(self.code, packet) == -1

    def counts(self, dscp: int = 0) -> MarkCounts:
        return decode_counts(bytes(self.machine.value))[dscp]


arrivals = st.lists(
    st.tuples(
        st.integers(0, 20_000_000),  # ns since the one before
        st.integers(64, 70_000),  # bytes on the wire
        st.integers(0, 255),  # TOS
        st.integers(0, 45),  # segments
    ),
    max_size=200,
)
# Times in which a packet of that rate is sent or not, whatever the rate.
gap_scales = st.sampled_from([0.0, 1e-4, 1e-2, 1.0])


@st.composite
def all_settings(draw: st.DrawFn) -> MarkerSettings:
    buffer_bytes = draw(st.integers(2, 2_000_000))
    return MarkerSettings(
        draw(st.sampled_from([LEAST_RATE_BPS, 50_000_000, 10**9, 10**11, MOST_RATE_BPS])),
        draw(st.integers(1, buffer_bytes - 1)),
        draw(st.integers(0, 200_000)),
        buffer_bytes,
    )


@given(all_settings(), arrivals, gap_scales, st.sampled_from([1, START_NS, 2**54 - 1, 2**63]))
def test_it_marks_what_the_queue_says(
    settings: MarkerSettings, packets: list[tuple[int, int, int, int]], scale: float, start_ns: int
) -> None:
    port = Port(settings, start_ns)
    queue = BucketAndQueue(settings, -settings.time_of(settings.burst_bytes), start_ns)
    expected: Counter[tuple[int, str]] = Counter()
    for gap_ns, wire_bytes, tos, segments in packets:
        port.machine.now_ns += int(gap_ns * scale)
        packet = Packet(wire_bytes, tos, segments)
        port.send(packet)
        over = queue.arrive(port.machine.now_ns, wire_bytes)
        kind = {NOT_ECT: "not_markable", CE: "arrived_marked"}.get(tos & 3, "marked")
        expected[tos >> 2, "packets"] += max(segments, 1)
        expected[tos >> 2, kind] += max(segments, 1) * over
        assert packet.tos == (tos | CE if over and kind == "marked" else tos)
    for dscp, counts in enumerate(decode_counts(bytes(port.machine.value))):
        for name in ("packets", "marked", "arrived_marked", "not_markable"):
            assert getattr(counts, name) == expected[dscp, name], (dscp, name)


def test_a_burst_into_an_idle_port_is_marked_from_the_byte_after_bucket_and_threshold() -> None:
    port = Port(SETTINGS)
    packets = [Packet(1000, ECT_0) for _ in range(200)]
    port.send(*packets)
    # Packet n finds n thousand bytes, of which 12,500 are credited; 80,000 more may wait.
    assert [packet.tos for packet in packets] == [ECT_0] * 93 + [CE] * 107
    assert port.counts() == MarkCounts(200, 107, 0, 0)


def test_exactly_the_threshold_is_not_marked() -> None:
    port = Port(MarkerSettings(10**9, 2000, 0, 10**6))
    packets = [Packet(1000, ECT_0) for _ in range(4)]
    port.send(*packets)
    assert [packet.tos for packet in packets] == [ECT_0, ECT_0, ECT_0, CE]


def test_the_queue_drains_at_the_ports_rate() -> None:
    port = Port(SETTINGS)
    port.send(*(Packet(1000, ECT_0) for _ in range(93)))  # 80,500 bytes wait
    port.machine.now_ns += 3_999  # 499.9 bytes at 1 Gbit/s
    port.send(Packet(1000, ECT_1))
    port.machine.now_ns += 8_001
    port.send(Packet(1000, ECT_1))
    assert port.counts().marked == 1


def test_an_idle_port_saves_no_more_than_its_bucket() -> None:
    port = Port(SETTINGS)
    port.send(Packet(1000, ECT_0))
    port.machine.now_ns += 10**12
    port.send(*(Packet(1000, ECT_0) for _ in range(100)))
    assert port.counts().marked == 100 - 93


@pytest.mark.parametrize(
    ("gap_ns", "marked"),
    # 1514 bytes take 12,112 ns; what comes 14 bytes too early each time fills 92,500 in 6608.
    [(12_112, 0), (12_000, 20_000 - 6608)],
)
def test_steady_sending_is_marked_above_the_rate_only(gap_ns: int, marked: int) -> None:
    port = Port(SETTINGS)
    for _ in range(20_000):
        port.send(Packet(1514, ECT_0))
        port.machine.now_ns += gap_ns
    assert port.counts().marked == marked


def test_what_the_port_drops_does_not_wait_in_its_queue() -> None:
    port = Port(MarkerSettings(10**9, 2000, 0, 10_000))
    port.send(*(Packet(1000, ECT_0) for _ in range(1000)))
    port.machine.now_ns += 64_001  # 8000 of the 10,000 bytes that fit
    port.send(Packet(1000, ECT_0, 1))
    assert port.counts().marked == 1000 - 3


def test_senders_without_ecn_are_counted_apart_and_pass() -> None:
    port = Port(SETTINGS)
    packets = [Packet(1000, 5 << 2 | NOT_ECT) for _ in range(100)]
    port.send(*packets)
    assert {packet.tos for packet in packets} == {5 << 2}
    assert port.counts(5) == MarkCounts(100, 0, 0, 7)


def test_what_was_marked_before_is_counted_apart() -> None:
    port = Port(SETTINGS)
    port.send(*(Packet(1000, CE) for _ in range(100)))
    assert port.counts() == MarkCounts(100, 0, 7, 0)


def test_all_jobs_share_the_queue_and_each_has_its_counts() -> None:
    port = Port(SETTINGS)
    for _ in range(100):
        port.send(Packet(1000, 1 << 2 | ECT_0), Packet(1000, 63 << 2 | ECT_1))
    assert port.counts(1) == MarkCounts(100, 53, 0, 0)
    assert port.counts(63) == MarkCounts(100, 54, 0, 0)


def test_segments_are_counted_and_wire_bytes_queued() -> None:
    port = Port(SETTINGS)
    port.send(*(Packet(10_000, ECT_0, segments=7) for _ in range(12)))
    assert port.counts() == MarkCounts(84, 14, 0, 0)


def test_short_packets_pass_beside_the_queue() -> None:
    port = Port(SETTINGS)
    port.send(*(Packet(77, ECT_0) for _ in range(10_000)))  # 63 bytes of IPv4 behind 14 of Ethernet
    assert port.counts() == MarkCounts(0, 0, 0, 0)
    port.send(Packet(78, ECT_0))
    assert port.counts().packets == 1


def test_without_a_limit_short_packets_are_queued() -> None:
    port = Port(MarkerSettings(10**9, 80_000, 12_500, 10**6))
    port.send(Packet(60, ECT_0))
    assert port.counts().packets == 1


def test_the_state_starts_idle_however_long_the_machine_runs() -> None:
    for start_ns in (1, 2**52, 2**53, 2**54, 2**60):
        port = Port(SETTINGS, start_ns)
        port.send(Packet(1000, ECT_0))
        assert port.counts().marked == 0


def test_the_code_is_exactly_this() -> None:
    code = encode(marker_program(SETTINGS, MAP))
    text = "".join(f"{code[at : at + 8].hex()}\n" for at in range(0, len(code), 8))
    if os.environ.get("REGENERATE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_the_program_is_small() -> None:
    assert len(marker_program(SETTINGS, MAP)) == 55
    assert len(marker_program(MarkerSettings(10**9, 80_000, 0, 10**6), MAP)) == 53


@pytest.mark.parametrize("dscp", [0, 1, DSCP_COUNT - 1])
def test_counts_come_from_their_places(dscp: int) -> None:
    value = bytearray(VALUE_BYTES)
    struct.pack_into("=4Q", value, 8 + 32 * dscp, 1, 2, 3, 2**63)
    counts = decode_counts(bytes(value))
    assert len(counts) == DSCP_COUNT
    assert counts[dscp] == MarkCounts(1, 2, 3, 2**63)
    assert sum(each.packets for each in counts) == 1
