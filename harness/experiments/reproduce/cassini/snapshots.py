"""The snapshots of CASSINI as scenarios on its testbed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traces.generators.cassini_snapshots import SNAPSHOTS, Snapshot
from traces.scenario import Scenario, scenario_of
from traces.yaml_source import YamlSource

PAPER = "Rajasekaran et al., NSDI'24"
TOGETHER = "random-phases"
SHIFTED = "cassini"

_SERVERS_A_LEAF = 4

QUICK_SNAPSHOTS = tuple(
    each for each in SNAPSHOTS if each.id in ("pair-100", "pair-80", "triple-60")
)


@dataclass(frozen=True)
class Size:
    """How much is measured. iterations: of each job in each run, those that count."""

    snapshots: tuple[Snapshot, ...]
    iterations: int
    seeds: int

    def __str__(self) -> str:
        return f"{len(self.snapshots)} snapshots, {self.seeds} seeds, {self.iterations} iterations"


FULL = Size(SNAPSHOTS, iterations=120, seeds=3)
"""Iteration times of a snapshot differ by about 1 %: in 100 iterations its jobs have met in every
phase."""

QUICK = Size(QUICK_SNAPSHOTS, iterations=30, seeds=2)


def snapshot_scenario(
    snapshot: Snapshot, seed: int, iterations: int, arms: Sequence[str] = (TOGETHER, SHIFTED)
) -> Scenario:
    """The scenario of ``snapshot`` on the paper's testbed.

    All jobs have one worker at each of two leaves, and so share the path between these. ``seed``
    chooses when they start, and so their phases where no time-shifts hold them.
    """
    starts_s = snapshot.starts_s(seed)
    settings: dict[str, dict[str, Any]] = {
        TOGETHER: {},
        SHIFTED: {"scheduler": {"interleaver": "cassini"}},
    }
    document: dict[str, Any] = {
        "name": f"cassini-{snapshot.id}",
        "seed": seed,
        "cluster": {"preset": "cassini-24"},
        "workload": {
            "iterations": iterations,
            "warmup_iterations": 5,
            "jobs": [
                {
                    "id": f"{model}-{index}",
                    "profile": model,
                    "batch_per_gpu": batch,
                    "servers": [f"server{index}", f"server{_SERVERS_A_LEAF + index}"],
                    "start": f"{start_s * 1e3:.3f} ms",
                }
                for index, ((model, batch), start_s) in enumerate(
                    zip(snapshot.jobs, starts_s, strict=True)
                )
            ],
        },
        "arms": {arm: settings[arm] for arm in arms},
    }
    return scenario_of(YamlSource(Path("scenario.yaml"), "", document))
