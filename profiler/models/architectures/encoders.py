"""BERT and its kin, of transformers: they fill in the tokens that are hidden from them."""

from __future__ import annotations

import torch
from torch import nn
from torch.optim import AdamW, Optimizer
from transformers import (
    BertConfig,
    BertForMaskedLM,
    CamembertConfig,
    CamembertForMaskedLM,
    RobertaConfig,
    RobertaForMaskedLM,
    XLMConfig,
    XLMWithLMHeadModel,
)

from profiler.models.architectures.token_loss import token_loss
from profiler.models.architectures.transformer_size import TransformerSize
from profiler.models.formats.token_format import TokenFormat

_BASE = TransformerSize(layers=12, width=768, heads=12)
_XLM_100 = TransformerSize(layers=16, width=1280, heads=16)
_TINY = TransformerSize(layers=2, width=128, heads=2)

_KIN_OF_BERT = {
    "bert": (BertConfig, BertForMaskedLM),
    "roberta": (RobertaConfig, RobertaForMaskedLM),
    "camembert": (CamembertConfig, CamembertForMaskedLM),
}


class MaskedLanguageModel(nn.Module):
    """encoder: one of transformers with a head that gives a score for each token."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, tokens: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """tokens, hidden: (n, length) int64, as TokenFormat gives them. The mean cross-entropy."""
        return token_loss(self.encoder(input_ids=tokens).logits, hidden)


def make_network(name: str, tiny: bool, sample_format: TokenFormat) -> nn.Module:
    if name == "xlm":
        return MaskedLanguageModel(_xlm(_TINY if tiny else _XLM_100, sample_format))
    return MaskedLanguageModel(_kin_of_bert(name, _TINY if tiny else _BASE, sample_format))


def make_optimizer(parameters: list[nn.Parameter]) -> Optimizer:
    return AdamW(parameters, lr=1e-4, fused=True)


def _kin_of_bert(name: str, size: TransformerSize, sample_format: TokenFormat) -> nn.Module:
    make_config, make_model = _KIN_OF_BERT[name]
    of_bert = name == "bert"
    config = make_config(
        vocab_size=sample_format.vocabulary,
        # RoBERTa counts positions from behind the padding token, the second of its vocabulary.
        max_position_embeddings=sample_format.tokens + (0 if of_bert else 2),
        type_vocab_size=2 if of_bert else 1,
        num_hidden_layers=size.layers,
        hidden_size=size.width,
        num_attention_heads=size.heads,
        intermediate_size=4 * size.width,
    )
    encoder: nn.Module = make_model(config)
    return encoder


def _xlm(size: TransformerSize, sample_format: TokenFormat) -> nn.Module:
    config = XLMConfig(
        vocab_size=sample_format.vocabulary,
        max_position_embeddings=sample_format.tokens,
        n_layers=size.layers,
        emb_dim=size.width,
        n_heads=size.heads,
        use_lang_emb=False,
    )
    return XLMWithLMHeadModel(config)
