"""Sequences of tokens: numbers of words or pieces of words in a vocabulary.

torch is imported where a tensor is made: names and made files do without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

FIRST_TOKEN = 6
"""Those below are reserved in one vocabulary or another: padding, beginning, end, mask, ..."""
NOT_PREDICTED = -100
"""What torch's cross-entropy leaves out."""
_MASK = 5
_MASKED_SHARE = 0.15  # Devlin et al. 2019


@dataclass(frozen=True)
class TokenFormat:
    """Samples: tokens (tokens,) int64; where masked, also what is hidden among them, (tokens,)
    int64, NOT_PREDICTED elsewhere.

    tokens: of each item, stored without a gap: in 2 bytes each where the vocabulary fits, else 4.
    masked: a share of 15 % of the tokens is hidden, for a model that fills them in.
    """

    vocabulary: int
    tokens: int
    masked: bool = False

    classes = 1
    file_suffix = ".tokens"
    dali = None

    @property
    def _stored(self) -> np.dtype[np.integer]:
        return np.dtype("<u2" if self.vocabulary <= 2**16 else "<i4")

    @property
    def item_bytes(self) -> int:
        return self.tokens * self._stored.itemsize

    def decode(
        self, data: bytes | memoryview, label: int, random: np.random.Generator
    ) -> tuple[torch.Tensor, ...]:
        import torch

        tokens = np.frombuffer(data, dtype=self._stored).astype(np.int64)
        if not self.masked:
            return (torch.from_numpy(tokens),)
        hidden = random.random(self.tokens) < _MASKED_SHARE
        hidden[random.integers(self.tokens)] = True  # so that there is a loss
        return (
            torch.from_numpy(np.where(hidden, _MASK, tokens)),
            torch.from_numpy(np.where(hidden, tokens, NOT_PREDICTED)),
        )

    def made_item(self, label: int, random: np.random.Generator) -> bytes:
        """As often as words are by Zipf's law: the n-th in proportion to 1/n."""
        ranks = (self.vocabulary - FIRST_TOKEN) ** random.random(self.tokens)
        return (FIRST_TOKEN - 1 + ranks.astype(np.int64)).astype(self._stored).tobytes()
