"""BERT and its kin, data-parallel: the encoder alone, for a task's head is small beside it.

Sequences are as long as the encoder allows, 512 tokens: an assumption.
"""

from __future__ import annotations

from functools import partial

from traces.models.data_parallel import data_parallel
from traces.models.gpu import FLOAT32
from traces.models.known_model import KnownModel
from traces.models.transformer import Transformer

BERT = Transformer(
    layers=12,
    hidden=768,
    vocabulary=30522,
    positions=512,
    tokens=512,
    token_types=2,
    pooler=True,
)
"""BERT-base, uncased (Devlin et al. 2019): the smaller of its two published sizes, as RoBERTa-base
and CamemBERT-base are. Which one CASSINI trained is not known to us."""

ROBERTA = Transformer(
    layers=12,
    hidden=768,
    vocabulary=50265,
    positions=514,
    tokens=512,
    token_types=1,
    pooler=True,
)
"""RoBERTa-base (Liu et al. 2019): BERT-base with a larger vocabulary."""

CAMEMBERT = Transformer(
    layers=12,
    hidden=768,
    vocabulary=32005,
    positions=514,
    tokens=512,
    token_types=1,
    pooler=True,
)
"""CamemBERT-base (Martin et al. 2020): RoBERTa-base with a French vocabulary."""

XLM = Transformer(layers=16, hidden=1280, vocabulary=200_000, positions=512, tokens=512)
"""XLM-100 (Conneau and Lample 2019; published configuration xlm-mlm-100-1280): the size of XLM
whose parameters are published, 570 million (Conneau et al. 2020)."""


def _encoder(
    name: str, model: Transformer, layers: str, recalled_batches: tuple[int, int]
) -> KnownModel:
    return KnownModel(
        name=name,
        reconstruct=partial(
            data_parallel, model.size, f"{layers}, {model.tokens} tokens (assumed)", FLOAT32
        ),
        default_batch=16,
        recalled_batches=recalled_batches,
    )


ENCODERS = (
    _encoder("bert", BERT, "BERT-base, Devlin et al. 2019", (8, 32)),
    _encoder("roberta", ROBERTA, "RoBERTa-base, Liu et al. 2019", (8, 32)),
    _encoder("xlm", XLM, "XLM-100, Conneau and Lample 2019", (4, 32)),
    _encoder("camembert", CAMEMBERT, "CamemBERT-base, Martin et al. 2020", (8, 32)),
)
