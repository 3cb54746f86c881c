"""Deep Speech 2 (Amodei et al. 2016) in the shape of deepspeech.pytorch: convolutions over the
spectrogram, recurrent layers that read both ways and add up what they read, and CTC.
"""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import nn
from torch.nn import functional
from torch.optim import SGD, Optimizer

from profiler.models.formats.spectrogram_format import CHARACTERS, FREQUENCIES, SpectrogramFormat

_BLANK = 0

Number = TypeVar("Number", int, torch.Tensor)


class BothWays(nn.Module):
    """A recurrent layer (GRU), the sum of both directions, behind a normalisation of its input."""

    def __init__(self, inputs: int, width: int, normalised: bool = True) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(inputs) if normalised else nn.Identity()
        self.layer = nn.GRU(inputs, width, bidirectional=True)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """states: (frames, n, inputs); the result: (frames, n, width)."""
        states, _ = self.layer(self.norm(states.flatten(0, 1)).unflatten(0, states.shape[:2]))
        return states.reshape(*states.shape[:2], 2, -1).sum(dim=2)


class DeepSpeech(nn.Module):
    """channels: of the two convolutions, which leave every fourth frequency and every second frame.

    width, layers: of the recurrent layers.
    """

    def __init__(self, channels: int, width: int, layers: int, characters: int) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(
            nn.Conv2d(1, channels, (41, 11), stride=(2, 2), padding=(20, 5)),
            nn.BatchNorm2d(channels),
            nn.Hardtanh(0, 20),
            nn.Conv2d(channels, channels, (21, 11), stride=(2, 1), padding=(10, 5)),
            nn.BatchNorm2d(channels),
            nn.Hardtanh(0, 20),
        )
        inputs = channels * _halved(_halved(FREQUENCIES))
        self.recurrent = nn.Sequential(
            BothWays(inputs, width, normalised=False),
            *(BothWays(width, width) for _ in range(layers - 1)),
        )
        self.norm = nn.BatchNorm1d(width)
        self.scores = nn.Linear(width, characters, bias=False)

    def forward(
        self,
        spectrogram: torch.Tensor,
        frames: torch.Tensor,
        characters: torch.Tensor,
        said: torch.Tensor,
    ) -> torch.Tensor:
        """spectrogram: (n, FREQUENCIES, longest); frames: (n,), those without padding.

        characters: (n, most); said: (n,), how many of them count. The mean CTC loss.
        """
        heard = self.convolutions(spectrogram.unsqueeze(1)).flatten(1, 2)
        states = self.recurrent(heard.permute(2, 0, 1))
        scores = self.scores(self.norm(states.flatten(0, 1))).unflatten(0, states.shape[:2])
        # In 16 bits a sum over so many frames is no likelihood.
        likelihoods = scores.float().log_softmax(dim=-1)
        return functional.ctc_loss(
            likelihoods, characters, _halved(frames), said, blank=_BLANK, zero_infinity=True
        )


def _halved(number: Number) -> Number:
    """What a convolution of stride 2 leaves, padded by half its odd width."""
    return (number - 1) // 2 + 1


def make_network(name: str, tiny: bool, sample_format: SpectrogramFormat) -> nn.Module:
    if tiny:
        return DeepSpeech(channels=4, width=64, layers=2, characters=CHARACTERS)
    return DeepSpeech(channels=32, width=800, layers=5, characters=CHARACTERS)


def make_optimizer(parameters: list[nn.Parameter]) -> Optimizer:
    return SGD(parameters, lr=3e-4, momentum=0.9, nesterov=True, fused=True)
