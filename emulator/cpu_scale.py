"""How the CPUs that a scheduler divides among placed jobs fit on this box. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from emulator.limits.bandwidth import LEAST_CORES
from emulator.training.specification import (
    LoaderSpecification,
    Pipeline,
    PipelineShare,
    PipelineState,
)
from traces.arm import Arm, Job
from traces.errors import BadInputError
from traces.input_pipeline import fair_share, input_costs, memory_matters

CPU_SHARE = 0.3
"""Of this box's cores, what all CPUs of the cluster may take together: the links need the rest."""

GOOD_CPU_OF_A_CORE = 0.01
"""Below it the kernel's least quota, a millisecond, comes so rarely that it shows."""

ITEMS_PER_BATCH = 4
"""A batch's samples come in so many pieces."""


@dataclass(frozen=True)
class CpuScale:
    """One CPU of the cluster is the ``divisor``-th part of a core.

    cpus: of the arm with most. cores: of this box.
    """

    divisor: float
    cpus: float
    cores: int

    @property
    def reason(self) -> str:
        """Where the divisor comes from."""
        return f"{self.cpus:g} CPUs in {CPU_SHARE:.0%} of {self.cores} cores"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What of it may harm the result."""
        if 1 / self.divisor >= GOOD_CPU_OF_A_CORE:
            return ()
        return (
            f"one CPU is {1 / self.divisor:.1%} of a core; below {GOOD_CPU_OF_A_CORE:.0%} the "
            "grain of the kernel's quota shows",
        )


def plan_cpu_scale(arms: Sequence[Arm], cores: int) -> CpuScale | None:
    """One scale for all ``arms``; None where none of them divides CPUs."""
    divided = [arm.resources for arm in arms if arm.resources is not None]
    if not divided:
        return None
    cpus = max(group.count * group.cpus for group in divided)
    return CpuScale(max(cpus / (CPU_SHARE * cores), 1.0), cpus, cores)


def check_input_pipelines(arm: Arm, scale: CpuScale) -> None:
    """Refuse what of ``arm`` cannot be emulated. Raises BadInputError, with the key

    - of the job, where its speed hangs on memory as well: samples of placed jobs are not read from
      anywhere, so that no cache would show;
    - of the CPUs, where the kernel keeps no quota as small as a share may be.
    """
    server = arm.resources
    for number, job in enumerate(arm.jobs):
        pipeline = job.input_pipeline
        if pipeline is None or server is None:
            continue
        if memory_matters(pipeline, server):
            raise BadInputError(
                f"the input pipeline of {pipeline.model} is faster with more memory than its "
                "share, and what placed jobs read is not emulated",
                allowed="simulate alone, servers with more memory, or another pipeline",
                key=f"workload.jobs.{number}.input_pipeline",
            )
        least_cpus = min(fair_share(server).cpus, float(pipeline.cpus[0]))
        if least_cpus / scale.divisor < LEAST_CORES:
            raise BadInputError(
                f"a share of {least_cpus:g} CPUs would be {least_cpus / scale.divisor:.2%} of one "
                f"of this box's {scale.cores} cores, with {scale.cpus:g} CPUs in all",
                allowed=f"{LEAST_CORES:.1%} or more, which the kernel can enforce: at most "
                f"{least_cpus * CPU_SHARE * scale.cores / LEAST_CORES:g} CPUs; or simulate alone",
                key="cluster.cpus",
            )


@dataclass(frozen=True)
class InputWork:
    """What the input pipeline of one worker does for a batch, and the cores that it may use."""

    pipeline: Pipeline
    share: PipelineShare
    cores: float

    @property
    def loader(self) -> LoaderSpecification:
        """It reads nothing, and prepares one batch ahead; the first one is ready."""
        return LoaderSpecification(
            namespace=None,
            route=None,
            pipeline=self.pipeline,
            share=self.share,
            state=PipelineState(ready_items=self.pipeline.items),
            shuffle_seed=0,
            prefetch_steps=1,
        )


def input_work(job: Job, scale: CpuScale) -> InputWork | None:
    """Of each worker of ``job``; None where it waits for no samples, or CPUs are not divided."""
    if job.input_pipeline is None or job.share is None:
        return None
    costs = input_costs(job.profile.demand, job.input_pipeline, job.share)
    cores = job.share.cpus / scale.divisor
    return InputWork(
        Pipeline(
            items=ITEMS_PER_BATCH,
            item_bytes=0,
            dataset_items=0,
            cpu_s_per_item=costs.cpu_s / ITEMS_PER_BATCH / scale.divisor,
        ),
        PipelineShare(cache_bytes=0, threads=max(math.ceil(cores), 1)),
        cores,
    )
