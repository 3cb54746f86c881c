"""CASSINI's snapshots: a few jobs that share one link for as long as it takes to measure them.

Their models and scores are an unverified recollection of the paper's table of snapshots; its
batches are not known. Ours give each mix its score, and iteration times that nearly meet (within
2 %, which CASSINI rounds away). Nearly, because jobs of exactly one iteration time never slip past
each other: without time-shifts they would for ever meet in the phase in which they started.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from traces.scenario import Scenario, scenario_of
from traces.yaml_source import YamlSource

PAPER = "Rajasekaran et al., NSDI'24"
TOGETHER = "random-phases"
SHIFTED = "cassini"

_SERVERS_A_LEAF = 4
_LONGEST_PERIOD_S = 0.3
"""Above the iteration time of any job; starts are drawn from as much."""


@dataclass(frozen=True)
class Snapshot:
    """Jobs on one link. jobs: (model, samples per GPU and iteration), two workers each.

    id: how many they are, and what they score in hundredths.
    remembered_score: of the paper's mix of these models, or of a similar one; None where none is.
    """

    id: str
    jobs: tuple[tuple[str, int], ...]
    remembered_score: float | None

    @property
    def name(self) -> str:
        """The models of its jobs."""
        return " + ".join(model for model, _ in self.jobs)

    def __str__(self) -> str:
        batches = ", ".join(str(batch) for _, batch in self.jobs)
        return f"{self.name} with {batches} samples a GPU"


TWO_VGG19 = Snapshot("two-vgg19", (("vgg19", 64), ("vgg19", 65)), None)
"""The paper's first example; its 90th percentile is known."""

SNAPSHOTS = (
    TWO_VGG19,
    Snapshot("pair-100", (("wideresnet101", 48), ("vgg16", 65)), 1.0),
    Snapshot("triple-100", (("vgg19", 59), ("vgg16", 76), ("resnet50", 455)), 1.0),
    Snapshot("pair-90", (("vgg19", 33), ("vgg16", 45)), 0.9),
    Snapshot("pair-80", (("roberta", 8), ("camembert", 10)), 0.8),
    Snapshot("triple-60", (("bert", 20), ("vgg19", 38), ("wideresnet101", 37)), 0.6),
)
"""From the most compatible to the least. The paper's pair of 0.8 is remembered as two equal
RoBERTas, for which CamemBERT, a RoBERTa with another vocabulary, takes the place of one."""

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
    starts_s = np.random.default_rng(seed).uniform(0.0, _LONGEST_PERIOD_S, len(snapshot.jobs))
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
