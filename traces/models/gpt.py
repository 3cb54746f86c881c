"""GPT-1, GPT-2 and GPT-3, trained in mixed precision as with DeepSpeed.

GPT-1 is data-parallel, GPT-2 a pipeline of two stages, GPT-3 a pipeline of two stages of two tensor
parts each; what workers are left over are replicas.

Adam in mixed precision takes 16 bytes a parameter (Rajbhandari et al. 2020). So GPT-2's 1.5 billion
take 12.5 GB of each of the two GPUs. GPT-3's 175 billion would take 2.8 TB, more than all 24 GPUs
of CASSINI's cluster have; its smaller sizes are published beside it (Brown et al. 2020, table 2.1),
and the one of 1.3 billion takes 5.3 GB of each of four.
"""

from __future__ import annotations

from functools import partial

from traces.models.data_parallel import data_parallel
from traces.models.gpu import FLOAT16
from traces.models.hybrid_parallel import Layout, hybrid_parallel
from traces.models.known_model import MAX_WORKERS, KnownModel, Reconstruction
from traces.models.transformer import Transformer

GPT1 = Transformer(
    layers=12,
    hidden=768,
    vocabulary=40478,
    positions=512,
    tokens=512,
    outer_norms=0,
    predicts_tokens=True,
)
"""Radford et al. 2018, section 4.1; the vocabulary is that of the published model."""

GPT2 = Transformer(
    layers=48,
    hidden=1600,
    vocabulary=50257,
    positions=1024,
    tokens=1024,
    predicts_tokens=True,
)
"""Radford et al. 2019, table 2, the largest."""

GPT3 = Transformer(
    layers=24,
    hidden=2048,
    vocabulary=50257,
    positions=2048,
    tokens=2048,
    predicts_tokens=True,
)
"""Brown et al. 2020, table 2.1, "GPT-3 XL": not the one of 175 billion parameters."""


def _hybrid(
    model: Transformer,
    layers: str,
    stages: int,
    tensor_parts: int,
    num_workers: int,
    batch_per_gpu: int,
) -> Reconstruction:
    layout = Layout(stages, tensor_parts, num_workers // (stages * tensor_parts))
    return hybrid_parallel(model, layers, FLOAT16, layout, batch_per_gpu)


GPTS = (
    KnownModel(
        name="gpt1",
        reconstruct=partial(
            data_parallel, GPT1.size, f"Radford et al. 2018, {GPT1.tokens} tokens", FLOAT16
        ),
        default_batch=32,
        recalled_batches=(32, 80),
    ),
    KnownModel(
        name="gpt2",
        reconstruct=partial(_hybrid, GPT2, "Radford et al. 2019, 1.5 billion", 2, 1),
        default_batch=6,
        recalled_batches=(32, 80),
        workers=range(2, MAX_WORKERS + 1, 2),
    ),
    KnownModel(
        name="gpt3",
        reconstruct=partial(
            _hybrid, GPT3, "Brown et al. 2020, the size of 1.3 billion (not of 175)", 2, 2
        ),
        default_batch=3,
        recalled_batches=(16, 48),
        workers=range(4, MAX_WORKERS + 1, 4),
    ),
)
