"""Capture files as bytes over time, against scapy, which builds the packets."""

from __future__ import annotations

import gzip
import io
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, CookedLinux, Dot1Q, Ether
from scapy.packet import Packet, Raw
from scapy.utils import PcapNgWriter, PcapWriter

from bench.captures import CaptureShape, write_capture
from tests.unit.traces.damage import damaged
from traces.errors import BadInputError
from traces.formats.packet_series import PacketOptions, is_capture, read_packets
from traces.formats.packets import CutShort, PacketBatch
from traces.formats.pcap import read_pcap
from traces.formats.pcapng import read_pcapng
from traces.load_series import LoadSeries

A, B, C = "10.0.0.1", "10.0.0.2", "10.0.0.3"
A6, B6 = "fd00::1", "fd00::2"
MSS_BYTES = 1448  # of 1,500 bytes, without headers of IP and of TCP with times

Write = Callable[[Path, list[Packet]], None]


def ethernet(source: str, destination: str, layer: Packet, size: int, *tags: Packet) -> Packet:
    frame = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    for tag in tags:
        frame /= tag
    ip = IPv6 if ":" in source else IP
    return frame / ip(src=source, dst=destination) / layer / Raw(bytes(size))


def tcp(size: int, source: str = A, destination: str = B, *tags: Packet) -> Packet:
    return ethernet(
        source,
        destination,
        TCP(options=[("Timestamp", (1, 2)), ("NOP", 0), ("NOP", 0)]),
        size,
        *tags,
    )


def timed(packets: list[Packet], step_s: float = 0.0004) -> list[Packet]:
    """One in each interval of ``step_s``, away from its edges where it is not the first."""
    for number, packet in enumerate(packets):
        packet.time = 1_700_000_000 + (number + (number > 0) / 4) * step_s
    return packets


def pcap(order: str, *, nano: bool) -> Write:
    def write(file: Path, packets: list[Packet]) -> None:
        with PcapWriter(str(file), endianness=order, nano=nano) as writer:
            for packet in packets:
                writer.write(packet)

    return write


def pcapng(file: Path, packets: list[Packet]) -> None:
    with PcapNgWriter(str(file)) as writer:
        for packet in packets:
            writer.write(packet)


WRITERS = {
    "microseconds": pcap("<", nano=False),
    "nanoseconds": pcap("<", nano=True),
    "other-order": pcap(">", nano=False),
    "other-order-nanoseconds": pcap(">", nano=True),
    "pcapng": pcapng,
}
MIXED = [
    tcp(1000),
    tcp(0, B, A),
    tcp(700, A, B, Dot1Q(vlan=7)),
    tcp(300, A, B, Dot1Q(vlan=7, type=0x8100), Dot1Q(vlan=8)),
    ethernet(A, B, UDP(dport=4791), 1024),
    ethernet(A, C, UDP(dport=53), 99),
    Ether() / ARP(psrc=A, pdst=B),
    ethernet(C, A, UDP(dport=4791), 1200),
    ethernet(A6, B6, UDP(dport=4791), 400),
    ethernet(A6, B6, TCP(), 555),
    tcp(5, A, B) / Raw(bytes(3)),
]


def capture(directory: Path, packets: list[Packet], write: Write = WRITERS["nanoseconds"]) -> Path:
    file = directory / "capture"
    write(file, timed([packet.copy() for packet in packets]))
    return file


def frame_bytes(packets: list[Packet], source: str, destination: str | None = None) -> list[float]:
    """Of each packet the length of its frame where the addresses are these, by scapy."""
    found = []
    for packet in packets:
        layer = packet.getlayer(IPv6) or packet.getlayer(IP)
        is_it = layer is not None and layer.src == source and destination in (None, layer.dst)
        found.append(float(len(packet)) if is_it else 0.0)
    return found


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize(("sender", "receiver"), [(A, None), (A, B), (B, None), (C, A), (A6, B6)])
def test_bytes_of_chosen_hosts_are_those_of_their_frames(
    tmp_path: Path, write: Write, sender: str, receiver: str | None
) -> None:
    file = capture(tmp_path, MIXED, write)
    assert is_capture(file.read_bytes()[:4])
    series = read_packets(file, PacketOptions(4e-4, sender=sender, receiver=receiver))
    sent = frame_bytes(MIXED, sender, receiver)
    assert series.sent_bytes.tolist() == sent
    assert series.edges_s == pytest.approx(np.arange(len(MIXED) + 1) * 4e-4)
    assert series.received_bytes is not None
    if receiver is not None:
        assert series.received_bytes.tolist() == frame_bytes(MIXED, receiver, sender)
    assert "packets: 6 TCP, 3 RoCEv2, 1 UDP" in series.notes
    assert "packets that are not IP, and not counted: 1" in series.notes


def test_the_host_that_sent_most_is_taken_and_said(tmp_path: Path) -> None:
    series = read_packets(capture(tmp_path, MIXED), PacketOptions())
    assert series.source == f"capture, bytes that {A} sent"
    assert series.sent_bytes.sum() == sum(frame_bytes(MIXED, A))
    hosts = next(note for note in series.notes if note.startswith("hosts that sent"))
    assert hosts.startswith(f"hosts that sent: {A} {series.sent_bytes.sum():,.0f} bytes, ")
    assert hosts.endswith("and 1 others")


@pytest.mark.parametrize("size", [MSS_BYTES, MSS_BYTES + 1, 20 * MSS_BYTES, 60_001])
@pytest.mark.parametrize("tags", [(), (Dot1Q(vlan=3),)], ids=["untagged", "tagged"])
def test_a_merged_packet_counts_as_the_frames_that_it_was(
    tmp_path: Path, size: int, tags: tuple[Packet, ...]
) -> None:
    rests = [min(MSS_BYTES, size - sent) for sent in range(0, size, MSS_BYTES)]
    frames = [tcp(rest, A, B, *tags) for rest in rests]
    merged = capture(tmp_path, [tcp(size, A, B, *tags)])
    series = read_packets(merged, PacketOptions())
    assert series.sent_bytes.sum() == sum(len(frame) for frame in frames)
    said = [note for note in series.notes if note.startswith("packets longer than 1,500 bytes")]
    assert len(said) == (size > MSS_BYTES)


def test_frames_of_roce_and_of_a_larger_mtu_are_no_merged_ones(tmp_path: Path) -> None:
    roce = ethernet(A, B, UDP(dport=4791), 4160)
    series = read_packets(capture(tmp_path, [roce]), PacketOptions())
    assert series.sent_bytes.tolist() == [len(roce)]
    jumbo = tcp(8948)
    series = read_packets(capture(tmp_path, [jumbo]), PacketOptions(mtu_bytes=9000))
    assert series.sent_bytes.tolist() == [len(jumbo)]


@pytest.mark.parametrize("captured_bytes", [1514, 96])
def test_a_capture_of_many_blocks_loses_no_packet(tmp_path: Path, captured_bytes: int) -> None:
    file = tmp_path / "capture"
    packets, sent_bytes = write_capture(file, CaptureShape(captured_bytes), 20_000_000)
    series = read_packets(file, PacketOptions())
    assert series.sent_bytes.sum() == sent_bytes
    assert f"packets: {packets:,} TCP" in series.notes


def test_what_was_not_captured_of_a_packet_counts(tmp_path: Path) -> None:
    packets = [tcp(1000), tcp(900), tcp(0)]
    file = tmp_path / "headers"
    with PcapWriter(str(file), nano=True, linktype=1) as writer:
        writer.write_header(None)
        for number, packet in enumerate(packets):
            kept = 30 if number == 2 else 66
            writer.write_packet(bytes(packet)[:kept], sec=1, usec=number, wirelen=len(packet))
    series = read_packets(file, PacketOptions())
    assert series.sent_bytes.tolist() == [len(packets[0]) + len(packets[1])]
    assert any("too little was captured, and that are not counted: 1" in n for n in series.notes)


def test_a_file_that_ends_in_a_packet_is_read_up_to_there(tmp_path: Path) -> None:
    for write in (WRITERS["microseconds"], pcapng):
        file = capture(tmp_path, [tcp(1000), tcp(900)], write)
        file.write_bytes(file.read_bytes()[:-100])
        series = read_packets(file, PacketOptions())
        assert series.sent_bytes.sum() == len(tcp(1000))
        assert series.notes[-1].startswith("the file ends inside a packet")


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_packed_files_are_the_same(tmp_path: Path, write: Write) -> None:
    plain = capture(tmp_path, MIXED, write)
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert is_capture(packed.read_bytes())
    options = PacketOptions(4e-4, sender=A)
    one, other = read_packets(plain, options), read_packets(packed, options)
    assert one.sent_bytes.tolist() == other.sent_bytes.tolist()
    assert one.notes == other.notes


def test_packed_files_that_are_damaged_are_refused(tmp_path: Path) -> None:
    plain = capture(tmp_path, MIXED)
    packed = gzip.compress(plain.read_bytes())
    plain.write_bytes(packed[:-20])
    with pytest.raises(BadInputError, match="the packed file ends too early"):
        read_packets(plain, PacketOptions())
    plain.write_bytes(packed[:40] + b"\xff\xff\xff" + packed[43:])
    with pytest.raises(BadInputError, match="cannot be unpacked"):
        read_packets(plain, PacketOptions())
    assert not is_capture(gzip.compress(b"time_s,sent_bytes"))
    assert not is_capture(b"\x1f\x8b damaged")


class Trickle(io.BytesIO):
    """Gives at most 97 bytes at a time, so that packets and blocks are divided everywhere."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(97 if size is None or size < 0 else min(size, 97))


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_packets_that_lie_across_what_is_read_at_once_are_whole(
    tmp_path: Path, write: Write
) -> None:
    file = capture(tmp_path, MIXED, write)
    read = read_pcapng if write is pcapng else read_pcap
    whole = list(_packets(read(io.BytesIO(file.read_bytes()), file)))
    assert [data for _, data in whole] == [bytes(packet) for packet in MIXED]
    assert list(_packets(read(Trickle(file.read_bytes()), file))) == whole


def _packets(batches: Iterator[PacketBatch | CutShort]) -> Iterator[tuple[int, bytes]]:
    for batch in batches:
        assert isinstance(batch, PacketBatch)
        for time_ns, start, size in zip(
            batch.time_ns, batch.starts, batch.captured_bytes, strict=True
        ):
            yield int(time_ns), batch.data[start : start + size].tobytes()


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length


SECTION = _block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))


@pytest.mark.parametrize(
    ("options", "ticks", "time_ns"),
    [
        (b"", 1_000_001, 1_000_001_000),
        (struct.pack("<HHB3x", 9, 1, 9), 1_000_000_001, 1_000_000_001),
        (struct.pack("<HHB3x", 9, 1, 0x80 | 10), 1024 + 512, 1_500_000_000),
        (struct.pack("<HHqHHB3x", 14, 8, 5, 9, 1, 3), 1_001, 6_001_000_000),
    ],
)
def test_times_of_pcapng_have_the_resolution_of_their_interface(
    tmp_path: Path, options: bytes, ticks: int, time_ns: int
) -> None:
    interface = _block(1, struct.pack("<HHI", 1, 0, 0) + options)
    packet = _block(6, struct.pack("<IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, 4, 60) + bytes(4))
    data = (SECTION + interface + packet) * 2
    batches = list(read_pcapng(io.BytesIO(data), tmp_path))
    assert [batch.time_ns.tolist() for batch in batches if isinstance(batch, PacketBatch)] == [
        [time_ns],
        [time_ns],
    ]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "is no pcap file"),
        (b"\n\r\r\n\x1c\0\0\0abcd" + bytes(16), "is a section of unknown byte order"),
        (SECTION[:-4] + bytes(4), "has two lengths"),
        (SECTION + _block(3, bytes(8)), "is a packet that has no time"),
        (SECTION + _block(6, bytes(20)), "is a damaged packet"),
        (SECTION + struct.pack("<III", 1, 13, 0), "has a length of 13 bytes"),
        (struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 0, 147) + bytes(16), "link type 147"),
        (
            struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 0, 1)
            + struct.pack("<4I", 0, 2**30, 0, 0),
            "packet 1 has no possible time or length",
        ),
        (struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 0, 1), "has no IP packet"),
    ],
)
def test_what_is_no_capture_is_refused(tmp_path: Path, data: bytes, problem: str) -> None:
    file = tmp_path / "capture"
    file.write_bytes(data)
    with pytest.raises(BadInputError, match=problem) as caught:
        read_packets(file, PacketOptions())
    assert caught.value.file == file


def test_other_links_and_impossible_spans_are_refused(tmp_path: Path) -> None:
    cooked = CookedLinux(proto=0x0800) / IP(src=A, dst=B) / UDP(dport=4791) / Raw(bytes(10))
    file = capture(tmp_path, [cooked])
    series = read_packets(file, PacketOptions())
    assert series.sent_bytes.tolist() == [len(cooked) - 2]  # Ethernet's header has two bytes less
    packets = timed([tcp(1), tcp(1)], step_s=1e6)
    WRITERS["nanoseconds"](file, packets)
    with pytest.raises(BadInputError, match="1,250,000,001 intervals"):
        read_packets(file, PacketOptions())


def test_an_address_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="'host' is no address"):
        read_packets(capture(tmp_path, [tcp(1)]), PacketOptions(sender="host"))


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    directory = tmp_path_factory.mktemp("captures")
    plain = [capture(directory, MIXED, write).read_bytes() for write in WRITERS.values()]
    return [*plain, gzip.compress(plain[0])]


@settings(max_examples=120)
@given(data=st.data())
def test_damage_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, captures: list[bytes], data: st.DataObject
) -> None:
    file = tmp_path_factory.mktemp("damaged") / "capture"
    file.write_bytes(data.draw(damaged(data.draw(st.sampled_from(captures)))))
    try:
        series = read_packets(file, PacketOptions())
    except BadInputError as error:
        assert error.file == file  # noqa: PT017 - reading is right, too
    else:
        assert isinstance(series, LoadSeries)
        assert np.isfinite(series.sent_bytes).all()
