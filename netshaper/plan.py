"""From a cluster to the exact ip, tc and sysctl commands that build it. Pure."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from netshaper.addresses import Addresses, port_addresses
from netshaper.classes import all_leaves, leaf_class_words, root_class_words
from netshaper.delay import netem_words
from netshaper.disciplines import (
    ACKNOWLEDGEMENT_CLASS,
    SHARED_CLASS,
    UNCLASSIFIED_CLASS,
    JobTraffic,
    PortClasses,
    port_classes,
)
from netshaper.ecn.marking import Marking
from netshaper.ecn.threshold import marker_settings, red_queue_words
from netshaper.ecn.virtual_queue import MarkerSettings
from netshaper.shaping import FRAME_BYTES, PortShape, packet_segments, port_shape
from traces.cluster import Cluster, Port, Sharing
from traces.cluster_checks import NODE_NAME
from traces.errors import BadInputError

RUN_ID_PATTERN = re.compile(r"[a-z0-9]{4,12}")
NAMESPACE_PREFIX = "roundelay"

MAX_JOBS = 63  # jobs are told apart by the six bits of the DSCP, and 0 is everybody else's

_MARKED_SERVER = ("net.ipv4.tcp_ecn=1",)

UNSHAPED_BELOW_BYTES = 64
"""IPv4 packets shorter than this pass beside the shaped classes."""

_UNSHAPED_RATE_BPS = 100_000_000_000

_EVERY_NODE = (
    "net.ipv6.conf.all.disable_ipv6=1",
    "net.ipv6.conf.default.disable_ipv6=1",
    # A variant's way back may be another than its way there; a host's strict filter is inherited.
    "net.ipv4.conf.all.rp_filter=0",
    "net.ipv4.conf.default.rp_filter=0",
)
_SWITCH = ("net.ipv4.ip_forward=1",)
# A compute phase is idle time to TCP: its window must survive it, as a real fabric's rate does.
_SERVER = ("net.ipv4.tcp_slow_start_after_idle=0", "net.ipv4.tcp_no_metrics_save=1")


@dataclass(frozen=True)
class Command:
    """One command: ``tool`` (ip, tc or sysctl) with ``words``, in a namespace or outside all."""

    tool: str
    words: tuple[str, ...]
    namespace: str | None = None

    @property
    def argv(self) -> tuple[str, ...]:
        """The whole command line."""
        if self.namespace is None:
            return (self.tool, *self.words)
        if self.tool == "sysctl":
            return ("ip", "netns", "exec", self.namespace, "sysctl", *self.words)
        return (self.tool, "-n", self.namespace, *self.words)

    def __str__(self) -> str:
        return " ".join(self.argv)


@dataclass(frozen=True)
class PlannedPort:
    """One end of a link: where it lives, its addresses, and what it is shaped to.

    marker: of a switch's port with an ECN threshold. It is no tc command: see netshaper.ecn.
    delay_s: of a port whose latency some event changes; its queues are netem's.
    """

    port: Port
    namespace: str
    device: str
    address: str
    mac: str
    shape: PortShape
    classes: PortClasses
    marker: MarkerSettings | None = None
    delay_s: float | None = None


@dataclass(frozen=True)
class NetworkPlan:
    """Everything that building one network takes, and what is then found where."""

    run_id: str
    namespaces: Mapping[str, str]  # node -> namespace
    addresses: Addresses
    ports: Mapping[Port, PlannedPort]
    job_dscp: Mapping[str, int]
    marking: Marking
    commands: tuple[Command, ...] = field(repr=False)


def namespace_name(run_id: str, network: str, node: str) -> str:
    """``roundelay-RUN-NETWORK-NODE``; the run id makes it ours."""
    if not RUN_ID_PATTERN.fullmatch(run_id):
        raise ValueError(f"{run_id!r} is not a run id: 4 to 12 lower-case letters and digits")
    for word in (network, node):
        if not NODE_NAME.fullmatch(word):
            raise ValueError(f"{word!r} cannot be part of a namespace's name")
    return f"{NAMESPACE_PREFIX}-{run_id}-{network}-{node}"


def plan_network(
    run_id: str,
    network: str,
    cluster: Cluster,
    jobs: Sequence[JobTraffic],
    rate_divisor: float,
    connections: int,
    ecn_threshold_bytes: int | None = None,
    marking: Marking = Marking.MARKER,
    delayed: Collection[Port] = (),
) -> NetworkPlan:
    """Plan ``cluster`` with every rate and buffer divided by ``rate_divisor``.

    network: a short name, unique in the run (two arms may stand side by side).
    connections: how many TCP connections the jobs will open in all; sizes the buffers.
    ecn_threshold_bytes: of every switch's port, as it is emulated; marking: by what.
    delayed: ports that are built for a latency, of zero at first; it takes a kernel with netem.
    Raises ValueError for names or counts that cannot be realised, and BadInputError, with a key of
    the scenario, for weights and buffers that cannot.
    """
    if len(jobs) > MAX_JOBS:
        raise ValueError(
            f"{len(jobs)} jobs on one network; the DSCP tells at most {MAX_JOBS} apart"
        )
    namespaces = {node: namespace_name(run_id, network, node) for node in cluster.nodes}
    addresses = Addresses.of(cluster, (job.path_variant for job in jobs))
    # A red queue counts packets where the marker counts segments.
    by_segment = ecn_threshold_bytes is not None and marking is Marking.RED
    slowest_bps = min((link.rate_bps for link in cluster.links), default=0.0) / rate_divisor
    segments = 1 if by_segment else packet_segments(slowest_bps)
    ports = _plan_ports(
        cluster, namespaces, jobs, rate_divisor, connections, segments, ecn_threshold_bytes, delayed
    )
    dscp = {job.id: index + 1 for index, job in enumerate(jobs)}
    commands = (
        *(Command("ip", ("netns", "add", namespaces[node])) for node in cluster.nodes),
        *_settings(cluster, namespaces, marks=ecn_threshold_bytes is not None),
        *_links(cluster, ports),
        *_nodes(cluster, namespaces, addresses, ports, dscp, marking),
    )
    return NetworkPlan(run_id, namespaces, addresses, ports, dscp, marking, commands)


def _plan_ports(
    cluster: Cluster,
    namespaces: Mapping[str, str],
    jobs: Sequence[JobTraffic],
    rate_divisor: float,
    connections: int,
    segments: int,
    ecn_threshold_bytes: int | None,
    delayed: Collection[Port],
) -> dict[Port, PlannedPort]:
    devices: dict[str, int] = defaultdict(int)
    addresses = port_addresses(cluster)
    classes_of: dict[tuple[Sharing, PortShape], PortClasses] = {}  # thousands of ports are alike
    ports = {}
    for index, port in enumerate(cluster.ports):
        shape = port_shape(cluster.rate_bps(port) / rate_divisor, connections, segments)
        own_buffer_bytes = cluster.link(port).buffer_bytes
        if own_buffer_bytes is not None:
            shape = replace(
                shape, buffer_bytes=_buffer(port, own_buffer_bytes, rate_divisor, shape)
            )
        kind = (cluster.sharing_at(port), shape)
        if kind not in classes_of:
            classes_of[kind] = port_classes(*kind, jobs)
        classes = classes_of[kind]
        marker = None
        if ecn_threshold_bytes is not None and port.node in cluster.switches:
            marker = marker_settings(shape, classes, ecn_threshold_bytes, UNSHAPED_BELOW_BYTES)
        ports[port] = PlannedPort(
            port=port,
            namespace=namespaces[port.node],
            device=f"eth{devices[port.node]}",
            address=addresses[port],
            mac="02:00:00:00:{:02x}:{:02x}".format(*divmod(index, 256)),
            shape=shape,
            classes=classes,
            marker=marker,
            delay_s=0.0 if port in delayed else None,
        )
        devices[port.node] += 1
    return ports


def _buffer(port: Port, own_bytes: int, rate_divisor: float, shape: PortShape) -> int:
    """A port's own buffer, scaled; it must hold all windows, for a lossless port never drops."""
    scaled_bytes = round(own_bytes / rate_divisor)
    if scaled_bytes < shape.buffer_bytes:
        raise BadInputError(
            f"the buffer of {port} is {scaled_bytes} bytes at this scale, and all windows together "
            f"may take {shape.buffer_bytes}: a lossless port would drop",
            allowed=f"a buffer of at least {math.ceil(shape.buffer_bytes * rate_divisor)} bytes, "
            "or none",
            key="cluster.topology",
        )
    return scaled_bytes


def _settings(cluster: Cluster, namespaces: Mapping[str, str], *, marks: bool) -> list[Command]:
    server = (*_SERVER, *_MARKED_SERVER) if marks else _SERVER
    return [
        Command(
            "sysctl",
            ("-q", "-w", *_EVERY_NODE, *(_SWITCH if node in cluster.switches else server)),
            namespaces[node],
        )
        for node in cluster.nodes
    ]


def _links(cluster: Cluster, ports: Mapping[Port, PlannedPort]) -> list[Command]:
    """Both ends are made inside their namespaces: nothing ever stands in the host's."""
    commands = []
    for link in cluster.links:
        a, b = (ports[port] for port in link.ports)
        words = ("link", "add", "name", a.device, "address", a.mac, "netns", a.namespace)
        peer = ("peer", "name", b.device, "address", b.mac, "netns", b.namespace)
        commands.append(Command("ip", (*words, "type", "veth", *peer)))
    return commands


def _nodes(
    cluster: Cluster,
    namespaces: Mapping[str, str],
    addresses: Addresses,
    ports: Mapping[Port, PlannedPort],
    dscp: Mapping[str, int],
    marking: Marking,
) -> list[Command]:
    """Everything inside the namespaces, one after the other.

    A port is shaped before it is up: the kernel then has no packet of it to wait for.
    """
    ends: dict[str, list[PlannedPort]] = defaultdict(list)
    for end in ports.values():
        ends[end.port.node].append(end)
    shaping_of: dict[Hashable, list[tuple[str, ...]]] = {}  # thousands of ports are alike
    commands = []
    for node in cluster.nodes:
        for end in ends[node]:
            kind = (end.device, end.shape, end.marker, end.delay_s, cluster.sharing_at(end.port))
            if kind not in shaping_of:
                shaping_of[kind] = _shape(end, dscp, marking)
            commands += [Command("tc", words, end.namespace) for words in shaping_of[kind]]
        commands += [
            Command("ip", words, namespaces[node])
            for words in (
                ("link", "set", "dev", "lo", "up"),
                *_own_addresses(node, cluster, addresses, ends[node], ports),
                *_routes(node, cluster, addresses, ports),
            )
        ]
    return commands


def _own_addresses(
    node: str,
    cluster: Cluster,
    addresses: Addresses,
    ends: Sequence[PlannedPort],
    ports: Mapping[Port, PlannedPort],
) -> list[tuple[str, ...]]:
    """A server's addresses on its loopback; each end's address, and its neighbour's."""
    words: list[tuple[str, ...]] = []
    if node in cluster.servers:
        for variant in addresses.variants:
            own = addresses.server(node, variant)
            words.append(("address", "add", f"{own}/32", "dev", "lo"))
    for end in ends:
        far_end = ports[Port(end.port.peer, end.port.node)]
        segments = end.shape.quantum_bytes // FRAME_BYTES
        words.append(("link", "set", "dev", end.device, "gso_max_segs", str(segments), "up"))
        words.append(("address", "add", f"{end.address}/31", "dev", end.device))
        # Permanent neighbours: no ARP in the counters, no pause when an entry ages.
        neighbour = ("lladdr", far_end.mac, "nud", "permanent")
        words.append(("neighbour", "add", far_end.address, *neighbour, "dev", end.device))
    return words


def _routes(
    node: str, cluster: Cluster, addresses: Addresses, ports: Mapping[Port, PlannedPort]
) -> list[tuple[str, ...]]:
    """Routes to all other servers; a server's own packets carry its address of the variant."""
    is_server = node in cluster.servers
    via = {
        peer: ("via", ports[Port(peer, node)].address, "dev", ports[Port(node, peer)].device)
        for peer in cluster.graph.neighbors(node)
    }
    words = []
    for variant, prefix, neighbour in addresses.routes(node):
        source = ("src", addresses.server(node, variant)) if is_server else ()
        words.append(("route", "add", prefix, *via[neighbour], *source))
    return words


def _shape(end: PlannedPort, dscp: Mapping[str, int], marking: Marking) -> list[tuple[str, ...]]:
    """HTB with explicit bucket and quantum, a leaf limited in bytes, and a class per job.

    Pure acknowledgements pass beside the shaped classes: a RoCE fabric has next to none, and TCP's
    would take two per cent of the reverse direction from the data that are measured.
    """
    shape, classes = end.shape, end.classes
    commands: list[tuple[str, ...]] = []

    def tc(*words: str) -> None:
        commands.append(words)

    default = SHARED_CLASS if classes.are_shared else UNCLASSIFIED_CLASS
    root = ("root", "handle", "1:", "htb", "default", f"{default:x}")
    tc("qdisc", "add", "dev", end.device, *root)
    tc(*root_class_words("add", end.device, shape))
    queue = _queue_words(end, marking)
    for leaf in all_leaves(shape, classes):
        tc(*leaf_class_words("add", end.device, shape, leaf))
        tc("qdisc", "add", "dev", end.device, "parent", f"1:{leaf.minor:x}", *queue)

    unshaped = ("parent", "1:", "classid", f"1:{ACKNOWLEDGEMENT_CLASS:x}", "htb")
    beside = ("rate", f"{_UNSHAPED_RATE_BPS}bit", "burst", "65536", "cburst", "65536")
    tc("class", "add", "dev", end.device, *unshaped, *beside, "quantum", str(shape.quantum_bytes))
    to_acknowledgements = ("flowid", f"1:{ACKNOWLEDGEMENT_CLASS:x}")
    # An IPv4 packet shorter than 64 bytes: headers and timestamps, no data to speak of.
    short = ("u32", "match", "u16", "0x0000", "0xffc0", "at", "2", *to_acknowledgements)
    tc("filter", "add", "dev", end.device, "parent", "1:", "protocol", "ip", "prio", "1", *short)
    if not classes.are_shared:
        for job, minor in classes.of_job.items():
            codepoint = ("u32", "match", "ip", "dsfield", f"0x{dscp[job] << 2:02x}", "0xfc")
            to_job = ("parent", "1:", "protocol", "ip", "prio", "2", *codepoint)
            tc("filter", "add", "dev", end.device, *to_job, "flowid", f"1:{minor:x}")
    return commands


def _queue_words(end: PlannedPort, marking: Marking) -> tuple[str, ...]:
    shape = end.shape
    if end.delay_s is not None:
        return netem_words(end.delay_s, shape.buffer_bytes)
    if end.marker is not None and marking is Marking.RED:
        return red_queue_words(shape, end.marker.threshold_bytes)
    return ("bfifo", "limit", str(shape.buffer_bytes))
