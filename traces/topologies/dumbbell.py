"""Two groups of servers and one link between them: the smallest network with a shared link."""

from __future__ import annotations

from pydantic import Field

from traces.cluster import Cluster, Fabric, Link, Sharing
from traces.quantities import RateBps
from traces.topologies.preset import Preset


def dumbbell(
    servers_left: int,
    servers_right: int,
    rate_bps: float,
    middle_rate_bps: float | None = None,
    sharing: Sharing = Sharing.FAIR,
    fabric: Fabric = Fabric.LOSSLESS,
) -> Cluster:
    """``left0..`` and ``right0..`` behind one switch each; one link joins the switches.

    middle_rate_bps: rate of that link; None for that of the others.
    """
    left = tuple(f"left{index}" for index in range(servers_left))
    right = tuple(f"right{index}" for index in range(servers_right))
    middle_bps = rate_bps if middle_rate_bps is None else middle_rate_bps
    links = (
        *(Link(server, "switch-left", rate_bps) for server in left),
        Link("switch-left", "switch-right", middle_bps),
        *(Link("switch-right", server, rate_bps) for server in right),
    )
    return Cluster((*left, *right), ("switch-left", "switch-right"), links, sharing, fabric)


class Dumbbell(Preset):
    """Parameters of :func:`dumbbell`."""

    servers_left: int = Field(default=2, ge=1, le=64)
    servers_right: int = Field(default=2, ge=1, le=64)
    middle_rate: RateBps | None = Field(default=None, description="rate of the middle link")

    def build(self) -> Cluster:
        """The topology."""
        return dumbbell(
            self.servers_left,
            self.servers_right,
            self.rate,
            self.middle_rate,
            self.sharing,
            self.fabric,
        )
