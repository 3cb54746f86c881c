"""Packings in plain Python, GPU by GPU, written from their descriptions; slow and independent.

All resources are whole numbers, so that no rounding can hide a difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.unit.harness.scheduling.packing.packing_cases import Job, Place, Servers

Share = tuple[float, ...]


@dataclass
class PlainServer:
    """What is left of a server, and the jobs on it, in the order in which they came."""

    gpus: int
    left: list[float]
    jobs: list[int] = field(default_factory=list)

    def has(self, gpus: int, share: Share) -> bool:
        wanted = [(gpus * each, left) for each, left in zip(share, self.left, strict=True) if each]
        return gpus <= self.gpus and all(want <= left for want, left in wanted)

    def take(self, gpus: int, share: Share) -> None:
        self.gpus -= gpus
        self.left = [left - gpus * each for left, each in zip(self.left, share, strict=True)]


def empty_servers(servers: Servers) -> list[PlainServer]:
    return [PlainServer(servers.gpus, servers.size.tolist()) for _ in range(servers.count)]


def gpu_by_gpu(cluster: Sequence[PlainServer], gpus: int, share: Share) -> Place | None:
    """The first GPUs by index, of those that come with ``share``; None if they are too few."""
    place: Place = {}
    left = gpus
    for index, server in enumerate(cluster):
        here = 0
        while left > 0 and server.has(here + 1, share):
            here += 1
            left -= 1
        if here:
            place[index] = here
    return None if left else place


def plain_greedy(servers: Servers, jobs: Sequence[Job]) -> list[Place | None]:
    """First fit of wishes in the order of ``jobs``; None where a job has to wait."""
    cluster = empty_servers(servers)
    places: list[Place | None] = []
    for job in jobs:
        place: Place | None = None
        if job.num_gpus > servers.gpus:
            place = gpu_by_gpu(cluster, job.num_gpus, job.wish)
        else:
            for index, server in enumerate(cluster):
                if server.has(job.num_gpus, job.wish):
                    place = {index: job.num_gpus}
                    break
        for index, gpus in (place or {}).items():
            cluster[index].take(gpus, job.wish)
        places.append(place)
    return places


@dataclass
class PublishedWalk:
    """TUNE as the published simulator walks it: in the order of ``jobs``."""

    servers: Servers
    jobs: Sequence[Job]
    cluster: list[PlainServer] = field(init=False)
    places: list[Place | None] = field(default_factory=list)
    to_fair: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.cluster = empty_servers(self.servers)
        self.fair: Share = tuple(self.servers.fair.tolist())
        for number in range(len(self.jobs)):
            self._place(number)

    def _share(self, number: int) -> Share:
        return self.fair if self.to_fair[number] else self.jobs[number].wish

    def _place(self, number: int) -> None:
        job = self.jobs[number]
        self.to_fair.append(False)
        place = gpu_by_gpu(self.cluster, job.num_gpus, job.wish)
        if place is None:
            self.to_fair[number] = self._exceeds_fair(job)
            place = gpu_by_gpu(self.cluster, job.num_gpus, self._share(number))
        if place is None:
            self._take_from_peers(number)
            place = gpu_by_gpu(self.cluster, job.num_gpus, self._share(number))
        for index, gpus in (place or {}).items():
            self.cluster[index].take(gpus, self._share(number))
            self.cluster[index].jobs.append(number)
        self.places.append(place)

    def _exceeds_fair(self, job: Job) -> bool:
        return any(wish > fair for wish, fair in zip(job.wish, self.fair, strict=True))

    def _take_from_peers(self, number: int) -> None:
        """Find servers for the GPUs alone; on each, set peers back until the rest is there."""
        gpus = self.jobs[number].num_gpus
        roomy = [index for index, server in enumerate(self.cluster) if server.gpus >= gpus]
        if gpus > 1 and roomy:
            self._free_up(roomy[0], gpus, self._share(number))
            return
        fullest_first = sorted(
            (index for index, server in enumerate(self.cluster) if server.gpus > 0),
            key=lambda index: self.cluster[index].gpus,
        )
        for index in fullest_first:
            here = min(gpus, self.cluster[index].gpus)
            if here > 0:
                self._free_up(index, here, self._share(number))
            gpus -= here

    def _free_up(self, index: int, gpus: int, share: Share) -> None:
        left = self.cluster[index].left
        need = [max(gpus * each - have, 0) for each, have in zip(share, left, strict=True)]
        by_greed = sorted(
            self.cluster[index].jobs,
            key=lambda peer: (
                len(self.places[peer] or ()),
                -self._share(peer)[0],
                -self._share(peer)[1],
            ),
        )
        for peer in by_greed:
            if not any(need):
                return
            here = (self.places[peer] or {})[index]
            spare = [
                max(held - fair, 0) * here
                for held, fair in zip(self._share(peer), self.fair, strict=True)
            ]
            need = [max(want - have, 0) for want, have in zip(need, spare, strict=True)]
            self._set_back(peer)

    def _set_back(self, peer: int) -> None:
        if self.to_fair[peer] or not self._exceeds_fair(self.jobs[peer]):
            return
        for index, gpus in (self.places[peer] or {}).items():
            self.cluster[index].take(-gpus, self.jobs[peer].wish)
            self.cluster[index].take(gpus, self.fair)
        self.to_fair[peer] = True
