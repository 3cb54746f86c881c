"""The network of a cluster that is scheduled round by round. Pure.

Every server has one link into the fabric and one to storage. A storage switch joins the latter to
the storage server, whose own link is as fast as all of them together and so never the bottleneck.
"""

from __future__ import annotations

from dataclasses import dataclass

from netshaper.disciplines import JobTraffic
from netshaper.plan import NetworkPlan, plan_network
from netshaper.shaping import window_bytes
from traces.cluster import Cluster, Link, Port, Sharing

FABRIC = "fabric"
STORAGE_SWITCH = "storage-switch"
STORAGE = "storage"
NETWORK = "n0"


@dataclass(frozen=True)
class ClusterNetwork:
    """The network as a plan. slots: of each server; a job holds one, and its traffic that class."""

    cluster: Cluster
    plan: NetworkPlan
    slots: int

    @property
    def storage_window_bytes(self) -> int:
        """Receive window of every connection to storage: all servers' links are alike."""
        return window_bytes(self.plan.ports[self.storage_port(0)].shape.rate_bps)

    def storage_port(self, server: int) -> Port:
        """The port through which data reach ``server``."""
        return Port(STORAGE_SWITCH, server_name(server))


def server_name(server: int) -> str:
    """The node of an emulated server."""
    return f"server{server}"


def slot_name(slot: int) -> str:
    """What the network calls the traffic of the job that holds a slot."""
    return f"slot{slot}"


def plan_cluster_network(
    run_id: str,
    num_servers: int,
    slots: int,
    storage_bps: float,
    fabric_bps: float,
    rate_divisor: float,
) -> ClusterNetwork:
    """The network of servers that have ``slots`` jobs each at most at a time; unscaled rates."""
    servers = [server_name(server) for server in range(num_servers)]
    links = [
        *(Link(server, FABRIC, fabric_bps) for server in servers),
        *(Link(server, STORAGE_SWITCH, storage_bps) for server in servers),
        Link(STORAGE, STORAGE_SWITCH, storage_bps * num_servers),
        # A network is one piece. No shortest path between servers or to storage leads over it.
        Link(FABRIC, STORAGE_SWITCH, fabric_bps),
    ]
    cluster = Cluster(
        servers=(*servers, STORAGE),
        switches=(FABRIC, STORAGE_SWITCH),
        links=tuple(links),
        sharing=Sharing.FAIR,
    )
    traffic = [JobTraffic(slot_name(slot)) for slot in range(slots)]
    plan = plan_network(
        run_id, NETWORK, cluster, traffic, rate_divisor, connections=num_servers * slots
    )
    return ClusterNetwork(cluster, plan, slots)
