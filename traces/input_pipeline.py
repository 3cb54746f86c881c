"""How the CPUs and the memory of a job bound its iterations: an input pipeline. Pure.

A sensitivity says how fast a model trains alone on a GPU with which share of a server (Synergy,
OSDI'22). Taken as the slower of GPU and input pipeline (DS-Analyzer, VLDB 2021), its best point is
the GPU's, and every slower one is the pipeline's.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

from traces.demand import Demand
from traces.errors import BadInputError
from traces.sensitivity import Sensitivity, builtin_sensitivities
from traces.server_pool import ServerGroup
from traces.stage_costs import StageCosts
from traces.stage_reconstruction import stage_costs_of

SENSITIVITIES = "synergy"


@dataclass(frozen=True)
class Share:
    """What each worker of a job has of its server."""

    cpus: float
    memory_bytes: float


def fair_share(server: ServerGroup) -> Share:
    """The GPU-proportional share of one GPU of ``server``."""
    return Share(server.cpus / server.gpus, server.memory_bytes / server.gpus)


@functools.cache  # a document is read, and many jobs have the same
def find_pipeline(model: str) -> Sensitivity:
    """The sensitivity of ``model`` among the published ones. BadInputError where there is none."""
    known = builtin_sensitivities(SENSITIVITIES)
    for entry in known.entries:
        if entry.model == model:
            return entry
    raise BadInputError(
        f"no input pipeline is known of a model {model!r}", allowed=", ".join(known.models)
    )


def input_s(pipeline: Sensitivity, compute_s: float, share: Share) -> float:
    """What the samples of an iteration take whose GPU computes for ``compute_s``.

    The pipeline is as much slower than the GPU as that of its model is; where that keeps up with
    its GPU, how fast it could be is unknown, and this is ``compute_s``. Infinite where it does not
    progress at all.
    """
    best = float(pipeline.throughput[-1, -1])
    here = pipeline.at(share.cpus, share.memory_bytes)
    return compute_s * best / here if here else float("inf")


def with_input(demand: Demand, pipeline: Sensitivity, share: Share) -> Demand:
    """``demand`` of a job whose workers have ``share``. ValueError where it does not progress."""
    return replace(demand, input_s=input_s(pipeline, demand.compute_s, share))


def input_costs(demand: Demand, pipeline: Sensitivity, share: Share) -> StageCosts:
    """What an iteration of one worker costs its stages, so that they take what ``input_s`` says.

    Exactly so where the CPUs are the slowest; see ``stage_costs_of``.
    """
    costs = stage_costs_of(pipeline, share.cpus)
    factor = demand.compute_s / costs.gpu_s
    return replace(
        costs,
        gpu_s=demand.compute_s,
        cpu_s=costs.cpu_s * factor,
        read_bytes=costs.read_bytes * factor,
    )


def memory_matters(pipeline: Sensitivity, server: ServerGroup) -> bool:
    """Whether more memory than the fair share makes it faster with some CPUs of ``server``."""
    least = fair_share(server).memory_bytes
    return pipeline.at(server.cpus, least) < pipeline.at(server.cpus, server.memory_bytes)
