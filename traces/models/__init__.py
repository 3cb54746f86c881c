"""Reconstructed profiles of known models, one file each, found by name."""

from __future__ import annotations

from collections.abc import Callable

from traces.model_profile import ModelProfile
from traces.models.vgg19 import vgg19

RECONSTRUCTED: dict[str, Callable[[int], ModelProfile]] = {"vgg19": vgg19}
"""Name -> function from the number of workers to a profile."""
