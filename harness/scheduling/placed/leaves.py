"""Which servers stand behind the same switches, and when two placements are the same there. Pure.

A leaf is what the links of its servers go to, one switch as a rule. Behind a leaf the paths of all
servers to anywhere else are alike, so that it does not matter which of them a job has, only which
jobs it has beside it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from harness.scheduling.placed.policy import Placement
from traces.cluster import Cluster

Leaf = tuple[str, ...]
"""The servers behind one leaf."""


@dataclass(frozen=True)
class Leaves:
    """The servers of a cluster by leaf.

    leaves: in the order of their first servers; servers in the order of the cluster. kinds: of each
    server a number that it shares with those of its leaf whose links are like its own.
    """

    leaves: tuple[Leaf, ...]
    kinds: Mapping[str, int]

    def by_rank(self, workers: Mapping[str, int]) -> tuple[str, ...]:
        """The server of each rank of a job with so many ``workers`` on each server.

        Those of one leaf, and in it those of one server, follow each other: a ring over the ranks
        enters and leaves every leaf once. Behind a leaf the server with most workers comes first.
        """
        return tuple(
            server
            for leaf in self.leaves
            for server in sorted(
                (server for server in leaf if server in workers),
                key=lambda server: -workers[server],
            )
            for _ in range(workers[server])
        )

    def link_form(self, placement: Placement) -> Hashable:
        """Equal for two placements of the same jobs that put the same flows on alike links.

        That is, where one becomes the other if servers of one kind change places: each is named by
        its kind and by when it first appears among those of that kind. It holds for rings and for
        any other traffic between ranks.
        """
        met: dict[int, dict[str, int]] = defaultdict(dict)
        form = []
        for job in sorted(placement):
            named = []
            for server in placement[job]:
                same_kind = met[self.kinds[server]]
                named.append((self.kinds[server], same_kind.setdefault(server, len(same_kind))))
            form.append((job, tuple(named)))
        return tuple(form)

    def company(self, placement: Placement) -> Hashable:
        """Equal for two placements in which the same jobs, with as many workers, meet behind a leaf
        and on its servers, whichever leaf that is."""
        on: dict[str, list[str]] = defaultdict(list)
        for job in sorted(placement):
            for server in placement[job]:
                on[server].append(job)
        behind = (sorted(on[server] for server in leaf if server in on) for leaf in self.leaves)
        return tuple(sorted(tuple(map(tuple, servers)) for servers in behind))


def leaves_of(cluster: Cluster) -> Leaves:
    """The leaves of ``cluster``: a single one where all servers are at one switch."""
    ends: dict[str, list[tuple[str, Hashable]]] = {server: [] for server in cluster.servers}
    for link in cluster.links:
        for node, peer in ((link.a, link.b), (link.b, link.a)):
            if node in ends:
                ends[node].append((peer, (link.rate_bps, link.sharing, link.buffer_bytes)))
    leaves = _alike({server: frozenset(peer for peer, _ in ends[server]) for server in ends})
    kinds = _alike({server: frozenset(ends[server]) for server in ends})
    return Leaves(
        tuple(leaves),
        {server: number for number, kind in enumerate(kinds) for server in kind},
    )


def _alike(traits: Mapping[str, Hashable]) -> list[Leaf]:
    """Servers with the same trait, in the order of ``traits``."""
    found: dict[Hashable, list[str]] = defaultdict(list)
    for server, trait in traits.items():
        found[trait].append(server)
    return [tuple(servers) for servers in found.values()]
