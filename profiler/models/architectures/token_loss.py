"""How well scores say which tokens there are."""

from __future__ import annotations

import torch
from torch.nn import functional

from profiler.models.formats.token_format import NOT_PREDICTED


def token_loss(
    scores: torch.Tensor, tokens: torch.Tensor, label_smoothing: float = 0.0
) -> torch.Tensor:
    """scores: (n, length, vocabulary); tokens: (n, length), NOT_PREDICTED where none is asked for.

    The mean cross-entropy.
    """
    return functional.cross_entropy(
        scores.flatten(0, 1),
        tokens.flatten(),
        ignore_index=NOT_PREDICTED,
        label_smoothing=label_smoothing,
    )


def following(tokens: torch.Tensor) -> torch.Tensor:
    """What follows each of ``tokens`` (n, length): NOT_PREDICTED after the last."""
    return functional.pad(tokens[:, 1:], (0, 1), value=NOT_PREDICTED)
