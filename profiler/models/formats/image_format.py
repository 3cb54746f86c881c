"""Images as for ImageNet: a random part of each, resized, half of them mirrored, normalised.

torch is imported where a tensor is made: names and made files do without it.
"""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from profiler.loading.sample_format import DaliImage
from profiler.models.formats.made_photograph import made_photograph

if TYPE_CHECKING:
    import torch

_LEAST_SHARE = 0.08  # of the image's area
_LEAST_RATIO, _LARGEST_RATIO = 3 / 4, 4 / 3  # of width to height
_TRIES = 10


@dataclass(frozen=True)
class ImageFormat:
    """Samples: image (3, crop_pixels, crop_pixels) float32, normalised; label () int64."""

    crop_pixels: int
    classes: int = 1000

    file_suffix = ".jpg"
    item_bytes = None

    @property
    def dali(self) -> DaliImage:
        """The same augmentation by DALI."""
        return DaliImage(self.crop_pixels)

    def decode(
        self, data: bytes | memoryview, label: int, random: np.random.Generator
    ) -> tuple[torch.Tensor, ...]:
        import torch
        from PIL import Image

        with Image.open(io.BytesIO(data)) as stored:
            image = stored.convert("RGB")
        side = self.crop_pixels
        part = random_part(image.width, image.height, random)
        crop = image.resize((side, side), Image.Resampling.BILINEAR, box=part)
        if random.random() < 0.5:
            crop = crop.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        mean, std = np.array([self.dali.mean, self.dali.std], dtype=np.float32)
        pixels = (np.asarray(crop, dtype=np.float32) / 255 - mean) / std
        channels_first = np.ascontiguousarray(pixels.transpose(2, 0, 1))
        return torch.from_numpy(channels_first), torch.tensor(label)

    def made_item(self, label: int, random: np.random.Generator) -> bytes:
        """A JPEG file of some tens of kilobytes, of a few hundred pixels a side."""
        written = io.BytesIO()
        made_photograph(random).save(written, "JPEG", quality=90)
        return written.getvalue()


def random_part(width: int, height: int, random: np.random.Generator) -> tuple[int, int, int, int]:
    """(left, top, right, bottom) of a part of an image, in pixels.

    Its share of the area is even in 0.08..1, its ratio of sides log-even in 3/4..4/3 (Szegedy et
    al. 2015, section 6). After ten parts that do not fit, the largest in the middle that has an
    allowed ratio.
    """
    for _ in range(_TRIES):
        area = width * height * random.uniform(_LEAST_SHARE, 1)
        ratio = math.exp(random.uniform(math.log(_LEAST_RATIO), math.log(_LARGEST_RATIO)))
        part_width, part_height = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < part_width <= width and 0 < part_height <= height:
            left = int(random.integers(width - part_width + 1))
            top = int(random.integers(height - part_height + 1))
            return left, top, left + part_width, top + part_height
    part_width = min(width, max(1, round(height * _LARGEST_RATIO)))
    part_height = min(height, max(1, round(width / _LEAST_RATIO)))
    left, top = (width - part_width) // 2, (height - part_height) // 2
    return left, top, left + part_width, top + part_height
