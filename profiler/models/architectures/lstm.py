"""A language model of two LSTM layers, as in PyTorch's examples (word_language_model)."""

from __future__ import annotations

import torch
from torch import nn
from torch.optim import SGD, Optimizer

from profiler.models.architectures.token_loss import token_loss
from profiler.models.formats.token_format import TokenFormat

_WIDTH = 200  # of the tiny one too, whose vocabulary is small: that is most of its work


class LstmLanguageModel(nn.Module):
    """Predicts each token from those before it. width: of embeddings and states."""

    def __init__(self, vocabulary: int, width: int, layers: int = 2, dropout: float = 0.2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.LSTM(width, width, layers, dropout=dropout, batch_first=True)
        self.scores = nn.Linear(width, vocabulary)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """tokens: (n, length) int64. The mean cross-entropy of each token after the first."""
        states, _ = self.layers(self.dropout(self.embedding(tokens[:, :-1])))
        return token_loss(self.scores(self.dropout(states)), tokens[:, 1:])


def make_network(name: str, tiny: bool, sample_format: TokenFormat) -> nn.Module:
    return LstmLanguageModel(sample_format.vocabulary, _WIDTH)


def make_optimizer(parameters: list[nn.Parameter]) -> Optimizer:
    return SGD(parameters, lr=0.1, fused=True)
