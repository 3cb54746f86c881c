"""The testbed of CASSINI (NSDI'24, evaluation), as we read its counts.

The paper has 24 servers with one 50 Gbit/s interface each, and a Tofino switch that acts as 13
logical switches with 48 bidirectional links, 2:1 oversubscribed. It gives the counts; how they are
wired is our reading. All of them fit three tiers of 50 Gbit/s links, no two of them parallel:

- 6 leaves with 4 servers and 2 uplinks each: 24 links to servers, and 4:2 at every leaf;
- 4 aggregation switches in two pods: the leaves 0 to 2 have uplinks to both of the first pod, the
  leaves 3 to 5 to both of the second: 12 links;
- 3 cores, each joined to all 4 aggregation switches: 12 links, so that an aggregation switch has
  3 links down and 3 up, and only the leaves are oversubscribed.

6 + 4 + 3 = 13 switches, 24 + 12 + 12 = 48 links. A flatter reading, 12 leaves with 2 servers and
one uplink each to one spine, has the 13 switches and the 2:1 with 36 links only: the preset
``leaf-spine`` with servers 24, leaves 12, spines 1, oversubscription 2.
"""

from __future__ import annotations

from pydantic import Field

from traces.cluster import Cluster, Fabric, Link, Sharing
from traces.quantities import RateBps
from traces.topologies.preset import Preset

RATE_BPS = 50e9
"""Rate of every link: the paper's interfaces."""

_LEAVES = 6
_SERVERS_A_LEAF = 4
_LEAVES_A_POD = 3
_AGGREGATIONS = 4
_AGGREGATIONS_A_POD = 2
_CORES = 3


def cassini_24(
    rate_bps: float = RATE_BPS,
    sharing: Sharing = Sharing.FAIR,
    fabric: Fabric = Fabric.LOSSLESS,
) -> Cluster:
    """``server0..23``, ``leaf0..5``, ``aggregation0..3``, ``core0..2``; server i at leaf i // 4."""
    leaves = tuple(f"leaf{index}" for index in range(_LEAVES))
    servers = tuple(f"server{index}" for index in range(_LEAVES * _SERVERS_A_LEAF))
    aggregations = tuple(f"aggregation{index}" for index in range(_AGGREGATIONS))
    cores = tuple(f"core{index}" for index in range(_CORES))
    links = (
        *(
            Link(server, leaves[index // _SERVERS_A_LEAF], rate_bps)
            for index, server in enumerate(servers)
        ),
        *(
            Link(leaf, aggregation, rate_bps)
            for index, leaf in enumerate(leaves)
            for place, aggregation in enumerate(aggregations)
            if index // _LEAVES_A_POD == place // _AGGREGATIONS_A_POD
        ),
        *(Link(aggregation, core, rate_bps) for aggregation in aggregations for core in cores),
    )
    return Cluster(servers, (*leaves, *aggregations, *cores), links, sharing, fabric)


class Cassini24(Preset):
    """Parameters of :func:`cassini_24`."""

    rate: RateBps = Field(default=RATE_BPS, description="rate of every link")

    def build(self) -> Cluster:
        """The topology."""
        return cassini_24(self.rate, self.sharing, self.fabric)
