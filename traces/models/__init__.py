"""Reconstructed profiles of known models, one file a family, found by name.

CASSINI's thirteen (NSDI'24, section 5): data-parallel but for GPT-2, GPT-3 and DLRM.
"""

from __future__ import annotations

from traces.models.dlrm import DLRM
from traces.models.encoders import ENCODERS
from traces.models.gpt import GPTS
from traces.models.known_model import KnownModel
from traces.models.resnet import RESNETS
from traces.models.vgg import VGG

RECONSTRUCTED: dict[str, KnownModel] = {
    model.name: model for model in (*VGG, *RESNETS, *ENCODERS, *GPTS, DLRM)
}
"""Known models by name."""
