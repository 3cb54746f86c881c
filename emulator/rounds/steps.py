"""How a model's iterations become the steps of a worker on this box. Pure.

A step is a bundle of whole iterations, one after the other, as long on the wall as in the cluster;
it stands for ``stride`` times as many. So the shape of an iteration stays, and a trace passes
``stride`` times faster.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from emulator.training.dataset import LEAST_JPEG_ITEM_BYTES
from emulator.training.specification import Pipeline, PipelineShare, Work
from traces.stage_costs import StageCosts

LEAST_STEP_S = 0.25
"""Shorter iterations are emulated in bundles: a worker wakes a few times in each step, and what
that takes and how late it is would show in a shorter one."""

ITEMS_PER_STEP = 8
"""A step's samples come in so many pieces, so that fetching and preparing overlap inside it too."""


@dataclass(frozen=True)
class Divisors:
    """What the amounts of the cluster are divided by.

    stride: time between events of the trace, and so the number of iterations. cpu: CPUs and CPU
    seconds. bytes: rates and what an iteration reads; memory and datasets are divided by ``stride``
    besides, so that an epoch takes as many iterations of the trace.
    """

    stride: float
    cpu: float
    bytes: float

    @property
    def memory(self) -> float:
        """Of memory and datasets."""
        return self.bytes * self.stride


@dataclass(frozen=True)
class WorkerWork:
    """What one worker does: its GPUs on a server together.

    step_s: compute of a step. iterations_per_step: of the trace, that a step stands for. cpu_cores:
    of this box, that its input pipeline may use.
    """

    pipeline: Pipeline
    share: PipelineShare
    step_s: float
    iterations_per_step: float
    cpu_cores: float


def bundle_of(gpu_s: float) -> int:
    """Iterations in a step, where one takes ``gpu_s`` at its fastest."""
    return max(math.ceil(LEAST_STEP_S / gpu_s - 1e-9), 1)


def dataset_items_of(costs: StageCosts, divisors: Divisors) -> int:
    """Items in a worker's dataset; 0 where nothing is read."""
    if not costs.read_bytes:
        return 0
    steps = costs.dataset_bytes / costs.read_bytes / divisors.stride / bundle_of(costs.gpu_s)
    return max(round(steps * ITEMS_PER_STEP), 1)


def item_bytes_of(costs: StageCosts, gpus: int, divisors: Divisors) -> int:
    """Size of an item of a worker of ``gpus`` GPUs; 0 where nothing is read."""
    if not costs.read_bytes:
        return 0
    per_item = gpus * bundle_of(costs.gpu_s) / ITEMS_PER_STEP
    return max(round(costs.read_bytes * per_item / divisors.bytes), 1)


def work_on(item_bytes: int, wanted: Work) -> Work:
    """What is done with items of ``item_bytes``: those that hold no image are hashed."""
    return "hash" if item_bytes < LEAST_JPEG_ITEM_BYTES else wanted


def worker_work(
    costs: StageCosts, gpus: int, cpus: float, memory_bytes: float, divisors: Divisors
) -> WorkerWork:
    """The work of ``gpus`` GPUs on one server, with these CPUs and memory together (unscaled)."""
    bundle = bundle_of(costs.gpu_s)
    per_item = gpus * bundle / ITEMS_PER_STEP
    cpu_cores = cpus / divisors.cpu
    return WorkerWork(
        pipeline=Pipeline(
            items=ITEMS_PER_STEP,
            item_bytes=item_bytes_of(costs, gpus, divisors),
            dataset_items=dataset_items_of(costs, divisors),
            cpu_s_per_item=costs.cpu_s * per_item / divisors.cpu,
        ),
        share=PipelineShare(
            cache_bytes=int(memory_bytes / divisors.memory),
            threads=max(math.ceil(cpus), 1),
            cpu_cores=cpu_cores,
        ),
        step_s=costs.gpu_s * bundle,
        iterations_per_step=bundle * divisors.stride,
        cpu_cores=cpu_cores,
    )
