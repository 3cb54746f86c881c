"""CASSINI's snapshots: a few jobs that share one link for as long as it takes to measure them.

Their models and scores are an unverified recollection of the paper's table of snapshots; its
batches are not known. Ours give each mix its score, and iteration times that nearly meet (within
2 %, which CASSINI rounds away). Nearly, because jobs of exactly one iteration time never slip past
each other: without time-shifts they would for ever meet in the phase in which they started.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from traces.generators.cassini_jobs import DrawnJob, networked_trace
from traces.job_trace import JobTrace

WORKERS = 2  # of each job

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

    def starts_s(self, seed: int) -> NDArray[np.float64]:
        """(jobs,): when they start, and so their phases where no time-shifts hold them."""
        return np.random.default_rng(seed).uniform(0.0, _LONGEST_PERIOD_S, len(self.jobs))


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


def snapshot_trace(snapshot: Snapshot, seed: int, iterations: int) -> JobTrace:
    """The jobs of ``snapshot``, each of which runs for so many ``iterations``."""
    jobs = [
        DrawnJob(model, WORKERS, batch, iterations, float(start_s))
        for (model, batch), start_s in zip(snapshot.jobs, snapshot.starts_s(seed), strict=True)
    ]
    return networked_trace(
        jobs, f"CASSINI's snapshot {snapshot.id} ({snapshot}), {iterations} iterations, seed {seed}"
    )
