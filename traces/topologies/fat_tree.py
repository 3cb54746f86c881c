"""The fat-tree of k-port switches (Al-Fares, Loukissas, Vahdat, SIGCOMM'08, section 2.2).

k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 core switches, and k/2 servers behind each
edge switch: k^3/4 servers, 5 k^2/4 switches and 3 k^3/4 links, all of one rate, so that no tier
is oversubscribed. Between two pods there are (k/2)^2 shortest paths, one through each core switch.
"""

from __future__ import annotations

from pydantic import Field

from traces.cluster import Cluster, Fabric, Link, Sharing
from traces.errors import BadInputError
from traces.topologies.preset import Preset


def fat_tree(
    k: int,
    rate_bps: float,
    sharing: Sharing = Sharing.FAIR,
    fabric: Fabric = Fabric.LOSSLESS,
) -> Cluster:
    """``server0..``, ``edge0-0..`` and ``aggregation0-0..`` (pod, place in it), ``core0..``.

    Server i is in pod i // (k^2/4). Raises BadInputError, key ``k``, where k is odd or below 2.
    """
    if k < 2 or k % 2:
        raise BadInputError(f"{k} ports a switch", allowed="an even number from 2", key="k")
    half = k // 2
    servers = tuple(f"server{index}" for index in range(k * half * half))
    edges = tuple(f"edge{pod}-{place}" for pod in range(k) for place in range(half))
    aggregations = tuple(f"aggregation{pod}-{place}" for pod in range(k) for place in range(half))
    cores = tuple(f"core{index}" for index in range(half * half))
    links = (
        *(Link(server, edges[index // half], rate_bps) for index, server in enumerate(servers)),
        *(
            Link(f"edge{pod}-{low}", f"aggregation{pod}-{high}", rate_bps)
            for pod in range(k)
            for low in range(half)
            for high in range(half)
        ),
        # An aggregation switch has k/2 cores of its own place, the same in every pod.
        *(
            Link(f"aggregation{pod}-{place}", cores[place * half + port], rate_bps)
            for pod in range(k)
            for place in range(half)
            for port in range(half)
        ),
    )
    return Cluster(servers, (*edges, *aggregations, *cores), links, sharing, fabric)


class FatTree(Preset):
    """Parameters of :func:`fat_tree`. 16 ports a switch make 1,024 servers."""

    k: int = Field(default=4, ge=2, le=16, multiple_of=2, description="ports of a switch, even")

    def build(self) -> Cluster:
        """The topology."""
        return fat_tree(self.k, self.rate, self.sharing, self.fabric)
