"""CASSINI's congestion stress test, and the same with two GPUs a server."""

from __future__ import annotations

from harness.experiments.reproduce.cassini.scheduled import Part, PublishedGains
from harness.experiments.reproduce.cassini.scheduled_recipe import scheduled_recipe
from harness.experiments.reproduce.cassini.snapshots import PAPER
from harness.experiments.reproduce.cassini.workloads import (
    DYNAMIC,
    DYNAMIC_MEETING,
    MULTIGPU,
    POLLUX_HOST,
    THEMIS_HOST,
)
from harness.experiments.reproduce.comparisons import NOTHING_PUBLISHED, Published

_DYNAMIC = f"{PAPER}, dynamic trace"
_MULTIGPU = f"{PAPER}, servers with two GPUs"
_TOLERANCE = 0.15

RECIPE = scheduled_recipe(
    "cassini-dynamic",
    "CASSINI's dynamic trace: jobs that come into a cluster that is nearly full",
    _DYNAMIC,
    (
        Part(
            DYNAMIC,
            DYNAMIC.arms,
            {
                THEMIS_HOST: PublishedGains(
                    Published(1.5, _TOLERANCE, _DYNAMIC),
                    Published(2.2, _TOLERANCE, _DYNAMIC),
                    Published(27.0, _TOLERANCE, f"{_DYNAMIC}, ECN marks of DLRM", "at least"),
                ),
                POLLUX_HOST: PublishedGains(
                    Published(1.6, _TOLERANCE, _DYNAMIC),
                    Published(2.5, _TOLERANCE, _DYNAMIC),
                    Published(33.0, _TOLERANCE, f"{_DYNAMIC}, ECN marks of DLRM", "at least"),
                ),
            },
        ),
        Part(
            DYNAMIC_MEETING,
            DYNAMIC_MEETING.arms,
            {THEMIS_HOST: PublishedGains(NOTHING_PUBLISHED, NOTHING_PUBLISHED)},
        ),
    ),
    seconds=1500,
    quick_seconds=180,
)

MULTIGPU_RECIPE = scheduled_recipe(
    "cassini-multigpu",
    "CASSINI's dynamic trace on servers with two GPUs",
    _MULTIGPU,
    (
        Part(
            MULTIGPU,
            MULTIGPU.arms,
            {
                THEMIS_HOST: PublishedGains(
                    Published(1.4, _TOLERANCE, _MULTIGPU), Published(1.9, _TOLERANCE, _MULTIGPU)
                )
            },
        ),
    ),
    seconds=350,
    quick_seconds=180,
)
