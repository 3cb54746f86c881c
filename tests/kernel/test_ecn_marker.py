"""The marker in the kernel: it counts what receivers see, and it goes with its namespace."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from emulator.cpu_time import read_cpu_time
from emulator.cpu_time import shares as cpu_shares
from netshaper.apply import build, remove_namespaces, run_commands
from netshaper.disciplines import JobTraffic
from netshaper.ecn import bpf_calls
from netshaper.ecn.capability import probe_marking, probe_namespace
from netshaper.ecn.loader import MarkReader, attach_marker, check_marker
from netshaper.ecn.marker import MarkCounts
from netshaper.ecn.virtual_queue import MarkerSettings
from netshaper.namespaces import inside_namespace
from netshaper.netlink import NetlinkSocket
from netshaper.plan import Command, NetworkPlan, PlannedPort, plan_network
from netshaper.readback import check_network
from netshaper.shaping import PAYLOAD_SHARE
from tests.kernel.command import TRIES, wait_until
from tests.kernel.machine import host_links, namespaces
from traces.cluster import Cluster, Link, Port, Sharing
from traces.errors import EmulationError, MissingCapabilityError

RUN_ID = "t3stecn"
JOBS = ("one", "two")
SENDER, SWITCH, RECEIVER = "sender", "switch", "receiver"
FIRST_PORT, SECOND_PORT = Port(SENDER, SWITCH), Port(SWITCH, RECEIVER)
NOT_ECT, ECT_1, ECT_0, CE = range(4)
SHORT_BYTES = 64
LEAST_RATE_BPS = 1_000_000
DATAGRAM_BYTES = 1000
DATAGRAM_FRAME_BYTES = DATAGRAM_BYTES + 8 + 20 + 14
DATAGRAMS = 60  # a socket may have no more than about 90 of them in a queue
LEAST_IDLE = 0.15
NO_COUNTS = MarkCounts(0, 0, 0, 0)


@contextlib.contextmanager
def network(rate_bps: float, sharing: Sharing = Sharing.FAIR) -> Iterator[NetworkPlan]:
    """A sender at twice ``rate_bps`` behind a switch whose port to the receiver has that rate."""
    links = (Link(SENDER, SWITCH, 2 * rate_bps), Link(SWITCH, RECEIVER, rate_bps))
    cluster = Cluster((SENDER, RECEIVER), (SWITCH,), links, sharing)
    jobs = [JobTraffic(job) for job in JOBS]
    plan = plan_network(RUN_ID, "n0", cluster, jobs, rate_divisor=1, connections=4)
    try:
        build(plan)
        yield plan
    finally:
        remove_namespaces(plan.namespaces.values())
        assert namespaces(f"{RUN_ID}-") == []


def settings_of(end: PlannedPort, threshold_bytes: int) -> MarkerSettings:
    shape = end.shape
    return MarkerSettings(
        shape.rate_bps, threshold_bytes, shape.burst_bytes, shape.buffer_bytes, SHORT_BYTES
    )


def mark_at(plan: NetworkPlan, port: Port, threshold_bytes: int) -> MarkReader:
    end = plan.ports[port]
    settings = settings_of(end, threshold_bytes)
    attach_marker(end.namespace, end.device, settings)
    check_marker(end.namespace, end.device, settings)
    return MarkReader(end.namespace, end.device)


def received_marks(plan: NetworkPlan) -> int:
    """IpExtInCEPkts of the receiver."""
    with inside_namespace(plan.namespaces[RECEIVER]):
        lines = Path("/proc/thread-self/net/netstat").read_text().splitlines()
    names, values = (line.split() for line in lines if line.startswith("IpExt:"))
    return int(values[names.index("InCEPkts")])


def dropped_packets(plan: NetworkPlan) -> int:
    total = 0
    for end in plan.ports.values():
        with contextlib.closing(NetlinkSocket(end.namespace)) as reader:
            classes = reader.classes(reader.links()[end.device].index)
        total += sum(each.dropped_packets for each in classes.values())
    return total


def use_ecn(plan: NetworkPlan, mode: int) -> None:
    """Of the connections that are opened from now on."""
    words = ("-q", "-w", f"net.ipv4.tcp_ecn={mode}")
    run_commands(Command("sysctl", words, plan.namespaces[node]) for node in (SENDER, RECEIVER))


def allow_segments(plan: NetworkPlan, segments: int) -> None:
    """How many segments a packet may hold until it leaves the last device."""
    words = ("gso_max_segs", str(segments))
    run_commands(
        Command("ip", ("link", "set", "dev", end.device, *words), end.namespace)
        for end in plan.ports.values()
    )


def total(counts: tuple[MarkCounts, ...]) -> MarkCounts:
    return MarkCounts(
        sum(each.packets for each in counts),
        sum(each.marked for each in counts),
        sum(each.arrived_marked for each in counts),
        sum(each.not_markable for each in counts),
    )


class Flow:
    """A TCP connection that sends as fast as it may, from a thread, to another one."""

    def __init__(self, plan: NetworkPlan, job: str, window_bytes: int | None = None) -> None:
        self.received_bytes = 0
        with inside_namespace(plan.namespaces[RECEIVER]):
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        with inside_namespace(plan.namespaces[SENDER]):
            self._sender = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        with listener:
            for each in (listener, self._sender):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
                each.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, plan.job_dscp[job] << 2)
                each.settimeout(30)
                if window_bytes is not None:
                    each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window_bytes)
            listener.bind((plan.addresses.server(RECEIVER), 0))
            listener.listen(1)
            self._sender.bind((plan.addresses.server(SENDER), 0))
            self._sender.connect(listener.getsockname())
            self._receiver, _ = listener.accept()
        self._receiver.settimeout(30)
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=run) for run in (self._send, self._receive)]

    def _send(self) -> None:
        piece = bytes(2**16)
        with self._sender:
            while not self._ended.is_set():
                self._sender.sendall(piece)

    def _receive(self) -> None:
        buffer = bytearray(2**18)
        with self._receiver:
            while size := self._receiver.recv_into(buffer):
                self.received_bytes += size

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Return when all that was sent has been received."""
        self._ended.set()
        for thread in self._threads:
            thread.join()


def run_flows(flows: list[Flow], duration_s: float) -> float:
    """Payload bit/s of all ``flows`` together, in the second half of the duration."""
    for flow in flows:
        flow.start()
    try:
        time.sleep(duration_s / 2)
        begun_s, before = time.monotonic(), sum(flow.received_bytes for flow in flows)
        time.sleep(duration_s / 2)
        after, ended_s = sum(flow.received_bytes for flow in flows), time.monotonic()
    finally:
        for flow in flows:
            flow.end()
    return (after - before) * 8 / (ended_s - begun_s)


def send_burst(plan: NetworkPlan, job: str, ecn: int) -> float:
    """Send DATAGRAMS at once and wait until all have come; the seconds that sending took."""
    with inside_namespace(plan.namespaces[RECEIVER]):
        receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with inside_namespace(plan.namespaces[SENDER]):
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with receiver, sender:
        receiver.bind((plan.addresses.server(RECEIVER), 0))
        receiver.settimeout(10)
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, plan.job_dscp[job] << 2 | ecn)
        sender.connect(receiver.getsockname())
        begun_s = time.monotonic()
        for _ in range(DATAGRAMS):
            sender.send(bytes(DATAGRAM_BYTES))
        took_s = time.monotonic() - begun_s
        for _ in range(DATAGRAMS):
            receiver.recv(DATAGRAM_BYTES)
    return took_s


def assert_over(count: int, settings: MarkerSettings, took_s: float) -> None:
    """Of a burst, ``count`` found more than the threshold: all but the first, if none drained."""
    credited = settings.threshold_bytes + settings.burst_bytes
    drained = took_s * settings.rate_bps / 8
    most = DATAGRAMS - 1 - credited // DATAGRAM_FRAME_BYTES
    assert most - 1 - drained / DATAGRAM_FRAME_BYTES <= count <= most


@pytest.mark.parametrize(
    ("rate_bps", "threshold_bytes", "sharing", "segments"),
    [
        (100e6, 30_000, Sharing.FAIR, 1),
        (100e6, 30_000, Sharing.FIFO, 1),
        (500e6, 80_000, Sharing.FAIR, 1),
        (1e9, 80_000, Sharing.FAIR, 8),
    ],
)
def test_every_mark_that_is_counted_is_received(
    rate_bps: float, threshold_bytes: int, sharing: Sharing, segments: int
) -> None:
    with network(rate_bps, sharing) as plan:
        use_ecn(plan, 1)
        allow_segments(plan, segments)
        with mark_at(plan, SECOND_PORT, threshold_bytes) as reader:
            flows = [Flow(plan, job) for job in JOBS]
            run_flows(flows, duration_s=1.0)
            counts = reader.counts()
        assert dropped_packets(plan) == 0
        found = total(counts)
        print(f"{rate_bps:.0f} bit/s, K {threshold_bytes}, {sharing}, {segments}: {found}")
        assert found.marked == received_marks(plan) > 0
        assert found.arrived_marked == 0
        # TCP sends what it repeats without ECN (RFC 3168), and on a busy box it guesses wrong.
        assert found.not_markable < found.packets / 100
        for flow, job in zip(flows, JOBS, strict=True):
            of_job = counts[plan.job_dscp[job]]
            assert of_job.packets >= flow.received_bytes / 1448
            assert 0 < of_job.marked < of_job.packets / 2
        used = {plan.job_dscp[job] for job in JOBS}
        assert all(each == NO_COUNTS for dscp, each in enumerate(counts) if dscp not in used)
        check_network(plan)


@pytest.mark.parametrize(
    ("rate_bps", "threshold_bytes", "segments"),
    [(100e6, 30_000, 1), (200e6, 40_000, 1), (1e9, 80_000, 8)],
)
def test_a_marked_link_stays_busy(rate_bps: float, threshold_bytes: int, segments: int) -> None:
    """A box without a rest of idle time delays packets until no threshold makes sense."""
    shares = []
    for _ in range(TRIES):
        with network(rate_bps) as plan, mark_at(plan, SECOND_PORT, threshold_bytes):
            use_ecn(plan, 1)
            allow_segments(plan, segments)
            before = read_cpu_time()
            goodput_bps = run_flows([Flow(plan, job) for job in JOBS], duration_s=2.0)
            idle, _ = cpu_shares(before, read_cpu_time())
        share = goodput_bps / (rate_bps * PAYLOAD_SHARE)
        print(f"{rate_bps:.0f} bit/s, K {threshold_bytes}: {share:.1%} of it, {idle:.0%} idle")
        if share >= 0.9:
            return
        shares.append((share, idle))
    if all(idle < LEAST_IDLE for _, idle in shares):
        pytest.skip(f"the box is too busy (share of the rate, idle): {shares}")
    raise AssertionError(f"(share of the rate, idle): {shares}")


def test_senders_without_ecn_are_counted_and_not_marked() -> None:
    with network(100e6) as plan, mark_at(plan, SECOND_PORT, 30_000) as reader:
        use_ecn(plan, 1)
        with_ecn = Flow(plan, "one")
        use_ecn(plan, 0)
        without_ecn = Flow(plan, "two", window_bytes=64_000)
        run_flows([with_ecn, without_ecn], duration_s=1.0)
        one, two = (reader.counts()[plan.job_dscp[job]] for job in JOBS)
        assert two.not_markable > 0
        assert two.marked == 0
        assert one.marked == received_marks(plan) > 0


@pytest.mark.parametrize(
    ("ecn", "counter"),
    [(ECT_0, "marked"), (ECT_1, "marked"), (NOT_ECT, "not_markable"), (CE, "arrived_marked")],
)
def test_a_burst_is_marked_from_the_packet_that_finds_more_than_the_threshold(
    ecn: int, counter: str
) -> None:
    with network(LEAST_RATE_BPS) as plan, mark_at(plan, FIRST_PORT, 20_000) as reader:
        took_s = send_burst(plan, "two", ecn)
        counts = reader.counts()[plan.job_dscp["two"]]
        found = getattr(counts, counter)
        assert_over(found, settings_of(plan.ports[FIRST_PORT], 20_000), took_s)
        assert counts == replace(NO_COUNTS, packets=DATAGRAMS, **{counter: found})
        expected = {"marked": found, "not_markable": 0, "arrived_marked": DATAGRAMS}
        assert received_marks(plan) == expected[counter]


def test_a_mark_is_counted_at_the_port_that_made_it() -> None:
    with (
        network(LEAST_RATE_BPS) as plan,
        mark_at(plan, FIRST_PORT, 20_000) as first,
        mark_at(plan, SECOND_PORT, 5_000) as second,
    ):
        send_burst(plan, "one", ECT_0)
        at_first, at_second = total(first.counts()), total(second.counts())
        assert at_first.marked > 0
        assert at_second.marked > 0
        assert 0 < at_second.arrived_marked <= at_first.marked
        assert at_first.marked + at_second.marked == received_marks(plan)


def test_the_kernel_holds_what_was_planned_and_a_difference_is_an_error() -> None:
    with network(100e6) as plan:
        end = plan.ports[SECOND_PORT]
        place = (end.namespace, end.device)
        settings = settings_of(end, 30_000)
        with pytest.raises(EmulationError, match=r"planned 'roundelay_ecn .*found none"):
            check_marker(*place, settings)
        with pytest.raises(EmulationError, match="has no marker"):
            MarkReader(*place)
        program_id = attach_marker(*place, settings)
        found = check_marker(*place, settings)
        assert found.program_id == program_id
        shown = subprocess.run(
            ("tc", "-n", end.namespace, "filter", "show", "dev", end.device, "egress"),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert f"{found.name} direct-action" in shown
        assert f"id {program_id}" in shown
        with pytest.raises(EmulationError, match=r"threshold 40000.*found.*threshold 30000"):
            check_marker(*place, replace(settings, threshold_bytes=40_000))
        with pytest.raises(EmulationError, match="has a marker already"):
            attach_marker(*place, settings)
        with pytest.raises(EmulationError, match="has no device eth9"):
            attach_marker(end.namespace, "eth9", settings)


def test_a_program_that_the_verifier_rejects_is_reported_with_its_log() -> None:
    only_exit = bytes.fromhex("9500000000000000")
    with pytest.raises(bpf_calls.RejectedProgramError, match="R0 !read_ok"):
        bpf_calls.load_classifier("roundelay_ecn", only_exit)


def test_nothing_is_left_of_a_marker() -> None:
    descriptors, links = _descriptors(), host_links()
    with network(100e6) as plan:
        end = plan.ports[SECOND_PORT]
        program_id = attach_marker(end.namespace, end.device, settings_of(end, 30_000))
        program = bpf_calls.open_program(program_id)
        (map_id,) = bpf_calls.program_info(program).map_ids
        os.close(program)
        with MarkReader(end.namespace, end.device) as reader:
            assert len(reader.counts()) == 64
        with pytest.raises(EmulationError):
            attach_marker(end.namespace, end.device, settings_of(end, 30_000))
        assert _descriptors() == descriptors
    # The kernel frees both a moment after the namespace, which it takes apart in the background.
    wait_until(lambda: _is_gone(bpf_calls.open_program, program_id), "the program to go")
    wait_until(lambda: _is_gone(bpf_calls.open_map, map_id), "the map to go")
    assert host_links() == links


def _descriptors() -> set[str]:
    """Open ones of this process, with what they are; that of the listing itself left out."""
    links = Path("/proc/self/fd").iterdir()
    return {f"{link.name} {link.readlink()}" for link in links if link.is_symlink()}


def _is_gone(open_by_id: object, number: int) -> bool:
    assert callable(open_by_id)
    try:
        os.close(open_by_id(number))
    except FileNotFoundError:
        return True
    return False


def test_a_user_without_privileges_is_told_what_to_do() -> None:
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.setresuid(65534, 65534, 65534)
            attach_marker("roundelay-none", "eth0", MarkerSettings(10**9, 80_000, 0, 10**6))
        except MissingCapabilityError as error:
            status = 0 if "may not load BPF" in str(error) and "as root" in error.remedy else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_the_probe_finds_the_marker_and_leaves_nothing() -> None:
    support = probe_marking(RUN_ID)
    assert support.why_no_marker is None
    assert support.why_no_red is None or "red" in support.why_no_red
    assert namespaces(probe_namespace(RUN_ID)) == []
