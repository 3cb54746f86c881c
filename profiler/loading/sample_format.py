"""What the bytes of an item mean to a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class DaliImage:
    """An image as DALI prepares it: a random part, resized, every other one mirrored, normalised.

    crop_pixels: height and width of what the model gets. mean, std: by channel (red, green, blue)
    of values in 0..1, as torchvision gives them.
    """

    crop_pixels: int
    mean: tuple[float, float, float] = (0.485, 0.456, 0.406)
    std: tuple[float, float, float] = (0.229, 0.224, 0.225)


class SampleFormat(Protocol):
    """From the bytes of an item to the tensors of a sample. Picklable: workers may be spawned."""

    def decode(
        self, data: bytes | memoryview, label: int, random: np.random.Generator
    ) -> tuple[torch.Tensor, ...]:
        """The sample, which must not refer to ``data`` (that may lie in the cache).

        random: seeded by the shuffle seed, the epoch and the item; so augmentation is the same for
        any number of workers.
        """

    @property
    def dali(self) -> DaliImage | None:
        """How DALI decodes it; None where DALI cannot."""
