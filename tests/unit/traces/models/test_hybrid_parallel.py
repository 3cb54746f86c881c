"""GPT-2 and GPT-3: pipeline stages, tensor parts and replicas."""

from __future__ import annotations

from collections import defaultdict

import pytest

from traces.demand import Demand, Transfer, demand_curve
from traces.models import RECONSTRUCTED
from traces.models.gpt import GPT2, GPT3
from traces.models.gpu import FLOAT16, compute_s
from traces.models.hybrid_parallel import MICRO_BATCHES, Layout, hybrid_parallel

NUMBER_BYTES = 2
LINE_RATE_BPS = 50e9


def sent_by_kind(demand: Demand, rank: int) -> dict[str, float]:
    """Bytes that ``rank`` sends in an iteration, by the transfers' names."""
    kinds: dict[str, float] = defaultdict(float)
    for transfer in demand.transfers:
        if sent := transfer.sent_bytes(rank):
            kinds[transfer.name] += sent
    return kinds


def bursts(demand: Demand, rank: int) -> int:
    """How many times ``rank`` sends with compute in between."""
    return len({transfer.ready_s for transfer in demand.transfers if transfer.sent_bytes(rank)})


def named(demand: Demand, name: str) -> list[Transfer]:
    return [transfer for transfer in demand.transfers if transfer.name == name]


def test_gpt2_sends_small_activations_forward_and_then_all_its_gradients() -> None:
    demand = RECONSTRUCTED["gpt2"].profile(4, 6).demand
    replica_batch = 2 * 6
    activations = replica_batch * GPT2.tokens * GPT2.hidden * NUMBER_BYTES
    for rank in range(4):
        kinds = sent_by_kind(demand, rank)
        assert kinds == {
            "activations": pytest.approx(activations),  # forward or their gradients backward
            "data all-reduce": pytest.approx(GPT2.size.parameters / 2 * NUMBER_BYTES),
            "tied embeddings": pytest.approx(GPT2.vocabulary * GPT2.hidden * NUMBER_BYTES),
        }
        assert bursts(demand, rank) == MICRO_BATCHES + 1
    curve = demand_curve(demand, LINE_RATE_BPS)
    lengths = [phase.end_s - phase.start_s for phase in curve.phases]
    assert len(lengths) == MICRO_BATCHES + 1
    assert 20 * max(lengths[:-1]) < lengths[-1]


def test_a_pipeline_of_two_workers_has_no_replicas_to_agree_with() -> None:
    kinds = sent_by_kind(RECONSTRUCTED["gpt2"].profile(2).demand, 0)
    assert set(kinds) == {"activations", "tied embeddings"}


def test_gpt3_has_six_up_phases_at_the_servers_of_its_first_stage() -> None:
    demand = RECONSTRUCTED["gpt3"].profile(8).demand
    assert [bursts(demand, rank) for rank in (0, 1, 4, 5)] == [6] * 4
    assert len(demand_curve(demand, LINE_RATE_BPS).phases) == 6
    # the last stage waits for the first to sum the token embeddings with it
    assert [bursts(demand, rank) for rank in (2, 3, 6, 7)] == [7] * 4


def test_gpt3_sends_what_each_kind_of_parallelism_asks_for() -> None:
    demand = RECONSTRUCTED["gpt3"].profile(8, 3).demand
    activations = 4 * 3 * GPT3.tokens * GPT3.hidden * NUMBER_BYTES  # of a replica's batch
    # two all-reduces in each of a stage's 12 layers, forward and backward, each 2 (n-1)/n = 1 x
    tensor = 2 * 12 * 2 * activations
    for rank in range(8):
        assert sent_by_kind(demand, rank) == {
            "tensor all-reduces": pytest.approx(tensor),
            "activations": pytest.approx(activations),
            "data all-reduce": pytest.approx(GPT3.size.parameters / 4 * NUMBER_BYTES),
            "tied embeddings": pytest.approx(GPT3.vocabulary * GPT3.hidden / 2 * NUMBER_BYTES),
        }


@pytest.mark.parametrize(("stages", "tensor_parts", "replicas"), [(2, 1, 1), (2, 2, 2), (4, 3, 1)])
def test_a_pipeline_idles_while_it_fills_and_drains(
    stages: int, tensor_parts: int, replicas: int
) -> None:
    layout = Layout(stages, tensor_parts, replicas)
    demand = hybrid_parallel(GPT2, "", FLOAT16, layout, 6).demand
    busy_s = compute_s(6 * GPT2.size.forward_macs, FLOAT16)
    slots = MICRO_BATCHES + stages - 1
    assert demand.compute_s == pytest.approx(busy_s * slots / MICRO_BATCHES)


def test_every_micro_batch_passes_every_border_once_in_each_direction() -> None:
    layout = Layout(stages=3, tensor_parts=2, replicas=2)
    passed: dict[tuple[int, int], int] = defaultdict(int)
    for transfer in named(hybrid_parallel(GPT2, "", FLOAT16, layout, 6).demand, "activations"):
        assert transfer.blocking
        for pair in transfer.pairs:
            passed[pair] += 1
    borders = {(a, a + 2) for a in (0, 1, 2, 3, 6, 7, 8, 9)}  # to the same part of the next stage
    assert passed == dict.fromkeys(borders | {(b, a) for a, b in borders}, MICRO_BATCHES)


def test_a_micro_batch_reaches_a_stage_after_the_one_before_has_sent_it() -> None:
    demand = hybrid_parallel(GPT2, "", FLOAT16, Layout(3, 1, 1), 6).demand
    hops = [transfer.pairs for transfer in named(demand, "activations")]
    assert hops == [
        ((0, 1),), ((0, 1), (1, 2)), ((0, 1), (1, 2)), ((1, 2),),
        ((2, 1),), ((2, 1), (1, 0)), ((2, 1), (1, 0)), ((1, 0),),
    ]  # fmt: skip


def test_rings_stay_within_their_parts_and_replicas() -> None:
    demand = hybrid_parallel(GPT2, "", FLOAT16, Layout(2, 2, 3), 6).demand
    for transfer in named(demand, "tensor all-reduces"):
        assert transfer.blocking
        assert all(a // 2 == b // 2 for a, b in transfer.pairs)
    replicas = named(demand, "data all-reduce")
    assert [sorted({a % 4 for a, _ in transfer.pairs}) for transfer in replicas] == [[2, 3], [0, 1]]
    assert all(a % 4 == b % 4 and len(t.pairs) == 6 for t in replicas for a, b in t.pairs)
    (ends,) = named(demand, "tied embeddings")
    assert {frozenset(pair) for pair in ends.pairs} == {
        frozenset((4 * replica + part, 4 * replica + 2 + part))
        for replica in range(3)
        for part in range(2)
    }


def test_one_gpu_sends_nothing() -> None:
    assert hybrid_parallel(GPT2, "", FLOAT16, Layout(1, 1, 1), 6).demand.transfers == ()


def test_the_source_says_how_the_model_is_split() -> None:
    source = RECONSTRUCTED["gpt3"].profile(8).source
    assert "1.3 billion (not of 175)" in source
    assert "2 stages x 2 tensor parts x 2 replicas, 3 micro-batches (assumed)" in source
