"""What layers take: parameters, and multiply-accumulates of one sample's forward pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class ModelSize:
    """A layer's, or a whole model's.

    forward_macs: multiply-accumulates of the matrix products in one sample's forward pass; what
    is done element by element is left out, as in published counts.
    """

    parameters: int = 0
    forward_macs: int = 0

    def __add__(self, other: ModelSize) -> ModelSize:
        return ModelSize(self.parameters + other.parameters, self.forward_macs + other.forward_macs)

    def times(self, count: int) -> ModelSize:
        """``count`` such layers."""
        return ModelSize(self.parameters * count, self.forward_macs * count)


def total(sizes: Iterable[ModelSize]) -> ModelSize:
    """All of ``sizes`` together."""
    return sum(sizes, ModelSize())


def convolution(inputs: int, outputs: int, kernel: int, side: int, *, bias: bool) -> ModelSize:
    """``inputs`` to ``outputs`` channels, a square ``kernel``, an output of ``side`` x ``side``."""
    weights = kernel * kernel * inputs * outputs
    return ModelSize(weights + (outputs if bias else 0), weights * side * side)


def fully_connected(inputs: int, outputs: int, rows: int = 1) -> ModelSize:
    """With bias; a sample has ``rows`` rows of ``inputs`` (a transformer's tokens)."""
    return ModelSize(inputs * outputs + outputs, inputs * outputs * rows)


def normalisation(channels: int) -> ModelSize:
    """Scale and shift of batch or layer normalisation."""
    return ModelSize(2 * channels, 0)


def table(rows: int, columns: int) -> ModelSize:
    """An embedding: looked up, not multiplied."""
    return ModelSize(rows * columns, 0)
