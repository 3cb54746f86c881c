"""Translation with recurrent layers and attention, as Google's (Wu et al. 2016).

In the shape in which MLPerf had it, with four layers a side (NVIDIA DeepLearningExamples,
PyTorch/Translation/GNMT): both languages share the embedding, and attention is normalised.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional
from torch.optim import Adam, Optimizer

from profiler.models.architectures.token_loss import token_loss
from profiler.models.formats.token_format import TokenFormat

_WIDTH, _TINY_WIDTH = 1024, 128
_DROPOUT = 0.2
_LABEL_SMOOTHING = 0.1


def _lstm(inputs: int, width: int, both_ways: bool = False) -> nn.LSTM:
    return nn.LSTM(inputs, width, batch_first=True, bidirectional=both_ways)


class NormalisedAttention(nn.Module):
    """Additive attention (Bahdanau et al. 2015) whose vector has a learned length."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.of_query = nn.Linear(width, width, bias=False)
        self.of_key = nn.Linear(width, width, bias=False)
        self.bias = nn.Parameter(torch.zeros(width))
        self.direction = nn.Parameter(torch.empty(width).uniform_(-0.1, 0.1))
        self.length = nn.Parameter(torch.tensor(width**-0.5))

    def forward(self, queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        """queries: (n, target, width); keys: (n, source, width). Their mean for each query."""
        vector = self.length * functional.normalize(self.direction, dim=0)
        both = self.of_query(queries).unsqueeze(2) + self.of_key(keys).unsqueeze(1) + self.bias
        weights = (torch.tanh(both) @ vector).softmax(dim=-1)
        return weights @ keys


class Encoder(nn.Module):
    """The first layer reads both ways; residual connections from the third layer on."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dropout = nn.Dropout(_DROPOUT)
        self.both_ways = _lstm(width, width, both_ways=True)
        self.second = _lstm(2 * width, width)
        self.residual = nn.ModuleList([_lstm(width, width), _lstm(width, width)])

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """states: (n, length, width), and so is the result."""
        states, _ = self.both_ways(self.dropout(states))
        states, _ = self.second(self.dropout(states))
        for layer in self.residual:
            states = states + layer(self.dropout(states))[0]
        return states


class Decoder(nn.Module):
    """What the first layer attends to is an input of all others."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dropout = nn.Dropout(_DROPOUT)
        self.first = _lstm(width, width)
        self.attention = NormalisedAttention(width)
        self.second = _lstm(2 * width, width)
        self.residual = nn.ModuleList([_lstm(2 * width, width), _lstm(2 * width, width)])

    def forward(self, states: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        """states: (n, target, width), and so is the result; source: (n, source, width)."""
        states, _ = self.first(self.dropout(states))
        context = self.attention(states, source)
        states, _ = self.second(self.dropout(torch.cat((states, context), dim=-1)))
        for layer in self.residual:
            inputs = self.dropout(torch.cat((states, context), dim=-1))
            states = states + layer(inputs)[0]
        return states


class Gnmt(nn.Module):
    """Predicts each token of a translation from the source and the translation before it."""

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.encoder = Encoder(width)
        self.decoder = Decoder(width)
        self.scores = nn.Linear(width, vocabulary)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """tokens: (n, length) int64, the first half the source. The mean cross-entropy."""
        source, target = tokens.chunk(2, dim=1)
        read = self.encoder(self.embedding(source))
        states = self.decoder(self.embedding(target[:, :-1]), read)
        return token_loss(self.scores(states), target[:, 1:], _LABEL_SMOOTHING)


def make_network(name: str, tiny: bool, sample_format: TokenFormat) -> nn.Module:
    return Gnmt(sample_format.vocabulary, _TINY_WIDTH if tiny else _WIDTH)


def make_optimizer(parameters: list[nn.Parameter]) -> Optimizer:
    return Adam(parameters, lr=1e-3, fused=True)
