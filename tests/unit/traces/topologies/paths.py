"""All shortest paths of a pair, as NetworkX finds them, beside the numbered ones."""

from __future__ import annotations

import networkx as nx

from traces.cluster import Cluster


def all_and_numbered(
    cluster: Cluster, source: str, destination: str
) -> tuple[list[list[str]], list[list[str]]]:
    """(all shortest paths, sorted; the paths of the variants, in their order), as nodes."""
    everyone = sorted(nx.all_shortest_paths(cluster.graph, source, destination))
    numbered = [
        [source, *(port.peer for port in path)]
        for path in cluster.path_variants(source, destination)
    ]
    return everyone, numbered
