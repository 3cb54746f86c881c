"""M5 (Dai et al. 2017, table 1): five layers of convolutions on raw sound."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import nn
from torch.nn import functional
from torch.optim import Adam, Optimizer

from profiler.models.formats.waveform_format import WaveformFormat

_CHANNELS, _TINY_CHANNELS = (128, 128, 256, 512), (8, 8, 16, 32)


class M5(nn.Module):
    """Tells sounds apart. channels: of the four convolutions."""

    def __init__(self, channels: tuple[int, ...], classes: int) -> None:
        super().__init__()
        layers = _layer(1, channels[0], kernel=80, stride=4)
        for inputs, outputs in pairwise(channels):
            layers += _layer(inputs, outputs, kernel=3, stride=1)
        self.layers = nn.Sequential(*layers)
        self.scores = nn.Linear(channels[-1], classes)

    def forward(self, sound: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """sound: (n, 1, samples); labels: (n,) int64. The mean cross-entropy."""
        return functional.cross_entropy(self.scores(self.layers(sound).mean(dim=-1)), labels)


def _layer(inputs: int, outputs: int, kernel: int, stride: int) -> list[nn.Module]:
    return [
        nn.Conv1d(inputs, outputs, kernel, stride, padding=kernel // 2),
        nn.BatchNorm1d(outputs),
        nn.ReLU(),
        nn.MaxPool1d(4),
    ]


def make_network(name: str, tiny: bool, sample_format: WaveformFormat) -> nn.Module:
    return M5(_TINY_CHANNELS if tiny else _CHANNELS, sample_format.classes)


def make_optimizer(parameters: list[nn.Parameter]) -> Optimizer:
    return Adam(parameters, lr=1e-3, fused=True)
