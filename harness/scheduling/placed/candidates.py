"""Different placements of the same jobs, none fairer than another.

Who runs is settled; what is left open is which job chooses first, which leaf and server it prefers,
and how it decides between those that it likes equally.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from harness.scheduling.placed.leaves import Leaves
from harness.scheduling.placed.packing import best_fit, first_fit, free_gpus, pack, worst_fit
from harness.scheduling.placed.policy import GpuServers, Placement, WaitingJob

_RULES = (best_fit, worst_fit, first_fit)
DRAWS = 8
"""For each placement that is asked for. Where many are alike, fewer are found."""


def candidates(
    jobs: Sequence[WaitingJob],
    kept: Placement,
    servers: GpuServers,
    leaves: Leaves,
    most: int,
    rng: np.random.Generator,
) -> list[Placement]:
    """Up to ``most`` placements of ``jobs`` beside those in ``kept``, which stay.

    The first packs them in the order of ``jobs``, each behind as few leaves as it can and where it
    leaves the least room. Then come other rules, then orders and preferences that are drawn.
    """
    packings = _packings(jobs, free_gpus(servers, kept), leaves, rng)
    tries = len(_RULES) + DRAWS * most if jobs else 1
    placements = (
        {**kept, **{job.id: leaves.by_rank(packing[job.id]) for job in jobs}}
        for packing in itertools.islice(packings, tries)
    )
    return told_apart(placements, leaves, most)


def told_apart(placements: Iterable[Placement], leaves: Leaves, most: int) -> list[Placement]:
    """Up to ``most`` of ``placements``, of which no more are looked at than it takes.

    Of those that the links cannot tell apart only the first is there, and those in which the same
    jobs meet as in an earlier one, behind other leaves, come after all in which others do.
    """
    found: dict[Hashable, tuple[int, Placement]] = {}
    companies: Counter[Hashable] = Counter()
    for placement in placements:
        form, company = leaves.link_form(placement), leaves.company(placement)
        if form not in found:
            found[form] = companies[company], placement
            companies[company] += 1
        if len(companies) >= most:
            break
    ordered = sorted(found.values(), key=lambda numbered: numbered[0])
    return [placement for _, placement in ordered[:most]]


def _packings(
    jobs: Sequence[WaitingJob], free: dict[str, int], leaves: Leaves, rng: np.random.Generator
) -> Iterator[dict[str, Counter[str]]]:
    """Without an end: every rule as it is, then any of them in an order that is drawn."""
    for rule in _RULES:
        yield pack(jobs, free, leaves.leaves, rule)
    while True:
        rule = _RULES[rng.integers(len(_RULES))]
        drawn = [tuple(_shuffled(leaf, rng)) for leaf in _shuffled(leaves.leaves, rng)]
        yield pack(_shuffled(jobs, rng), free, drawn, rule)


_Item = TypeVar("_Item")


def _shuffled(items: Sequence[_Item], rng: np.random.Generator) -> list[_Item]:
    return [items[position] for position in rng.permutation(len(items))]
