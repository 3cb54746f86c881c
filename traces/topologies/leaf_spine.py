"""Two tiers: servers behind leaves, and every leaf joined to every spine (a folded Clos)."""

from __future__ import annotations

from pydantic import Field

from traces.cluster import Cluster, Fabric, Link, Sharing
from traces.errors import BadInputError
from traces.topologies.preset import Preset


def leaf_spine(
    servers: int,
    leaves: int,
    spines: int,
    rate_bps: float,
    oversubscription: float = 1.0,
    sharing: Sharing = Sharing.FAIR,
    fabric: Fabric = Fabric.LOSSLESS,
) -> Cluster:
    """``server0..`` behind ``leaf0..``, as many behind each, and ``spine0..`` above.

    oversubscription: rate of a leaf's servers over the rate of its uplinks, all together. It sets
    the rate of each uplink: servers per leaf x ``rate_bps`` / (spines x ``oversubscription``).
    Between two leaves variant i goes through spine i. Raises BadInputError, key ``servers``, where
    they cannot be divided evenly.
    """
    if servers % leaves:
        raise BadInputError(
            f"{servers} servers cannot be divided evenly among {leaves} leaves",
            allowed=f"a multiple of {leaves}",
            key="servers",
        )
    per_leaf = servers // leaves
    uplink_bps = per_leaf * rate_bps / (spines * oversubscription)
    server_names = tuple(f"server{index}" for index in range(servers))
    leaf_names = tuple(f"leaf{index}" for index in range(leaves))
    spine_names = tuple(f"spine{index}" for index in range(spines))
    links = (
        *(
            Link(server, leaf_names[index // per_leaf], rate_bps)
            for index, server in enumerate(server_names)
        ),
        *(Link(leaf, spine, uplink_bps) for leaf in leaf_names for spine in spine_names),
    )
    return Cluster(server_names, (*leaf_names, *spine_names), links, sharing, fabric)


class LeafSpine(Preset):
    """Parameters of :func:`leaf_spine`."""

    servers: int = Field(default=4, ge=1, le=1024, description="in all, a multiple of the leaves")
    leaves: int = Field(default=2, ge=1, le=256)
    spines: int = Field(default=2, ge=1, le=64)
    oversubscription: float = Field(default=1.0, ge=0.001, le=1000, allow_inf_nan=False)

    def build(self) -> Cluster:
        """The topology. Raises BadInputError as :func:`leaf_spine`."""
        return leaf_spine(
            self.servers,
            self.leaves,
            self.spines,
            self.rate,
            self.oversubscription,
            self.sharing,
            self.fabric,
        )
