"""Servers behind one switch that never limits them: contention is at the servers' links alone."""

from __future__ import annotations

from pydantic import Field

from traces.cluster import Cluster, Fabric, Link, Sharing
from traces.topologies.preset import Preset


def single_switch(
    servers: int,
    rate_bps: float,
    sharing: Sharing = Sharing.FAIR,
    fabric: Fabric = Fabric.LOSSLESS,
) -> Cluster:
    """``server0..``, each with one link to ``switch``."""
    names = tuple(f"server{index}" for index in range(servers))
    links = tuple(Link(server, "switch", rate_bps) for server in names)
    return Cluster(names, ("switch",), links, sharing, fabric)


class SingleSwitch(Preset):
    """Parameters of :func:`single_switch`."""

    servers: int = Field(default=2, ge=1, le=1024)

    def build(self) -> Cluster:
        """The topology."""
        return single_switch(self.servers, self.rate, self.sharing, self.fabric)
