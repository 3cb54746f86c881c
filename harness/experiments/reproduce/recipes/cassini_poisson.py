"""CASSINI's Poisson traces: data-parallel jobs, and model-parallel ones."""

from __future__ import annotations

from harness.experiments.reproduce.cassini.scheduled import Part, PublishedGains
from harness.experiments.reproduce.cassini.scheduled_recipe import scheduled_recipe
from harness.experiments.reproduce.cassini.snapshots import PAPER
from harness.experiments.reproduce.cassini.workloads import (
    POISSON_DATA_PARALLEL,
    POISSON_MODEL_PARALLEL,
    THEMIS_HOST,
)
from harness.experiments.reproduce.comparisons import Published

_SOURCE = f"{PAPER}, Poisson trace"
_TOLERANCE = 0.15

DATA_PARALLEL_RECIPE = scheduled_recipe(
    "cassini-poisson-dp",
    "CASSINI's Poisson trace, data-parallel jobs",
    f"{_SOURCE}, data-parallel",
    (
        Part(
            POISSON_DATA_PARALLEL,
            POISSON_DATA_PARALLEL.arms,
            {
                THEMIS_HOST: PublishedGains(
                    Published(1.6, _TOLERANCE, _SOURCE), Published(1.8, _TOLERANCE, _SOURCE)
                )
            },
        ),
    ),
    seconds=900,
    quick_seconds=220,
)

MODEL_PARALLEL_RECIPE = scheduled_recipe(
    "cassini-poisson-mp",
    "CASSINI's Poisson trace, model-parallel jobs",
    f"{_SOURCE}, model-parallel",
    (
        Part(
            POISSON_MODEL_PARALLEL,
            POISSON_MODEL_PARALLEL.arms,
            {
                THEMIS_HOST: PublishedGains(
                    Published(1.2, _TOLERANCE, _SOURCE), Published(1.6, _TOLERANCE, _SOURCE)
                )
            },
        ),
    ),
    seconds=900,
    quick_seconds=220,
)
