"""Transformer-XL (Dai et al. 2019): a Transformer that also attends to the segment before.

In its size for single characters (enwik8), whose softmax is over all of a small vocabulary.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional
from torch.optim import Adam, Optimizer

from profiler.models.architectures.token_loss import token_loss
from profiler.models.architectures.transformer_size import TransformerSize
from profiler.models.formats.token_format import TokenFormat

_ENWIK8 = TransformerSize(layers=12, width=512, heads=8)
_TINY = TransformerSize(layers=2, width=128, heads=2)
_DROPOUT = 0.1


def distances(length: int, width: int, device: torch.device) -> torch.Tensor:
    """(length, width): sines and cosines of how far away a token is, the farthest first."""
    position = torch.arange(length - 1, -1, -1.0, device=device)
    frequency = 1 / 10000 ** (torch.arange(0, width, 2.0, device=device) / width)
    angle = torch.outer(position, frequency)
    return torch.cat((angle.sin(), angle.cos()), dim=-1)


def by_key(by_distance: torch.Tensor) -> torch.Tensor:
    """Scores by distance (..., queries, keys), the farthest first, moved to the keys they are for.

    Each query is one further than the one before, so that its row moves one less to the left
    (appendix B). Behind a query's own place lies what belongs to nobody.
    """
    *others, queries, keys = by_distance.shape
    padded = functional.pad(by_distance, (1, 0))
    shifted = padded.reshape(*others, keys + 1, queries)[..., 1:, :]
    return shifted.reshape(*others, queries, keys)


class RelativeAttention(nn.Module):
    """Attention by content and by distance (equation in section 3.3)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.queries_keys_values = nn.Linear(width, 3 * width, bias=False)
        self.of_distance = nn.Linear(width, width, bias=False)
        self.output = nn.Linear(width, width, bias=False)
        self.dropout = nn.Dropout(_DROPOUT)
        self.norm = nn.LayerNorm(width)

    def forward(
        self,
        states: torch.Tensor,
        memory: torch.Tensor,
        distance: torch.Tensor,
        content_bias: torch.Tensor,
        distance_bias: torch.Tensor,
    ) -> torch.Tensor:
        """states: (n, length, width), and so is the result; memory: what came before, likewise.

        distance: (length of both, width); the biases: (heads, width of a head).
        """
        length = states.shape[1]
        attended = self.queries_keys_values(torch.cat((memory, states), dim=1))
        queries, keys, values = (self._by_head(part) for part in attended.chunk(3, dim=-1))
        queries = queries[:, -length:]
        of_distance = self._by_head(self.of_distance(distance))
        by_content = torch.einsum("nqhw,nkhw->nhqk", queries + content_bias, keys)
        by_distance = torch.einsum("nqhw,khw->nhqk", queries + distance_bias, of_distance)
        scores = (by_content + by_key(by_distance)) * keys.shape[-1] ** -0.5
        later = torch.ones_like(scores[0, 0], dtype=torch.bool).triu(1 + memory.shape[1])
        weights = self.dropout(scores.masked_fill(later, -torch.inf).softmax(dim=-1))
        mean = torch.einsum("nhqk,nkhw->nqhw", weights, values).flatten(2)
        attention: torch.Tensor = self.norm(states + self.dropout(self.output(mean)))
        return attention

    def _by_head(self, states: torch.Tensor) -> torch.Tensor:
        return states.reshape(*states.shape[:-1], self.heads, -1)


class Layer(nn.Module):
    """Attention, and a network of two layers for each token."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = RelativeAttention(width, heads)
        self.each_token = nn.Sequential(
            nn.Linear(width, 4 * width),
            nn.ReLU(),
            nn.Dropout(_DROPOUT),
            nn.Linear(4 * width, width),
            nn.Dropout(_DROPOUT),
        )
        self.norm = nn.LayerNorm(width)

    def forward(
        self,
        states: torch.Tensor,
        memory: torch.Tensor,
        distance: torch.Tensor,
        content_bias: torch.Tensor,
        distance_bias: torch.Tensor,
    ) -> torch.Tensor:
        """As RelativeAttention."""
        states = self.attention(states, memory, distance, content_bias, distance_bias)
        result: torch.Tensor = self.norm(states + self.each_token(states))
        return result


class TransformerXl(nn.Module):
    """Predicts each token from those before it and from the memory of the batch before.

    Batches are drawn at random here, and so what is remembered is another text: the work is the
    same. The first batch, and one of another size than the one before, has a memory of zeros.
    """

    def __init__(self, vocabulary: int, size: TransformerSize) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, size.width)
        self.dropout = nn.Dropout(_DROPOUT)
        self.layers = nn.ModuleList(Layer(size.width, size.heads) for _ in range(size.layers))
        per_head = (size.heads, size.width // size.heads)
        self.content_bias = nn.Parameter(torch.zeros(per_head))
        self.distance_bias = nn.Parameter(torch.zeros(per_head))
        self.scores = nn.Linear(size.width, vocabulary)
        self.scores.weight = self.embedding.weight
        nn.init.normal_(self.embedding.weight, std=0.02)
        self._memory: list[torch.Tensor] = []

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """tokens: (n, length) int64. The mean cross-entropy of each token after the first."""
        states = self.dropout(self.embedding(tokens[:, :-1]))
        if not self._memory or self._memory[0].shape != states.shape:
            self._memory = [torch.zeros_like(states) for _ in self.layers]
        distance = distances(2 * states.shape[1], states.shape[2], states.device)
        remembered = []
        for layer, memory in zip(self.layers, self._memory, strict=True):
            remembered.append(states.detach())
            states = layer(states, memory, distance, self.content_bias, self.distance_bias)
        self._memory = remembered
        return token_loss(self.scores(self.dropout(states)), tokens[:, 1:])


def make_network(name: str, tiny: bool, sample_format: TokenFormat) -> nn.Module:
    return TransformerXl(sample_format.vocabulary, _TINY if tiny else _ENWIK8)


def make_optimizer(parameters: list[nn.Parameter]) -> Optimizer:
    return Adam(parameters, lr=2.5e-4, fused=True)
