"""Residual networks with bottlenecks (He et al. 2016, table 1), data-parallel.

The wide ones (Zagoruyko and Komodakis 2016, as in torchvision) have a 3x3 convolution twice as wide
in each block. As in torchvision, whose counts are the known ones, the 3x3 convolution strides; in
the paper it is the 1x1 before it.
"""

from __future__ import annotations

from functools import partial

from traces.models.data_parallel import data_parallel
from traces.models.gpu import FLOAT32
from traces.models.known_model import KnownModel
from traces.models.layers import ModelSize, convolution, fully_connected, normalisation, total

_EXPANSION = 4
_CLASSES = 1000


def resnet_size(blocks: tuple[int, ...], width_factor: int = 1) -> ModelSize:
    """``blocks``: bottlenecks in each of the four stages. 224 x 224 images."""
    sizes = [_convolution(3, 64, 7, 112)]
    channels, side = 64, 56  # after pooling
    for stage, count in enumerate(blocks):
        planes = 64 * 2**stage
        for block in range(count):
            out_side = side // 2 if stage > 0 and block == 0 else side
            sizes.append(_bottleneck(channels, planes, planes * width_factor, side, out_side))
            channels, side = planes * _EXPANSION, out_side
    return total([*sizes, fully_connected(channels, _CLASSES)])


def _bottleneck(channels: int, planes: int, width: int, side: int, out_side: int) -> ModelSize:
    """Narrow, convolve, widen; a first block of a stage projects its shortcut too."""
    outputs = planes * _EXPANSION
    sizes = [
        _convolution(channels, width, 1, side),
        _convolution(width, width, 3, out_side),
        _convolution(width, outputs, 1, out_side),
    ]
    if channels != outputs:
        sizes.append(_convolution(channels, outputs, 1, out_side))
    return total(sizes)


def _convolution(inputs: int, outputs: int, kernel: int, side: int) -> ModelSize:
    return convolution(inputs, outputs, kernel, side, bias=False) + normalisation(outputs)


RESNETS = (
    KnownModel(
        name="resnet50",
        reconstruct=partial(
            data_parallel, resnet_size((3, 4, 6, 3)), "He et al. 2016, table 1", FLOAT32
        ),
        default_batch=128,
        recalled_batches=(256, 1800),
    ),
    KnownModel(
        name="wideresnet101",
        reconstruct=partial(
            data_parallel,
            resnet_size((3, 4, 23, 3), width_factor=2),
            "Zagoruyko and Komodakis 2016, as torchvision's wide_resnet101_2",
            FLOAT32,
        ),
        default_batch=64,
        recalled_batches=(256, 1200),
    ),
)
