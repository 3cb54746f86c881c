"""A transformer split into pipeline stages and tensor parts, with data-parallel replicas of that.

Sources: GPipe (Huang et al. 2019) for the pipeline, Megatron-LM (Shoeybi et al. 2019) for the two
all-reduces of activations in each layer and pass, Narayanan et al. 2021 for the two together.
"""

from __future__ import annotations

from dataclasses import dataclass

from traces.demand import Demand, Pattern, Transfer
from traces.models.collectives import ring_all_reduce_wire_bytes, ring_pairs
from traces.models.gpu import FORWARD_AND_BACKWARD, Precision, compute_s, words_on_compute
from traces.models.known_model import Reconstruction
from traces.models.transformer import Transformer

MICRO_BATCHES = 3
"""Of a batch: an assumption. With two stages of two tensor parts it gives the servers of the first
stage six Up phases in an iteration, as many as CASSINI counts for GPT-3."""

_ALL_REDUCES_A_LAYER = 2  # after attention and after feed-forward, in either pass
_FORWARD, _BACKWARD = 1, -1  # to the next stage, to the one before


@dataclass(frozen=True)
class Layout:
    """``stages`` x ``tensor_parts`` GPUs hold one replica; neighbouring ranks are of one stage."""

    stages: int
    tensor_parts: int
    replicas: int

    @property
    def gpus_of_replica(self) -> int:
        """GPUs that hold the model once."""
        return self.stages * self.tensor_parts

    def rank(self, replica: int, stage: int, part: int) -> int:
        """The rank that holds this part of this stage."""
        return (replica * self.stages + stage) * self.tensor_parts + part

    def ranks(self, stage: int) -> list[list[int]]:
        """Ranks of ``stage``, a list of its tensor parts for each replica."""
        return [
            [self.rank(replica, stage, part) for part in range(self.tensor_parts)]
            for replica in range(self.replicas)
        ]


@dataclass(frozen=True)
class _Bytes:
    """On the wire, of one sender: of a micro-batch's pass, or of an iteration."""

    tensor_all_reduces: float
    activations: float
    data_all_reduce: float
    tied_embeddings: float


def hybrid_parallel(
    model: Transformer, layers: str, precision: Precision, layout: Layout, batch_per_gpu: int
) -> Reconstruction:
    """A batch passes the stages in micro-batches, forward, then backward; one GPU a rank.

    Every step of the pipeline computes and then waits for its traffic: the all-reduces among the
    tensor parts, drawn as one burst at the step's end, and the activations (or their gradients)
    for the next stage. A stage sums its gradients over the replicas once its last micro-batch is
    through; the first and the last stage both hold the token embeddings, and sum those gradients
    at the end. Parameters are spread evenly over the stages. The matrices of attention are not kept
    for the backward pass; what it costs to make them again is left out.
    """
    samples = batch_per_gpu * layout.gpus_of_replica / MICRO_BATCHES
    step_s = compute_s(model.size.forward_macs * samples / layout.gpus_of_replica, precision)
    forward_s = step_s / FORWARD_AND_BACKWARD
    sent = _bytes(model, precision, layout, samples)
    stages = range(layout.stages)
    transfers: list[Transfer] = []
    now_s = 0.0
    for step in range(MICRO_BATCHES + layout.stages - 1):
        now_s += forward_s
        transfers += _step(layout, sent, now_s, _FORWARD, _busy(stages, step))
    backward = stages[::-1]
    for step in range(MICRO_BATCHES + layout.stages - 1):
        now_s += step_s - forward_s
        transfers += _step(layout, sent, now_s, _BACKWARD, _busy(backward, step))
        if step >= MICRO_BATCHES - 1:
            through = backward[step - MICRO_BATCHES + 1]
            transfers += _data_all_reduce(layout, sent, now_s, through)
    transfers += _tied_embeddings(layout, sent, now_s)
    source = _source(model, layers, precision, layout, batch_per_gpu)
    return Reconstruction(Demand(now_s, tuple(transfers)), source)


def _busy(order: range, step: int) -> list[int]:
    """The stages that have a micro-batch in this step; they get them in ``order``."""
    return [stage for place, stage in enumerate(order) if 0 <= step - place < MICRO_BATCHES]


def _bytes(model: Transformer, precision: Precision, layout: Layout, samples: float) -> _Bytes:
    activations = samples * model.numbers_between_layers * precision.number_bytes
    all_reduces = _ALL_REDUCES_A_LAYER * model.layers / layout.stages
    gradients = model.size.parameters * precision.number_bytes / layout.gpus_of_replica
    embeddings = model.vocabulary * model.hidden * precision.number_bytes / layout.tensor_parts
    return _Bytes(
        tensor_all_reduces=all_reduces
        * ring_all_reduce_wire_bytes(activations, layout.tensor_parts),
        activations=activations,
        data_all_reduce=ring_all_reduce_wire_bytes(gradients, layout.replicas),
        tied_embeddings=ring_all_reduce_wire_bytes(embeddings, 2),
    )


def _step(
    layout: Layout, sent: _Bytes, now_s: float, direction: int, busy: list[int]
) -> list[Transfer]:
    """What the ``busy`` stages send at the end of one step of the pipeline."""
    parts = ring_pairs(ranks for stage in busy for ranks in layout.ranks(stage))
    neighbours = tuple(
        (layout.rank(replica, stage, part), layout.rank(replica, stage + direction, part))
        for stage in busy
        if stage + direction in range(layout.stages)
        for replica in range(layout.replicas)
        for part in range(layout.tensor_parts)
    )
    return [
        *_between(parts, sent.tensor_all_reduces, now_s, "tensor all-reduces", blocking=True),
        *_between(neighbours, sent.activations, now_s, "activations", blocking=True),
    ]


def _data_all_reduce(layout: Layout, sent: _Bytes, now_s: float, stage: int) -> list[Transfer]:
    replicas = ring_pairs(zip(*layout.ranks(stage), strict=True))
    return _between(replicas, sent.data_all_reduce, now_s, "data all-reduce", blocking=False)


def _tied_embeddings(layout: Layout, sent: _Bytes, now_s: float) -> list[Transfer]:
    if layout.stages == 1:
        return []
    first, last = layout.ranks(0), layout.ranks(layout.stages - 1)
    ends = ring_pairs(
        pair for a, b in zip(first, last, strict=True) for pair in zip(a, b, strict=True)
    )
    return _between(ends, sent.tied_embeddings, now_s, "tied embeddings", blocking=False)


def _between(
    pairs: tuple[tuple[int, int], ...],
    size_bytes: float,
    now_s: float,
    name: str,
    *,
    blocking: bool,
) -> list[Transfer]:
    """The transfer between ``pairs``; none where there are none."""
    if not pairs:
        return []
    return [Transfer(now_s, size_bytes, Pattern.PAIRS, blocking, pairs=pairs, name=name)]


def _source(
    model: Transformer, layers: str, precision: Precision, layout: Layout, batch_per_gpu: int
) -> str:
    tensor = (
        f"{_ALL_REDUCES_A_LAYER} all-reduces of activations a layer and pass among tensor parts; "
        if layout.tensor_parts > 1
        else ""
    )
    return (
        f"layers of {layers}, {model.tokens} tokens: {model.size.parameters:,} parameters in "
        f"{precision.name}; {layout.stages} stages x {layout.tensor_parts} tensor parts x "
        f"{layout.replicas} replicas, {MICRO_BATCHES} micro-batches (assumed); {tensor}"
        f"{words_on_compute(model.size.forward_macs, precision, batch_per_gpu)}"
    )
