"""GPT-1, GPT-2 and GPT-3, of transformers: they predict the next token.

GPT-3's published architecture is GPT-2's but for attention that is sparse in every other layer
(Brown et al. 2020, section 2.1), which is dense here.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.optim import AdamW, Optimizer
from transformers import GPT2Config, GPT2LMHeadModel, OpenAIGPTConfig, OpenAIGPTLMHeadModel

from profiler.models.architectures.token_loss import following, token_loss
from profiler.models.architectures.transformer_size import TransformerSize
from profiler.models.formats.token_format import TokenFormat

_SIZES = {
    "gpt1": TransformerSize(layers=12, width=768, heads=12),
    "gpt2": TransformerSize(layers=48, width=1600, heads=25),
    "gpt3": TransformerSize(layers=24, width=2048, heads=16),
}
"""GPT-3 XL of Brown et al. 2020, table 2.1, has 24 heads of 128, which 2048 does not divide into:
16 heads of that width are meant."""
_TINY = TransformerSize(layers=2, width=128, heads=2)


class CausalLanguageModel(nn.Module):
    """decoder: one of transformers with a head that gives a score for each token."""

    def __init__(self, decoder: nn.Module) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """tokens: (n, length) int64. The mean cross-entropy of each token after the first."""
        return token_loss(self.decoder(input_ids=tokens).logits, following(tokens))


def make_network(name: str, tiny: bool, sample_format: TokenFormat) -> nn.Module:
    size = _TINY if tiny else _SIZES[name]
    shape: dict[str, Any] = {
        "vocab_size": sample_format.vocabulary,
        "n_positions": sample_format.tokens,
        "n_layer": size.layers,
        "n_embd": size.width,
        "n_head": size.heads,
        "bos_token_id": 0,
        "eos_token_id": 0,
    }
    if name == "gpt1":
        return CausalLanguageModel(OpenAIGPTLMHeadModel(OpenAIGPTConfig(**shape)))
    return CausalLanguageModel(GPT2LMHeadModel(GPT2Config(**shape, use_cache=False)))


def make_optimizer(parameters: list[nn.Parameter]) -> Optimizer:
    return AdamW(parameters, lr=1e-4, fused=True)
