"""The RoundsScale: how a cluster that is scheduled round by round fits on this box. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from emulator.rounds.steps import (
    LEAST_STEP_S,
    Divisors,
    bundle_of,
    dataset_items_of,
    item_bytes_of,
    work_on,
)
from emulator.scale import LEAST_RATE_BPS, Budget
from emulator.training.specification import Work
from traces.emulation_spec import EmulationSpec
from traces.errors import BadInputError
from traces.quantities import format_duration, format_rate, format_size
from traces.sensitivity import Sensitivity
from traces.server_pool import ServerPool
from traces.stage_costs import StageCosts
from traces.stage_reconstruction import (
    ASSUMED_STORAGE_BYTES_PER_S,
    least_storage_rate_of,
    stage_costs_of,
)

ROUNDS_SHARE = 0.9
"""Of the duration, what rounds may take; their boundaries take the rest."""

CPU_SHARE = 0.55
"""Of this box's cores, what all CPUs of the cluster may take together."""

NETWORK_SHARE = 0.1
"""Of this box's network budget: the CPUs are busy preparing samples."""

CACHE_SHARE = 0.25
"""Of the memory that is available, what all caches may hold together."""

LEAST_ROUND_S = 1.0
GOOD_ROUND_S = 2.0
LEAST_CPU_OF_A_CORE = 0.01
"""The kernel's least quota: 1 ms in a period of 100 ms."""
GOOD_CPU_OF_A_CORE = 0.02
LEAST_DATASET_ITEMS = 50
GOOD_DATASET_ITEMS = 200

_HOPS = 2  # from the storage server to a switch, and on to a server


@dataclass(frozen=True)
class ModelStep:
    """How a model is emulated. step_s: on the wall, of ``bundle`` iterations at their fastest.

    dataset_items: of a worker's dataset. is_hashed: whether its items are too small for the JPEGs
    that were wished for. splits: whether a GPU's fair share of memory holds a part
    of it only, so that the number of its items is the grain of what hits the cache.
    """

    model: str
    bundle: int
    step_s: float
    dataset_items: int
    is_hashed: bool
    splits: bool


@dataclass(frozen=True)
class RoundsScale:
    """One scale for all arms and seeds, so that they can be compared.

    storage_bytes_per_s: of each server's storage link by arm's pool and group, unscaled; the
    fastest. cache_bytes: of all caches together, scaled. wall_s: that all arms and seeds should
    take, without the boundaries of rounds. reason: where each number comes from.
    """

    divisors: Divisors
    storage_bytes_per_s: float
    round_s: float
    wall_s: float
    cpus: float
    cores: int
    cache_bytes: float
    storage_load_hop_bps: float
    budget_hop_bps: float
    budget_source: str
    models: tuple[ModelStep, ...]
    reason: str

    @property
    def round_wall_s(self) -> float:
        """How long the shortest round takes on the wall."""
        return self.round_s / self.divisors.stride

    @property
    def cpu_of_a_core(self) -> float:
        """Of a core of this box, what stands for one CPU."""
        return 1 / self.divisors.cpu

    @property
    def warnings(self) -> tuple[str, ...]:
        """What of the scale may harm the result."""
        found = []
        if self.round_wall_s < GOOD_ROUND_S:
            found.append(
                f"a round takes {format_duration(self.round_wall_s)} on the wall; from "
                f"{GOOD_ROUND_S:g} s on its boundaries hardly show"
            )
        if self.cpu_of_a_core < GOOD_CPU_OF_A_CORE:
            found.append(
                f"one CPU is {self.cpu_of_a_core:.1%} of a core; below {GOOD_CPU_OF_A_CORE:.0%} "
                "the grain of the kernel's quota shows"
            )
        if self.cpus / self.divisors.cpu > CPU_SHARE * self.cores * 1.001:
            found.append(
                f"the CPUs of the cluster ask for {self.cpus / self.divisors.cpu:.2f} of "
                f"{self.cores} cores, more than {CPU_SHARE:.0%}"
            )
        if self.storage_load_hop_bps > NETWORK_SHARE * self.budget_hop_bps * 1.001:
            found.append(
                f"the storage links ask for {self.storage_load_hop_bps / 1e9:.2f} Gbit/s x hops, "
                f"more than {NETWORK_SHARE:.0%} of this box's budget of "
                f"{self.budget_hop_bps / 1e9:.2f} ({self.budget_source})"
            )
        found += [
            f"a dataset of {step.model} has {step.dataset_items} items, so that the share that is "
            f"cached has a grain of {1 / step.dataset_items:.1%}"
            for step in self.models
            if step.splits and step.dataset_items < GOOD_DATASET_ITEMS
        ]
        hashed = [step.model for step in self.models if step.is_hashed]
        if hashed:
            found.append(
                f"items of {', '.join(hashed)} are too small for a JPEG, and are hashed instead"
            )
        return tuple(found)

    @property
    def document(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self) | {
            "round_wall_s": self.round_wall_s,
            "cpu_of_a_core": self.cpu_of_a_core,
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True)
class ClusterNeeds:
    """What the arms of a scenario have in common and differ in.

    pools: of each arm. models: all that jobs train, on any of its types of GPU. round_s: the
    shortest. busy_s: time in which jobs are active, over all arms and seeds, as simulated.
    """

    pools: Sequence[ServerPool]
    models: Sequence[Sensitivity]
    round_s: float
    busy_s: float


def plan_rounds_scale(
    needs: ClusterNeeds,
    settings: EmulationSpec,
    cores: int,
    memory_available_bytes: float,
    budget: Budget,
) -> RoundsScale:
    """Divisors so that all fits: time, CPU, network, memory. Those that are given are kept.

    Raises BadInputError, with the numbers, where something would become too small to mean anything.
    """
    cpus = max(float(pool.resources[:, 0].sum()) for pool in needs.pools)
    memory_bytes = max(float(pool.resources[:, 1].sum()) for pool in needs.pools)
    rates = [_storage_rates(pool, needs.models) for pool in needs.pools]
    load_hop_bps = max(sum(of_pool) for of_pool in rates) * 8 * _HOPS
    slowest_bps = min(min(of_pool) for of_pool in rates) * 8
    stride, stride_reason = _chosen(
        settings.stride,
        needs.busy_s / (ROUNDS_SHARE * settings.duration),
        f"{needs.busy_s / 3600:.3g} h of all arms and seeds in {settings.duration / 60:.3g} min",
    )
    cpu, cpu_reason = _chosen(
        settings.cpu_divisor,
        cpus / (CPU_SHARE * cores),
        f"{cpus:g} CPUs in {CPU_SHARE:.0%} of {cores} cores",
    )
    for_network = load_hop_bps / (NETWORK_SHARE * budget.hop_bps)
    for_memory = memory_bytes / stride / (CACHE_SHARE * memory_available_bytes)
    byte, byte_reason = _chosen(
        settings.byte_divisor,
        max(for_network, for_memory),
        f"storage links in {NETWORK_SHARE:.0%} of this box's network budget, {budget.source}"
        if for_network >= for_memory
        else f"caches in {CACHE_SHARE:.0%} of {format_size(memory_available_bytes)}",
    )
    divisors = Divisors(stride, cpu, byte)
    scale = RoundsScale(
        divisors=divisors,
        storage_bytes_per_s=max(max(of_pool) for of_pool in rates),
        round_s=needs.round_s,
        wall_s=needs.busy_s / stride,
        cpus=cpus,
        cores=cores,
        cache_bytes=memory_bytes / divisors.memory,
        storage_load_hop_bps=load_hop_bps / byte,
        budget_hop_bps=budget.hop_bps,
        budget_source=budget.source,
        models=tuple(
            _model_step(model, needs.pools, divisors, settings.work) for model in needs.models
        ),
        reason=f"stride: {stride_reason}; CPU: {cpu_reason}; bytes: {byte_reason}",
    )
    _refuse_too_small(scale, settings, slowest_bps, memory_available_bytes)
    return scale


def _chosen(given: float | str, needed: float, reason: str) -> tuple[float, str]:
    if isinstance(given, float | int):
        return float(given), "given in the scenario"
    return float(max(math.ceil(needed - 1e-9), 1)), reason


def _storage_rates(pool: ServerPool, models: Sequence[Sensitivity]) -> list[float]:
    """(servers,): bytes/s of each server's storage link: its own, or what its GPUs' profiles
    were measured with."""
    rates = []
    for group in pool.groups:
        per_gpu = [least_storage_rate_of(m) for m in models if m.gpu_type == group.gpu_type]
        most = max([ASSUMED_STORAGE_BYTES_PER_S, *per_gpu])
        rates += [group.storage_bytes_per_s or most * group.gpus] * group.count
    return rates


def _model_step(
    model: Sensitivity, pools: Sequence[ServerPool], divisors: Divisors, work: Work
) -> ModelStep:
    groups = [g for pool in pools for g in pool.groups if g.gpu_type == model.gpu_type]
    costs: StageCosts = stage_costs_of(model, model.reference_cpus)
    bundle = bundle_of(costs.gpu_s)
    fair_bytes = min((g.memory_bytes / g.gpus for g in groups), default=math.inf)
    return ModelStep(
        model=model.model,
        bundle=bundle,
        step_s=bundle * costs.gpu_s,
        dataset_items=dataset_items_of(costs, divisors),
        is_hashed=work_on(item_bytes_of(costs, 1, divisors), work) != work,
        splits=costs.dataset_bytes > fair_bytes,
    )


def _refuse_too_small(
    scale: RoundsScale, settings: EmulationSpec, slowest_bps: float, memory_available_bytes: float
) -> None:
    divisors = scale.divisors
    time_key = "emulation.duration" if settings.stride == "auto" else "emulation.stride"
    byte_key = "cluster" if settings.byte_divisor == "auto" else "emulation.byte_divisor"
    most_stride = scale.round_s / LEAST_ROUND_S
    if scale.round_wall_s < LEAST_ROUND_S * (1 - 1e-9):
        raise BadInputError(
            f"a round of {scale.round_s:g} s would take {format_duration(scale.round_wall_s)} on "
            f"the wall (stride {divisors.stride:g}, {scale.reason.partition(';')[0]})",
            allowed=f"rounds of {LEAST_ROUND_S:g} s or more: a stride of at most {most_stride:g}, "
            f"which needs {_duration_at(scale, most_stride)}; or a shorter trace, or fewer seeds",
            key=time_key,
        )
    if scale.cpu_of_a_core < LEAST_CPU_OF_A_CORE * (1 - 1e-9):
        raise BadInputError(
            f"one of {scale.cpus:g} CPUs would be {scale.cpu_of_a_core:.2%} of one of this box's "
            f"{scale.cores} cores",
            allowed=f"{LEAST_CPU_OF_A_CORE:.0%} or more, which the kernel can enforce: at most "
            f"{CPU_SHARE * scale.cores / LEAST_CPU_OF_A_CORE:g} CPUs on this box, or a cpu_divisor "
            f"of at most {1 / LEAST_CPU_OF_A_CORE:g}",
            key="cluster.cpus" if settings.cpu_divisor == "auto" else "emulation.cpu_divisor",
        )
    if slowest_bps / divisors.bytes < LEAST_RATE_BPS:
        raise BadInputError(
            f"a storage link of {format_rate(slowest_bps)} would be emulated at "
            f"{format_rate(slowest_bps / divisors.bytes)}",
            allowed=f"{format_rate(LEAST_RATE_BPS)} or more after division by {divisors.bytes:g}",
            key=byte_key,
        )
    if scale.cache_bytes > CACHE_SHARE * memory_available_bytes * (1 + 1e-9):
        raise BadInputError(
            f"all caches together would take {format_size(scale.cache_bytes)}",
            allowed=f"{CACHE_SHARE:.0%} of the {format_size(memory_available_bytes)} of memory "
            "that are available, by a larger byte_divisor or stride",
            key=byte_key,
        )
    for step in scale.models:
        if step.splits and 0 < step.dataset_items < LEAST_DATASET_ITEMS:
            most_stride = divisors.stride * step.dataset_items / LEAST_DATASET_ITEMS
            raise BadInputError(
                f"a dataset of {step.model} would have {step.dataset_items} items (stride "
                f"{divisors.stride:g}, steps of {step.bundle} iterations of "
                f"{format_duration(step.step_s / step.bundle)}; at least {LEAST_STEP_S:g} s)",
                allowed=f"{LEAST_DATASET_ITEMS} or more: a stride of at most {most_stride:.4g}, "
                f"which needs {_duration_at(scale, most_stride)}",
                key=time_key,
            )


def _duration_at(scale: RoundsScale, stride: float) -> str:
    minutes = scale.wall_s * scale.divisors.stride / stride / ROUNDS_SHARE / 60
    return f"a duration of {math.ceil(minutes * 10) / 10:g} min"
