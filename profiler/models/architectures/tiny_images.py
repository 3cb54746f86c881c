"""Tiny image models: a few of a published one's building blocks, narrow, for images of 32 pixels.

They are so small that on a CPU it takes longer to decode an image than to train with it.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import nn
from torchvision.models import mobilenetv2, resnet, shufflenetv2, vgg
from torchvision.ops import Conv2dNormActivation

_NARROW, _WIDE = 16, 32  # channels


def tiny_layers(name: str, classes: int) -> nn.Module:
    """From images (n, 3, pixels, pixels) to a score for each class."""
    features = _FEATURES[name]()
    return nn.Sequential(
        *features, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(_WIDE, classes)
    )


def _alexnet() -> list[nn.Module]:
    return [
        nn.Conv2d(3, _NARROW, kernel_size=11, stride=4, padding=5),
        nn.ReLU(),
        nn.Conv2d(_NARROW, _WIDE, kernel_size=5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(_WIDE, _WIDE, kernel_size=3, padding=1),
        nn.ReLU(),
    ]


def _vgg(convolutions: int) -> list[nn.Module]:
    """``convolutions`` in each group but the first."""
    channels = [8, "M", *[_NARROW] * convolutions, "M", *[_WIDE] * convolutions, "M"]
    return [vgg.make_layers(channels)]


def _first() -> nn.Module:
    layers: nn.Module = Conv2dNormActivation(3, _NARROW, stride=2)
    return layers


def _shortcut() -> nn.Module:
    layers: nn.Module = Conv2dNormActivation(
        _NARROW, _WIDE, kernel_size=1, stride=2, activation_layer=None
    )
    return layers


def _residual() -> list[nn.Module]:
    block = resnet.BasicBlock
    return [_first(), block(_NARROW, _NARROW), block(_NARROW, _WIDE, 2, _shortcut())]


def _bottlenecks(base_width: int) -> list[nn.Module]:
    block = resnet.Bottleneck
    return [
        _first(),
        block(_NARROW, _NARROW // block.expansion, base_width=base_width),
        block(_NARROW, _WIDE // block.expansion, 2, _shortcut(), base_width=base_width),
    ]


def _mobilenet() -> list[nn.Module]:
    block = mobilenetv2.InvertedResidual
    return [
        _first(),
        block(_NARROW, _NARROW, stride=1, expand_ratio=2),
        block(_NARROW, _WIDE, stride=2, expand_ratio=2),
    ]


def _shufflenet() -> list[nn.Module]:
    block = shufflenetv2.InvertedResidual
    return [_first(), block(_NARROW, _WIDE, stride=2), block(_WIDE, _WIDE, stride=1)]


_FEATURES: dict[str, Callable[[], list[nn.Module]]] = {
    "alexnet": _alexnet,
    "res18": _residual,
    "res50": lambda: _bottlenecks(base_width=64),
    "wideresnet101": lambda: _bottlenecks(base_width=128),
    "mobilenet": _mobilenet,
    "shufflenet": _shufflenet,
    "vgg11": lambda: _vgg(1),
    "vgg16": lambda: _vgg(2),
    "vgg19": lambda: _vgg(3),
}
