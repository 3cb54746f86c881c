"""Following the planned routes, by longest prefix, leads along the cluster's paths."""

from __future__ import annotations

import ipaddress
import itertools
import time

import pytest

from netshaper.addresses import Addresses, port_addresses
from netshaper.disciplines import JobTraffic
from netshaper.plan import plan_network
from traces.cluster import Cluster, Link, Port, dumbbell
from traces.topologies.cassini_24 import cassini_24
from traces.topologies.fat_tree import fat_tree
from traces.topologies.leaf_spine import leaf_spine

GBIT = 1e9
Routes = dict[str, list[tuple[ipaddress.IPv4Network, str]]]


def multi_homed() -> Cluster:
    """Two servers at both switches, and one at either."""
    servers, switches = ("a", "b", "c", "d"), ("s", "t")
    homes = (("a", "s"), ("a", "t"), ("b", "s"), ("b", "t"), ("c", "s"), ("d", "t"), ("s", "t"))
    return Cluster(servers, switches, tuple(Link(*ends, GBIT) for ends in homes))


CLUSTERS = {
    "dumbbell": dumbbell(3, 2, GBIT),
    "direct": Cluster(("a", "b"), (), (Link("a", "b", GBIT),)),
    "leaf-spine": leaf_spine(12, 3, 4, GBIT),
    "fat-tree": fat_tree(4, GBIT),
    "cassini-24": cassini_24(),
    "multi-homed": multi_homed(),
}


def planned_routes(cluster: Cluster, variants: range) -> tuple[Routes, Addresses]:
    """What each node's route commands say: prefix and neighbour, by the gateway's address."""
    jobs = [JobTraffic(f"job{variant}", path_variant=variant) for variant in variants]
    plan = plan_network("run1", "n0", cluster, jobs, 10.0, 4)
    owner = {end.address: end.port.node for end in plan.ports.values()}
    node_of = {namespace: node for node, namespace in plan.namespaces.items()}
    routes: Routes = {node: [] for node in cluster.nodes}
    for command in plan.commands:
        if command.words[:2] == ("route", "add") and command.namespace is not None:
            prefix, gateway = command.words[2], command.words[4]
            node = node_of[command.namespace]
            routes[node].append((ipaddress.IPv4Network(prefix), owner[gateway]))
    return routes, plan.addresses


def follow(routes: Routes, source: str, destination: str, address: str) -> tuple[Port, ...]:
    path: list[Port] = []
    node, target = source, ipaddress.IPv4Address(address)
    while node != destination:
        fitting = [(prefix, peer) for prefix, peer in routes[node] if target in prefix]
        _, peer = max(fitting, key=lambda route: route[0].prefixlen)
        path.append(Port(node, peer))
        assert len(path) <= 10, path
        node = peer
    return tuple(path)


@pytest.mark.parametrize("name", CLUSTERS)
def test_the_routes_of_every_variant_lead_along_its_paths(name: str) -> None:
    cluster = CLUSTERS[name]
    pairs = list(itertools.permutations(cluster.servers, 2))
    variants = range(max(cluster.num_variants(*pair) for pair in pairs))
    routes, addresses = planned_routes(cluster, variants)
    for variant, pair in itertools.product(variants, pairs):
        target = addresses.server(pair[1], variant)
        assert follow(routes, *pair, target) == cluster.path(*pair, variant)


@pytest.mark.parametrize("name", CLUSTERS)
def test_no_two_servers_or_variants_share_an_address(name: str) -> None:
    cluster = CLUSTERS[name]
    addresses = Addresses.of(cluster, (3, 1, 3))
    assert addresses.variants == (0, 1, 3)
    found = [
        addresses.server(server, variant)
        for server in cluster.servers
        for variant in addresses.variants
    ]
    assert len({*found, *port_addresses(cluster).values()}) == len(found) + len(cluster.ports)


def test_the_two_ends_of_a_link_share_a_network_of_two() -> None:
    cluster = CLUSTERS["leaf-spine"]
    found = port_addresses(cluster)
    for link in cluster.links:
        network = ipaddress.ip_network(f"{found[link.ports[0]]}/31")
        assert [found[port] for port in link.ports] == [str(host) for host in network]


def test_a_variant_that_no_job_uses_has_no_addresses() -> None:
    with pytest.raises(KeyError):
        Addresses.of(CLUSTERS["leaf-spine"], (1,)).server("server0", 2)


def test_neighbouring_servers_behind_one_port_are_few_routes() -> None:
    """24 servers behind each leaf: prefixes of 16 and 8; and one of each for every other leaf."""
    cluster = leaf_spine(96, 4, 2, GBIT)
    addresses = Addresses.of(cluster, ())
    assert len(list(addresses.routes("spine0"))) == 4 * 2
    assert len(list(addresses.routes("leaf0"))) <= 24 + 4
    assert len(list(addresses.routes("server5"))) == 1


def test_a_thousand_servers_are_planned_in_seconds_with_few_routes_a_switch() -> None:
    cluster = fat_tree(16, GBIT)
    jobs = [JobTraffic(f"job{n}") for n in range(16)]
    begun_s = time.process_time()
    plan = plan_network("run1", "n0", cluster, jobs, 10.0, 64)
    print(f"{len(plan.commands)} commands in {time.process_time() - begun_s:.2f} s of CPU time")
    for switch in cluster.switches:
        assert len(list(plan.addresses.routes(switch))) <= 2 * 16


@pytest.mark.parametrize(("servers", "links"), [(2**16 + 1, 0), (2, 2**15 + 1)])
def test_more_than_there_are_addresses_for_is_refused(servers: int, links: int) -> None:
    class Large:
        def __init__(self) -> None:
            self.servers, self.links = range(servers), range(links)

    with pytest.raises(ValueError, match="more than 65536 servers or 32768 links"):
        Addresses.of(Large(), ())  # type: ignore[arg-type]
