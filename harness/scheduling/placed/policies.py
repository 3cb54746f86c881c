"""Who places jobs, by name."""

from __future__ import annotations

from collections.abc import Callable

from harness.scheduling.placed.policy import GpuServers, PlacementPolicy
from harness.scheduling.placed.random_placement import RandomPlacement
from harness.scheduling.placed.themis import Themis

POLICIES: dict[str, Callable[[GpuServers, int], PlacementPolicy]] = {
    "random": RandomPlacement,
    "themis": Themis,
}
"""Each call, with the servers and a seed, makes a policy for one run, as they keep a state."""
