"""Real JPEG files, and a format of them that is quick to decode. Importable where workers spawn."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from profiler.loading.image_files import image_files
from profiler.loading.sample_format import DaliImage
from profiler.loading.stored_items import StoredItems

_CROP_PIXELS = 16


def make_images(directory: Path, count: int) -> StoredItems:
    """``count`` images of noise, each in a class of its own: so that a label tells the item."""
    random = np.random.default_rng(0)
    for number in range(count):
        path = directory / f"{number:03}" / "image.jpg"
        path.parent.mkdir(parents=True)
        height, width = random.integers(24, 64, 2)
        Image.fromarray(random.integers(0, 256, (height, width, 3), np.uint8)).save(path)
    return image_files(directory, "refuse")


@dataclass(frozen=True)
class RandomCrop:
    """A random square of an image, as float32[3, pixels, pixels], and its label."""

    dali: DaliImage | None = field(default_factory=lambda: DaliImage(_CROP_PIXELS))

    def decode(
        self, data: bytes | memoryview, label: int, random: np.random.Generator
    ) -> tuple[torch.Tensor, ...]:
        with Image.open(io.BytesIO(data)) as image:
            pixels = np.asarray(image.convert("RGB"))
        top, left = random.integers(0, np.array(pixels.shape[:2]) - _CROP_PIXELS + 1)
        crop = pixels[top : top + _CROP_PIXELS, left : left + _CROP_PIXELS]
        return torch.from_numpy(crop.transpose(2, 0, 1).astype(np.float32)), torch.tensor(label)
