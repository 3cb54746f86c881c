"""The published sizes have as many parameters as is published. Nothing is allocated."""

from __future__ import annotations

import pytest

from profiler.models.builtin import builtin_model
from traces.models.dlrm import BOTTOM, TABLES, TOP
from traces.models.encoders import BERT, CAMEMBERT, ROBERTA, XLM
from traces.models.gpt import GPT1, GPT2, GPT3

torch = pytest.importorskip("torch")

POOLER = 768 * 768 + 768


def head(width: int, vocabulary: int) -> int:
    """A fully connected layer, a normalisation, and a bias for each token."""
    return width * width + width + 2 * width + vocabulary


PUBLISHED = {
    # torchvision's documentation of each model
    "alexnet": 61_100_840,
    "res18": 11_689_512,
    "res50": 25_557_032,
    "wideresnet101": 126_886_696,
    "mobilenet": 3_504_872,
    "shufflenet": 1_366_792,
    "vgg11": 132_863_336,
    "vgg16": 138_357_544,
    "vgg19": 143_667_240,
    # MLPerf's training logs of GNMT
    "gnmt": 160_671_297,
    # 41 million (Dai et al. 2019, table 2); layer by layer as in that section
    "transformer": 12 * (5 * 512**2 + 2 * 512 * 2048 + 2048 + 512 + 4 * 512)
    + (204 * 512 + 204 + 2 * 512),
    # embedding, two layers with two biases each, scores
    "lstm": 33278 * 200 + 2 * 4 * (2 * 200**2 + 2 * 200) + 201 * 33278,
    # the checkpoints' sizes at huggingface.co: roberta-base, gpt2-xl
    "roberta": 124_697_433,
    "gpt2": 1_557_611_200,
    # the counts that profiles of traffic rest on, without the pooler and with the head
    "bert": BERT.size.parameters - POOLER + head(768, 30522),
    "camembert": CAMEMBERT.size.parameters - POOLER + head(768, 32005),
    "xlm": XLM.size.parameters + 200_000,
    "gpt1": GPT1.size.parameters,
    "gpt3": GPT3.size.parameters,
    "dlrm": BOTTOM.parameters + TOP.parameters + TABLES * 100_000 * 128,
}


def count(name: str) -> int:
    network = builtin_model(name, tiny=False).make_network(torch.device("meta"))
    assert all(parameter.is_meta for parameter in network.parameters())
    return sum(parameter.numel() for parameter in network.parameters())


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameters_are_as_published(name: str) -> None:
    assert count(name) == PUBLISHED[name]


def test_other_counts_agree_with_these() -> None:
    assert PUBLISHED["roberta"] == ROBERTA.size.parameters - POOLER + head(768, 50265)
    assert PUBLISHED["gpt2"] == GPT2.size.parameters
    assert round(PUBLISHED["transformer"], -6) == 41_000_000


def test_m5_has_half_a_million() -> None:
    """Dai et al. 2017, table 1: 0.5M."""
    assert 500_000 <= count("m5") < 600_000


def test_deepspeech_has_52_million_where_its_log_says_so() -> None:
    """Seven layers of 768 and 73 characters: github.com/SeanNaren/deepspeech.pytorch/issues/608."""
    from profiler.models.architectures.deepspeech import DeepSpeech

    with torch.device("meta"):
        network = DeepSpeech(channels=32, width=768, layers=7, characters=73)
    assert sum(parameter.numel() for parameter in network.parameters()) // 10**6 == 52
