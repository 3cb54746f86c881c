"""DLRM (Naumov et al. 2019): a network for numbers, rows of tables, and a network for both.

In the configuration of traces/models/dlrm.py, on one device.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import nn
from torch.nn import functional
from torch.optim import SGD, Optimizer

from profiler.models.formats.click_format import ClickFormat


@dataclass(frozen=True)
class _Size:
    """bottom, top: how wide their layers are behind the input. columns: of the tables."""

    bottom: tuple[int, ...]
    columns: int
    top: tuple[int, ...]


_PUBLISHED = _Size(bottom=(2048,) * 7, columns=128, top=(4096,) * 15)
_TINY = _Size(bottom=(128,) * 2, columns=16, top=(256,) * 2)


class Dlrm(nn.Module):
    """Says how likely a click is. Gradients of the tables are dense: each iteration looks up about
    as many rows as there are.
    """

    def __init__(self, size: _Size, sample_format: ClickFormat) -> None:
        super().__init__()
        self.bottom = _layers((sample_format.numbers, *size.bottom))
        self.tables = nn.ModuleList(
            nn.EmbeddingBag(sample_format.rows, size.columns, mode="sum")
            for _ in range(sample_format.tables)
        )
        inputs = size.bottom[-1] + sample_format.tables * size.columns
        self.top = nn.Sequential(_layers((inputs, *size.top)), nn.Linear(size.top[-1], 1))

    def forward(
        self, numbers: torch.Tensor, rows: torch.Tensor, clicked: torch.Tensor
    ) -> torch.Tensor:
        """numbers: (n, numbers); rows: (n, tables, lookups) int64; clicked: (n,), 0 or 1.

        The mean cross-entropy.
        """
        looked_up = [
            table(rows_of_table)
            for table, rows_of_table in zip(self.tables, rows.unbind(dim=1), strict=True)
        ]
        score = self.top(torch.cat((self.bottom(numbers), *looked_up), dim=-1))
        return functional.binary_cross_entropy_with_logits(score.squeeze(-1), clicked)


def _layers(widths: tuple[int, ...]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers)


def make_network(name: str, tiny: bool, sample_format: ClickFormat) -> nn.Module:
    return Dlrm(_TINY if tiny else _PUBLISHED, sample_format)


def make_optimizer(parameters: list[nn.Parameter]) -> Optimizer:
    return SGD(parameters, lr=0.01, fused=True)
