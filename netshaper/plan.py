"""From a cluster to the exact ip, tc and sysctl commands that build it. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from netshaper.shaping import PortShape, port_shape
from traces.cluster import Cluster, Port, Sharing
from traces.cluster_checks import NODE_NAME
from traces.errors import BadInputError

RUN_ID_PATTERN = re.compile(r"[a-z0-9]{4,12}")
NAMESPACE_PREFIX = "roundelay"

ROOT_CLASS = 0x1
UNCLASSIFIED_CLASS = 0x2
ACKNOWLEDGEMENT_CLASS = 0x3
SHARED_CLASS = 0x4
FIRST_JOB_CLASS = 0x10
SHARINGS = (Sharing.FAIR, Sharing.FIFO)
"""The disciplines that a port can be shaped to."""

MAX_JOBS = 63  # jobs are told apart by the six bits of the DSCP, and 0 is everybody else's

_LINK_NETWORK = ipaddress.ip_network("10.0.0.0/16")
_SERVER_NETWORK = ipaddress.ip_network("10.1.0.0/16")
_UNSHAPED_RATE_BPS = 100_000_000_000

_EVERY_NODE = (
    "net.ipv6.conf.all.disable_ipv6=1",
    "net.ipv6.conf.default.disable_ipv6=1",
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
    """One end of a link: where it lives, its addresses, and what it is shaped to."""

    port: Port
    namespace: str
    device: str
    address: str
    mac: str
    shape: PortShape


@dataclass(frozen=True)
class NetworkPlan:
    """Everything that building one network takes, and what is then found where."""

    run_id: str
    namespaces: Mapping[str, str]  # node -> namespace
    server_addresses: Mapping[str, str]
    ports: Mapping[Port, PlannedPort]
    job_classes: Mapping[str, int]  # job -> class minor number; all the same under FIFO
    job_dscp: Mapping[str, int]
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
    jobs: Sequence[str],
    rate_divisor: float,
    connections: int,
) -> NetworkPlan:
    """Plan ``cluster`` with every rate divided by ``rate_divisor``.

    network: a short name, unique in the run (two arms may stand side by side).
    connections: how many TCP connections the jobs will open in all; sizes the buffers.
    Raises ValueError for names or counts that cannot be realised, and BadInputError, with a key of
    the scenario, for disciplines and buffers that cannot be shaped yet.
    """
    if len(jobs) > MAX_JOBS:
        raise ValueError(
            f"{len(jobs)} jobs on one network; the DSCP tells at most {MAX_JOBS} apart"
        )
    namespaces = {node: namespace_name(run_id, network, node) for node in cluster.nodes}
    addresses = {
        server: str(_SERVER_NETWORK[index + 1]) for index, server in enumerate(cluster.servers)
    }
    ports = _plan_ports(cluster, namespaces, rate_divisor, connections)
    fifo = cluster.common_sharing(SHARINGS) is Sharing.FIFO
    for link in cluster.links:
        if link.buffer_bytes is not None:
            raise BadInputError(
                f"the link {link.a!r} to {link.b!r} has a buffer of its own: not possible yet",
                allowed="a topology without the attribute 'buffer'",
                key="cluster.topology",
            )
    classes = {
        job: SHARED_CLASS if fifo else FIRST_JOB_CLASS + index for index, job in enumerate(jobs)
    }
    dscp = {job: index + 1 for index, job in enumerate(jobs)}
    commands = (
        *(Command("ip", ("netns", "add", namespaces[node])) for node in cluster.nodes),
        *_settings(cluster, namespaces),
        *_links(cluster, ports),
        *_addresses_and_routes(cluster, namespaces, addresses, ports),
        *(command for port in ports.values() for command in _shape(port, classes, dscp)),
    )
    return NetworkPlan(run_id, namespaces, addresses, ports, classes, dscp, commands)


def _plan_ports(
    cluster: Cluster, namespaces: Mapping[str, str], rate_divisor: float, connections: int
) -> dict[Port, PlannedPort]:
    devices: dict[str, int] = defaultdict(int)
    ports = {}
    for index, port in enumerate(cluster.ports):
        ports[port] = PlannedPort(
            port=port,
            namespace=namespaces[port.node],
            device=f"eth{devices[port.node]}",
            address=str(_LINK_NETWORK[index]),
            mac="02:00:00:00:{:02x}:{:02x}".format(*divmod(index, 256)),
            shape=port_shape(cluster.rate_bps(port) / rate_divisor, connections),
        )
        devices[port.node] += 1
    return ports


def _settings(cluster: Cluster, namespaces: Mapping[str, str]) -> list[Command]:
    return [
        Command(
            "sysctl",
            ("-q", "-w", *_EVERY_NODE, *(_SWITCH if node in cluster.switches else _SERVER)),
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


def _addresses_and_routes(
    cluster: Cluster,
    namespaces: Mapping[str, str],
    addresses: Mapping[str, str],
    ports: Mapping[Port, PlannedPort],
) -> list[Command]:
    return [
        Command("ip", words, namespaces[node])
        for node in cluster.nodes
        for words in (
            ("link", "set", "dev", "lo", "up"),
            *_own_addresses(node, addresses, ports),
            *_routes(cluster, node, addresses, ports),
        )
    ]


def _own_addresses(
    node: str, addresses: Mapping[str, str], ports: Mapping[Port, PlannedPort]
) -> list[tuple[str, ...]]:
    """A server's address on its loopback; each end's address, and its neighbour's."""
    words: list[tuple[str, ...]] = []
    if node in addresses:
        words.append(("address", "add", f"{addresses[node]}/32", "dev", "lo"))
    for port, end in ports.items():
        if port.node != node:
            continue
        far_end = ports[Port(port.peer, port.node)]
        # One segment a packet: a queue then holds and counts what a wire would carry.
        words.append(("link", "set", "dev", end.device, "gso_max_segs", "1", "up"))
        words.append(("address", "add", f"{end.address}/31", "dev", end.device))
        # Permanent neighbours: no ARP in the counters, no pause when an entry ages.
        neighbour = ("lladdr", far_end.mac, "nud", "permanent")
        words.append(("neighbour", "add", far_end.address, *neighbour, "dev", end.device))
    return words


def _routes(
    cluster: Cluster, node: str, addresses: Mapping[str, str], ports: Mapping[Port, PlannedPort]
) -> list[tuple[str, ...]]:
    """A route to every other server; a server's own packets carry its loopback address."""
    source = ("src", addresses[node]) if node in addresses else ()
    words = []
    for server, address in addresses.items():
        if server != node:
            out = Port(node, cluster.next_hop(node, server))
            gateway = ports[Port(out.peer, node)].address
            via = ("via", gateway, "dev", ports[out].device)
            words.append(("route", "add", f"{address}/32", *via, *source))
    return words


def _shape(end: PlannedPort, classes: Mapping[str, int], dscp: Mapping[str, int]) -> list[Command]:
    """HTB with explicit bucket and quantum, a leaf limited in bytes, and a class per job.

    Pure acknowledgements pass beside the shaped classes: a RoCE fabric has next to none, and TCP's
    would take two per cent of the reverse direction from the data that are measured.
    """
    shape = end.shape
    commands = []
    ceil = ("ceil", f"{shape.rate_bps}bit", "burst", str(shape.burst_bytes))
    quantum = str(shape.quantum_bytes)
    bucket = (*ceil, "cburst", str(shape.burst_bytes), "quantum", quantum)

    def tc(*words: str) -> None:
        commands.append(Command("tc", words, end.namespace))

    def leaf(minor: int, rate_bps: int) -> None:
        class_id = f"1:{minor:x}"
        of_root = ("parent", f"1:{ROOT_CLASS:x}", "classid", class_id)
        tc("class", "add", "dev", end.device, *of_root, "htb", "rate", f"{rate_bps}bit", *bucket)
        limit = ("bfifo", "limit", str(shape.buffer_bytes))
        tc("qdisc", "add", "dev", end.device, "parent", class_id, *limit)

    shared = SHARED_CLASS in classes.values()
    default = SHARED_CLASS if shared else UNCLASSIFIED_CLASS
    root = ("root", "handle", "1:", "htb", "default", f"{default:x}")
    tc("qdisc", "add", "dev", end.device, *root)
    root_class = ("parent", "1:", "classid", f"1:{ROOT_CLASS:x}", "htb")
    tc("class", "add", "dev", end.device, *root_class, "rate", f"{shape.rate_bps}bit", *bucket)
    leaf_classes = sorted(set(classes.values()))
    for minor in leaf_classes:
        leaf(minor, max(shape.rate_bps // len(leaf_classes), 8))
    if not shared:
        leaf(UNCLASSIFIED_CLASS, max(shape.rate_bps // 1000, 8))

    unshaped = ("parent", "1:", "classid", f"1:{ACKNOWLEDGEMENT_CLASS:x}", "htb")
    beside = ("rate", f"{_UNSHAPED_RATE_BPS}bit", "burst", "65536", "cburst", "65536")
    tc("class", "add", "dev", end.device, *unshaped, *beside, "quantum", quantum)
    to_acknowledgements = ("flowid", f"1:{ACKNOWLEDGEMENT_CLASS:x}")
    # An IPv4 packet shorter than 64 bytes: headers and timestamps, no data to speak of.
    short = ("u32", "match", "u16", "0x0000", "0xffc0", "at", "2", *to_acknowledgements)
    tc("filter", "add", "dev", end.device, "parent", "1:", "protocol", "ip", "prio", "1", *short)
    if not shared:
        for job, minor in classes.items():
            codepoint = ("u32", "match", "ip", "dsfield", f"0x{dscp[job] << 2:02x}", "0xfc")
            to_job = ("parent", "1:", "protocol", "ip", "prio", "2", *codepoint)
            tc("filter", "add", "dev", end.device, *to_job, "flowid", f"1:{minor:x}")
    return commands
