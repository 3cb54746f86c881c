"""The size of a Transformer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TransformerSize:
    """width: of the states between layers, which ``heads`` share evenly in each layer."""

    layers: int
    width: int
    heads: int
