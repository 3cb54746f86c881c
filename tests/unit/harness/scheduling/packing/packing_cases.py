"""Packing problems in plain numbers, by hand and at random, and what every packing promises."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.scheduling.packing.best_fit import pack

Floats = NDArray[np.float64]
Place = dict[int, int]
"""Server -> GPUs of one job on it."""

NOWHERE: Place = {}
ROUNDING = 2e-9
"""Share of a server by which sums may seem to exceed it."""


@dataclass(frozen=True)
class Servers:
    """``count`` servers that are alike; cpus, memory and storage of one of them."""

    count: int
    gpus: int
    cpus: float
    memory: float
    storage: float = 0.0

    @property
    def size(self) -> Floats:
        return np.array([self.cpus, self.memory, self.storage], dtype=float)

    @property
    def fair(self) -> Floats:
        return self.size / self.gpus

    @property
    def all_gpus(self) -> int:
        return self.count * self.gpus


@dataclass(frozen=True)
class Job:
    """Wants ``num_gpus`` GPUs, with ``wish`` (CPUs, memory, storage) for each."""

    num_gpus: int
    wish: tuple[float, float, float]

    @property
    def demand(self) -> tuple[float, ...]:
        """What it wants in all: GPUs, CPUs, memory, storage."""
        return self.num_gpus, *(self.num_gpus * amount for amount in self.wish)

    def is_above(self, fair: Floats) -> bool:
        return bool(np.any(np.array(self.wish) > fair * (1 + 1e-12)))


@dataclass(frozen=True)
class Packing:
    """Where each job is, and whether it is held to its fair share."""

    places: list[Place]
    to_fair: list[bool]


def job(num_gpus: int, cpus: float, memory: float = 0.0, storage: float = 0.0) -> Job:
    return Job(num_gpus, (cpus, memory, storage))


def packing_order(jobs: Sequence[Job]) -> list[int]:
    """By GPUs, then CPUs, then memory, then storage, from the largest; equal ones as they come."""
    return sorted(range(len(jobs)), key=lambda row: [-amount for amount in jobs[row].demand])


def rows_of(places: Sequence[Place]) -> tuple[NDArray[np.int64], ...]:
    """(offsets, servers, gpus), as in an Allocation."""
    counts = [len(place) for place in places]
    return (
        np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        np.array([server for place in places for server in place], dtype=np.int64),
        np.array([gpus for place in places for gpus in place.values()], dtype=np.int64),
    )


def places_of(
    offsets: NDArray[np.int64], servers: NDArray[np.int64], gpus: NDArray[np.int64]
) -> list[Place]:
    """The inverse of ``rows_of``; no server may come twice in a job."""
    places = []
    for first, end in itertools.pairwise(offsets):
        place = dict(zip(servers[first:end].tolist(), gpus[first:end].tolist(), strict=True))
        assert len(place) == end - first, "a job has two rows for one server"
        places.append(place)
    return places


def pack_jobs(
    servers: Servers,
    jobs: Sequence[Job],
    held: Sequence[Place] | None = None,
    balanced: bool = False,
) -> Packing:
    """``pack`` on ``jobs``, of which each held its place in ``held`` before."""
    order = packing_order(jobs)
    alike = {demand: number for number, demand in enumerate({each.demand for each in jobs})}
    offsets, on, gpus, to_fair = pack(
        np.array([each.num_gpus for each in jobs], dtype=np.int64),
        np.array([alike[each.demand] for each in jobs], dtype=np.int64),
        np.array([each.wish for each in jobs], dtype=float).reshape(-1, 3),
        np.array([each.is_above(servers.fair) for each in jobs], dtype=np.bool_),
        servers.fair,
        np.array(order, dtype=np.int64),
        *rows_of([NOWHERE] * len(jobs) if held is None else held),
        servers.count,
        servers.gpus,
        servers.size,
        balanced,
    )
    return Packing(places_of(offsets, on, gpus), to_fair.tolist())


def check_packing(servers: Servers, jobs: Sequence[Job], packing: Packing) -> None:
    """Each job has exactly its GPUs, with its wish or its fair share, and no server gives more."""
    assert len(packing.places) == len(packing.to_fair) == len(jobs)
    if not jobs:
        return
    offsets, on, gpus = rows_of(packing.places)
    assert (gpus > 0).all()
    assert (np.add.reduceat(gpus, offsets[:-1]) == [each.num_gpus for each in jobs]).all()
    above = [each.is_above(servers.fair) for each in jobs]
    assert not np.any(np.array(packing.to_fair) & ~np.array(above))
    wish = np.array([each.wish for each in jobs])
    share = np.where(np.array(packing.to_fair)[:, None], servers.fair, wish)
    taken = np.repeat(share, np.diff(offsets), axis=0) * gpus[:, None]
    assert (np.bincount(on, gpus) <= servers.gpus).all()
    for resource in range(3):
        most = servers.size[resource] * (1 + ROUNDING)
        assert (np.bincount(on, taken[:, resource]) <= most).all()


def random_servers(rng: np.random.Generator) -> Servers:
    """1 to 12 servers of 1 to 16 GPUs; half of them give out storage too."""
    gpus = int(rng.integers(1, 17))
    return Servers(
        count=int(rng.integers(1, 13)),
        gpus=gpus,
        cpus=gpus * float(rng.choice([1, 2, 2.7, 3, 4, 6])),
        memory=gpus * float(rng.choice([20, 62.5, 100])),
        storage=gpus * float(rng.choice([0, 1])) * rng.uniform(0.1, 2),
    )


def random_kinds(rng: np.random.Generator, servers: Servers) -> list[Job]:
    """Jobs that wish for less, as much as or more than the fair share, in each resource apart."""
    kinds = []
    for _ in range(rng.integers(1, 7)):
        sizes = [
            1,
            1,
            2,
            4,
            rng.integers(1, servers.gpus + 1),
            rng.integers(1, servers.all_gpus + 1),
        ]
        num_gpus = min(int(rng.choice(sizes)), servers.all_gpus)
        most = servers.size / min(num_gpus, servers.gpus)
        choices = [
            np.zeros(3),
            servers.fair * rng.uniform(0, 1, 3),
            servers.fair,
            servers.fair + (most - servers.fair) * rng.uniform(0, 1, 3),
            most,
        ]
        chances = rng.dirichlet(np.ones(5))
        wish = [choices[rng.choice(5, p=chances)][resource] for resource in range(3)]
        kinds.append(Job(num_gpus, (float(wish[0]), float(wish[1]), float(wish[2]))))
    return kinds


def random_mix(
    rng: np.random.Generator, servers: Servers, kinds: Sequence[Job], running: Sequence[Job] = ()
) -> list[Job]:
    """``running``, and new jobs of ``kinds`` for most of the GPUs that are left."""
    jobs = list(running)
    left = servers.all_gpus - sum(each.num_gpus for each in jobs)
    if rng.random() < 0.3:
        left = int(rng.integers(0, left + 1))
    for _ in range(40):
        new = kinds[rng.integers(len(kinds))]
        if new.num_gpus <= left:
            jobs.append(new)
            left -= new.num_gpus
    return jobs


@dataclass(frozen=True)
class Round:
    """Jobs that run together, where those that ran before were held, and how they were packed."""

    jobs: list[Job]
    held: list[Place]
    packing: Packing


def random_rounds(
    rng: np.random.Generator, servers: Servers, balanced: bool, count: int
) -> list[Round]:
    """Rounds of which each keeps some jobs of the one before."""
    kinds = random_kinds(rng, servers)
    running: list[Job] = []
    held: list[Place] = []
    rounds = []
    for _ in range(count):
        jobs = random_mix(rng, servers, kinds, running)
        held += [NOWHERE] * (len(jobs) - len(held))
        packing = pack_jobs(servers, jobs, held, balanced)
        rounds.append(Round(jobs, held, packing))
        stays = np.flatnonzero(rng.random(len(jobs)) < rng.choice([0.5, 0.8, 0.95]))
        running = [jobs[row] for row in stays]
        held = [packing.places[row] for row in stays]
    return rounds
