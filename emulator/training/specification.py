"""What the processes of a worker are told, and what they tell: plain data that JSON carries.

All amounts are scaled: bytes, CPU seconds and items as they are on this box.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Work = Literal["hash", "jpeg"]


@dataclass(frozen=True)
class EpochPosition:
    """Where in the dataset a worker is: ``item`` items of epoch ``epoch`` have been taken."""

    epoch: int = 0
    item: int = 0


@dataclass(frozen=True)
class StorageRoute:
    """How a loader reaches the storage server of its host, and how its packets are told apart."""

    own_address: str
    address: str
    port: int
    dscp: int
    window_bytes: int
    congestion_control: str


@dataclass(frozen=True)
class Pipeline:
    """What an input pipeline does for one step of its worker, which is one emulated iteration.

    items: that make a step. item_bytes: of one. dataset_items: in the worker's part of the dataset;
    with 0 nothing is read. cpu_s_per_item: CPU time of preparing one, over all threads.
    """

    items: int
    item_bytes: int
    dataset_items: int
    cpu_s_per_item: float


@dataclass(frozen=True)
class PipelineShare:
    """What a lease gives to a pipeline.

    cache_bytes: exactly. threads: that prepare items; more than the cores of this box that the
    pipeline's CPU time amounts to, rounded up, cost time and win none. cpu_cores: of this box, that
    the kernel holds it to; None where nothing does.
    """

    cache_bytes: int
    threads: int
    cpu_cores: float | None = None


@dataclass(frozen=True)
class PipelineState:
    """What a checkpoint keeps of a pipeline.

    position: behind the steps that were trained on; the ready items follow it. cached: items with a
    place in the cache, in the order in which they came in; after a restart it is filled anew with
    these. ready_items: that are prepared and not trained on; of whole steps and of a part of one.
    """

    position: EpochPosition = EpochPosition()
    cached: tuple[int, ...] = ()
    ready_items: int = 0


@dataclass(frozen=True)
class LoaderSpecification:
    """All that a loader process needs."""

    namespace: str | None
    route: StorageRoute | None
    pipeline: Pipeline
    share: PipelineShare
    state: PipelineState
    shuffle_seed: int
    prefetch_steps: int = 2
    work: Work = "hash"


@dataclass(frozen=True)
class LoaderReport:
    """What a pipeline has done since it started.

    hits, misses: of items that were looked up, which is before they are prepared. cpu_s: CPU time
    used until the last item was prepared, reading included; demanded_cpu_s: what the items should
    take. The used time is more where reading alone costs more. epoch_hits: of the last epochs that
    it looked up from their first to their last item, the newest last.
    """

    state: PipelineState
    hits: int
    misses: int
    fetched_bytes: int
    prepared_items: int
    cpu_s: float
    demanded_cpu_s: float
    epoch_hits: tuple[int, ...] = field(default=())


def pipeline_of(message: Mapping[str, Any]) -> Pipeline:
    """From what ``dataclasses.asdict`` made of it, by way of JSON or not."""
    return Pipeline(**message)


def share_of(message: Mapping[str, Any]) -> PipelineShare:
    """From what ``dataclasses.asdict`` made of it, by way of JSON or not."""
    return PipelineShare(**message)


def pipeline_state_of(message: Mapping[str, Any]) -> PipelineState:
    """From what ``dataclasses.asdict`` made of it, by way of JSON or not."""
    return PipelineState(
        EpochPosition(**message["position"]), tuple(message["cached"]), message["ready_items"]
    )


def loader_specification_of(message: Mapping[str, Any]) -> LoaderSpecification:
    """From what ``dataclasses.asdict`` made of it, by way of JSON or not."""
    route = message["route"]
    return LoaderSpecification(
        **{
            **message,
            "route": None if route is None else StorageRoute(**route),
            "pipeline": pipeline_of(message["pipeline"]),
            "share": share_of(message["share"]),
            "state": pipeline_state_of(message["state"]),
        }
    )
