"""Parameters and operations against second counts and against published totals."""

from __future__ import annotations

import pytest

from traces.models.dlrm import BOTTOM, TOP
from traces.models.encoders import BERT, CAMEMBERT, ROBERTA, XLM
from traces.models.gpt import GPT1, GPT2, GPT3
from traces.models.layers import ModelSize
from traces.models.resnet import resnet_size
from traces.models.transformer import Transformer
from traces.models.vgg import vgg_size

VGG11, VGG16, VGG19 = (1, 1, 2, 2, 2), (2, 2, 3, 3, 3), (2, 2, 4, 4, 4)

# VGG19: (inputs, outputs, pixels of the side of its feature map), one row a layer
CONVOLUTIONS = [
    (3, 64, 224), (64, 64, 224),
    (64, 128, 112), (128, 128, 112),
    (128, 256, 56), (256, 256, 56), (256, 256, 56), (256, 256, 56),
    (256, 512, 28), (512, 512, 28), (512, 512, 28), (512, 512, 28),
    (512, 512, 14), (512, 512, 14), (512, 512, 14), (512, 512, 14),
]  # fmt: skip
FULLY_CONNECTED = [(512 * 7 * 7, 4096), (4096, 4096), (4096, 1000)]


@pytest.mark.parametrize(
    ("size", "parameters", "macs"),
    [
        # torchvision's documentation of each model's weights: num_params, GFLOPS (one per MAC)
        (vgg_size(VGG11), 132_863_336, 7.61e9),
        (vgg_size(VGG16), 138_357_544, 15.47e9),
        (vgg_size(VGG19), 143_667_240, 19.63e9),
        (resnet_size((3, 4, 6, 3)), 25_557_032, 4.09e9),
        (resnet_size((3, 4, 23, 3), width_factor=2), 126_886_696, 22.75e9),
    ],
)
def test_vision_models_have_the_published_totals(
    size: ModelSize, parameters: int, macs: float
) -> None:
    assert size.parameters == parameters
    assert size.forward_macs == pytest.approx(macs, abs=0.005e9)


def test_vgg19_agrees_with_a_count_layer_by_layer() -> None:
    parameters = sum(9 * a * b + b for a, b, _ in CONVOLUTIONS)
    parameters += sum(a * b + b for a, b in FULLY_CONNECTED)
    macs = sum(9 * a * b * side**2 for a, b, side in CONVOLUTIONS)
    macs += sum(a * b for a, b in FULLY_CONNECTED)
    assert vgg_size(VGG19) == ModelSize(parameters, macs)


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        # the published checkpoints, without a task's head
        (BERT, 109_482_240),
        (ROBERTA, 124_645_632),
        (CAMEMBERT, 110_621_952),
        (GPT1, 116_534_784),
        (GPT2, 1_557_611_200),
    ],
)
def test_language_models_have_the_parameters_of_the_published_checkpoints(
    model: Transformer, parameters: int
) -> None:
    assert model.size.parameters == parameters


@pytest.mark.parametrize(
    ("model", "published"),
    [
        (BERT, 110e6),  # Devlin et al. 2019, section 3
        (ROBERTA, 125e6),  # the model card of RoBERTa-base
        (CAMEMBERT, 110e6),  # Martin et al. 2020
        (XLM, 570e6),  # XLM-100 in Conneau et al. 2020
        (GPT1, 117e6),
        (GPT2, 1.5e9),  # 1,542 million in Radford et al. 2019, table 2
        (GPT3, 1.3e9),  # Brown et al. 2020, table 2.1
    ],
)
def test_language_models_are_as_large_as_their_papers_round_them(
    model: Transformer, published: float
) -> None:
    assert model.size.parameters == pytest.approx(published, rel=0.04)


@pytest.mark.parametrize("model", [GPT1, GPT2, GPT3])
def test_decoders_compute_what_a_published_formula_says(model: Transformer) -> None:
    # Narayanan et al. 2021, section 5.1, for a forward and a backward pass without recomputation
    tokens, hidden = model.tokens, model.hidden
    share = tokens / (6 * hidden) + model.vocabulary / (12 * model.layers * hidden)
    flops = 72 * tokens * model.layers * hidden**2 * (1 + share)
    assert 3 * 2 * model.size.forward_macs == pytest.approx(flops, rel=1e-12)


def test_an_encoder_computes_two_operations_a_parameter_and_token_and_its_attention() -> None:
    in_layers = 12 * 12 * BERT.hidden**2
    attention = 12 * 2 * BERT.tokens * BERT.hidden
    pooler = BERT.hidden**2
    assert BERT.size.forward_macs == BERT.tokens * (in_layers + attention) + pooler


def test_the_mlps_of_dlrm_agree_with_a_count_layer_by_layer() -> None:
    assert ModelSize(7 * (2048 * 2048 + 2048), 7 * 2048 * 2048) == BOTTOM
    first, middle, last = 10240 * 4096, 4096 * 4096, 4096
    macs = first + 14 * middle + last
    assert ModelSize(macs + 15 * 4096 + 1, macs) == TOP
