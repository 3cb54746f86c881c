"""Which stage limits training, and what more CPUs, cache or storage would give. Pure.

(DS-Analyzer, VLDB 2021.) A training process goes as fast as the slowest of three stages: ingestion
by the GPU, preparation by the CPUs, fetching from storage and cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

Stage = Literal["ingestion", "preparation", "fetch"]

_MORE_CPUS = (1.5, 2.0, 4.0)
_FASTER_STORAGE = (2.0, 4.0, 10.0)
_CACHED_PERCENT = range(0, 101, 10)


@dataclass(frozen=True)
class Rates:
    """Of each stage alone, in samples/s, more than 0; of one job with its ``cpus``.

    ingestion: with a batch that lies ready on the GPU. preparation: of samples that are all cached.
    storage: of samples that storage has to give. memory: of samples that the cache gives.
    hit_share: of the samples, those that the cache holds, 0 to 1.
    """

    cpus: float
    ingestion: float
    preparation: float
    storage: float
    memory: float = float("inf")
    hit_share: float = 0.0

    def __post_init__(self) -> None:
        rates = (self.cpus, self.ingestion, self.preparation, self.storage, self.memory)
        if not (min(rates) > 0 and 0 <= self.hit_share <= 1):
            raise ValueError("rates are above 0, and the share of hits is from 0 to 1")

    @property
    def fetch(self) -> float:
        """Samples/s from cache and storage together."""
        seconds = self.hit_share / self.memory + (1 - self.hit_share) / self.storage
        return 1 / seconds if seconds else float("inf")

    @property
    def speed(self) -> float:
        """Samples/s of training."""
        return min(self.ingestion, self.preparation, self.fetch)

    @property
    def limit(self) -> Stage:
        """The slowest stage; of equal ones, the one that nothing but another GPU makes faster."""
        rates: dict[Stage, float] = {
            "ingestion": self.ingestion,
            "preparation": self.preparation,
            "fetch": self.fetch,
        }
        return min(rates, key=rates.__getitem__)


@dataclass(frozen=True)
class Stalls:
    """Of the time of training, the shares in which the GPU waits for each stage before it."""

    preparation: float
    fetch: float


def stalls(rates: Rates) -> Stalls:
    """As DS-Analyzer takes the difference of its runs: what fetching adds to preparation."""
    busy_s = 1 / rates.ingestion
    prepared_s = max(busy_s, 1 / rates.preparation)
    all_s = max(prepared_s, 1 / rates.fetch)
    return Stalls((prepared_s - busy_s) / all_s, (all_s - prepared_s) / all_s)


@dataclass(frozen=True)
class WhatIf:
    """change: in words. rates: with it."""

    change: str
    rates: Rates


def what_if(rates: Rates) -> tuple[WhatIf, ...]:
    """The table: each change alone. Preparation is taken to be in proportion to CPUs."""
    return tuple(_changes(rates))


def _changes(rates: Rates) -> Iterator[WhatIf]:
    yield WhatIf("as it is", rates)
    for factor in _MORE_CPUS:
        more = replace(rates, cpus=rates.cpus * factor, preparation=rates.preparation * factor)
        yield WhatIf(f"{more.cpus:g} CPUs", more)
    for percent in _CACHED_PERCENT:
        if percent / 100 > rates.hit_share:
            yield WhatIf(f"{percent} % cached", replace(rates, hit_share=percent / 100))
    for factor in _FASTER_STORAGE:
        faster = replace(rates, storage=rates.storage * factor)
        yield WhatIf(f"{factor:g} times the storage rate", faster)


@dataclass(frozen=True)
class Enough:
    """The least of each, alone, with which its stage limits no more; None where none is enough.

    cpus: until another stage is as slow as preparation. hit_share, storage: until another one is as
    slow as fetching; storage in samples/s. What is enough already is as it is.
    """

    cpus: float
    hit_share: float | None
    storage: float | None


def enough(rates: Rates) -> Enough:
    """See Enough."""
    others = min(rates.ingestion, rates.fetch)
    cpus = rates.cpus * max(1.0, others / rates.preparation)
    wanted_s = 1 / min(rates.ingestion, rates.preparation)
    if 1 / rates.fetch <= wanted_s:
        return Enough(cpus, rates.hit_share, rates.storage)
    return Enough(cpus, _enough_cached(rates, wanted_s), _enough_storage(rates, wanted_s))


def _enough_cached(rates: Rates, wanted_s: float) -> float | None:
    if 1 / rates.memory > wanted_s:
        return None
    missed_s = 1 / rates.storage
    return (missed_s - wanted_s) / (missed_s - 1 / rates.memory)


def _enough_storage(rates: Rates, wanted_s: float) -> float | None:
    left_s = wanted_s - rates.hit_share / rates.memory
    return (1 - rates.hit_share) / left_s if left_s > 0 else None
