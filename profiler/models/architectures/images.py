"""Image models: torchvision's, and tiny ones of the same building blocks."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional
from torch.optim import SGD, Optimizer
from torchvision import models

from profiler.models.architectures.tiny_images import tiny_layers
from profiler.models.formats.image_format import ImageFormat

_PUBLISHED = {
    "alexnet": models.alexnet,
    "res18": models.resnet18,
    "res50": models.resnet50,
    "wideresnet101": models.wide_resnet101_2,
    "mobilenet": models.mobilenet_v2,
    "shufflenet": models.shufflenet_v2_x0_5,
    "vgg11": models.vgg11,
    "vgg16": models.vgg16,
    "vgg19": models.vgg19,
}


class Classifier(nn.Module):
    """layers: from images (n, 3, pixels, pixels) to a score for each class (n, classes)."""

    def __init__(self, layers: nn.Module) -> None:
        super().__init__()
        self.layers = layers

    def forward(self, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """labels: (n,) int64. The mean cross-entropy."""
        return functional.cross_entropy(self.layers(images), labels)


def make_network(name: str, tiny: bool, sample_format: ImageFormat) -> nn.Module:
    if tiny:
        return Classifier(tiny_layers(name, sample_format.classes))
    return Classifier(_PUBLISHED[name](num_classes=sample_format.classes))


def make_optimizer(parameters: list[nn.Parameter]) -> Optimizer:
    return SGD(parameters, lr=0.01, momentum=0.9, weight_decay=1e-4, fused=True)
