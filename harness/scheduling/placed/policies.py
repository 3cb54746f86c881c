"""Who places jobs, by name."""

from __future__ import annotations

from collections.abc import Callable

from harness.scheduling.placed.policy import GpuServers, PlacementPolicy, Rounds
from harness.scheduling.placed.pollux import PolluxPlacement
from harness.scheduling.placed.random_placement import RandomPlacement
from harness.scheduling.placed.themis import Themis

POLICIES: dict[str, Callable[[GpuServers, Rounds, int], PlacementPolicy]] = {
    "pollux": PolluxPlacement,
    "random": lambda servers, _, seed: RandomPlacement(servers, seed),
    "themis": lambda servers, _, seed: Themis(servers, seed),
}
"""Each call, with the servers, the rounds and a seed, makes a policy for one run, as they keep a
state."""
