"""Pictures that are as much work to decode as photographs: smooth areas, edges, and some grain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PIL import Image

_LEAST_PIXELS, _MOST_PIXELS = 320, 640  # a side
_LAYERS = ((3, 0.5), (12, 0.3), (48, 0.2))
"""Cells a side, and how strong: the finer, the fainter, as in photographs."""
_SHAPES = 8
_GRAIN = 12  # of 256 levels


def made_photograph(random: np.random.Generator) -> Image.Image:
    """A picture in colours, its sides drawn for themselves. The same for the same ``random``."""
    from PIL import Image, ImageDraw

    width, height = (int(side) for side in random.integers(_LEAST_PIXELS, _MOST_PIXELS, size=2))
    light = np.zeros((height, width, 3), dtype=np.float32)
    for cells, strength in _LAYERS:
        grid = random.integers(256, size=(cells, cells, 3), dtype=np.uint8)
        layer = Image.fromarray(grid).resize((width, height), Image.Resampling.BICUBIC)
        light += strength * np.asarray(layer, dtype=np.float32)
    picture = Image.fromarray(light.astype(np.uint8))
    draw = ImageDraw.Draw(picture)
    for _ in range(_SHAPES):
        colour = tuple(int(level) for level in random.integers(256, size=3))
        left, right = sorted(int(x) for x in random.integers(width, size=2))
        top, bottom = sorted(int(y) for y in random.integers(height, size=2))
        draw.ellipse((left, top, right, bottom), outline=colour, width=3)
    grain = random.integers(_GRAIN, size=(height, width, 1), dtype=np.uint8)
    # 256 - _GRAIN at most, so that the sum does not wrap around.
    return Image.fromarray(np.minimum(np.asarray(picture), 255 - _GRAIN) + grain)
