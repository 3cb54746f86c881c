"""How much of what each job gets: one mechanism a file, found by name."""

from __future__ import annotations

from collections.abc import Callable

from harness.scheduling.demands import Demands
from harness.scheduling.mechanisms.greedy import Greedy
from harness.scheduling.mechanisms.mechanism import Mechanism, Placement
from harness.scheduling.mechanisms.opt import Opt
from harness.scheduling.mechanisms.published import PublishedTune
from harness.scheduling.mechanisms.tune import BestFit
from traces.server_pool import ServerPool

MECHANISMS: dict[str, Callable[[Demands, ServerPool, Placement], Mechanism]] = {
    "proportional": lambda demands, pool, placement: BestFit(
        demands, pool, placement, wishes=False
    ),
    "greedy": lambda demands, pool, _: Greedy(demands, pool),
    "tune": lambda demands, pool, placement: BestFit(demands, pool, placement, wishes=True),
    "opt": lambda demands, pool, placement: Opt(demands, pool, placement),
    "tune-published": lambda demands, pool, _: PublishedTune(demands, pool),
}

PLACEMENTS: dict[str, tuple[Placement, ...]] = {
    "proportional": ("best-fit", "balanced"),
    "greedy": ("best-fit",),
    "tune": ("best-fit", "balanced"),
    "opt": ("super-machine", "servers"),
    "tune-published": ("best-fit",),
}
"""The placements of each mechanism, its default first."""
