"""VGG (Simonyan and Zisserman 2015, table 1): configurations A, D and E, data-parallel."""

from __future__ import annotations

from functools import partial

from traces.models.data_parallel import data_parallel
from traces.models.gpu import FLOAT32
from traces.models.known_model import KnownModel
from traces.models.layers import ModelSize, convolution, fully_connected, total

_FULLY_CONNECTED = (4096, 4096, 1000)
_IMAGE_SIDE = 224


def vgg_size(layers: tuple[int, ...]) -> ModelSize:
    """``layers``: 3x3 convolutions in each of five groups; pooling halves the image after each."""
    sizes = []
    channels, side = 3, _IMAGE_SIDE
    for outputs, count in zip((64, 128, 256, 512, 512), layers, strict=True):
        for _ in range(count):
            sizes.append(convolution(channels, outputs, 3, side, bias=True))
            channels = outputs
        side //= 2
    inputs = channels * side * side
    for outputs in _FULLY_CONNECTED:
        sizes.append(fully_connected(inputs, outputs))
        inputs = outputs
    return total(sizes)


def _vgg(name: str, configuration: str, layers: tuple[int, ...]) -> KnownModel:
    cited = f"Simonyan and Zisserman 2015, configuration {configuration}"
    return KnownModel(
        name=name,
        reconstruct=partial(data_parallel, vgg_size(layers), cited, FLOAT32),
        default_batch=64,
        recalled_batches=(512, 1800),
    )


VGG = (
    _vgg("vgg11", "A", (1, 1, 2, 2, 2)),
    _vgg("vgg16", "D", (2, 2, 3, 3, 3)),
    _vgg("vgg19", "E", (2, 2, 4, 4, 4)),
)
