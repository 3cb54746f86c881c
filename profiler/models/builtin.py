"""The built-in models by name: Synergy's ten and CASSINI's thirteen, which share one.

A model has the name that schedulers know it by: the one in traces/models/synergy.json, or else the
one in traces.models.RECONSTRUCTED. Neither torch nor transformers is imported here.
"""

from __future__ import annotations

from profiler.models.builtin_model import BuiltinModel
from profiler.models.formats.click_format import ClickFormat
from profiler.models.formats.image_format import ImageFormat
from profiler.models.formats.spectrogram_format import SpectrogramFormat
from profiler.models.formats.token_format import TokenFormat
from profiler.models.formats.waveform_format import WaveformFormat
from profiler.models.formats.writable_format import WritableFormat
from profiler.models.training_options import Kind
from traces.errors import BadInputError, shown

_TINY_IMAGE_BATCH = 16
_TINY_LANGUAGE_BATCH = 8
_TINY_VOCABULARY = 2000

ALIASES = {
    "resnet18": "res18",
    "resnet50": "res50",
    "mobilenet-v2": "mobilenet",
    "shufflenet-v2": "shufflenet",
    "transformer-xl": "transformer",
}
"""Other name -> name."""


def _both_sizes(
    name: str,
    kind: Kind,
    architecture: str,
    source: str,
    full: tuple[int, WritableFormat],
    tiny: tuple[int, WritableFormat],
) -> tuple[BuiltinModel, BuiltinModel]:
    """full, tiny: the batch size and what the model is trained on."""
    tiny_source = f"a tiny network in the manner of {source}"
    return (
        BuiltinModel(name, kind, full[0], source, False, architecture, full[1]),
        BuiltinModel(name, kind, tiny[0], tiny_source, True, architecture, tiny[1]),
    )


def _image(name: str, batch_size: int, source: str) -> tuple[BuiltinModel, BuiltinModel]:
    full = (batch_size, ImageFormat(crop_pixels=224))
    tiny = (_TINY_IMAGE_BATCH, ImageFormat(crop_pixels=32))
    return _both_sizes(name, "image", "images", f"{source}, as in torchvision", full, tiny)


def _language(
    name: str,
    architecture: str,
    source: str,
    batch_size: int,
    sample_format: TokenFormat,
    tiny_tokens: int = 64,
) -> tuple[BuiltinModel, BuiltinModel]:
    vocabulary = min(_TINY_VOCABULARY, sample_format.vocabulary)
    tiny = TokenFormat(vocabulary, tiny_tokens, sample_format.masked)
    full = (batch_size, sample_format)
    return _both_sizes(name, "language", architecture, source, full, (_TINY_LANGUAGE_BATCH, tiny))


_MODELS = (
    _image("alexnet", 512, "AlexNet, Krizhevsky 2014"),
    _image("res18", 512, "ResNet-18, He et al. 2016"),
    _image("res50", 512, "ResNet-50, He et al. 2016"),
    _image("mobilenet", 512, "MobileNet v2, Sandler et al. 2018"),
    _image("shufflenet", 512, "ShuffleNet v2 x0.5, Ma et al. 2018"),
    _language(
        "gnmt",
        "gnmt",
        "GNMT with four layers a side, Wu et al. 2016, as NVIDIA DeepLearningExamples has it; "
        "50 tokens a sentence",
        128,
        TokenFormat(vocabulary=32320, tokens=100),
        tiny_tokens=32,
    ),
    _language(
        "transformer",
        "transformer_xl",
        "Transformer-XL, Dai et al. 2019, in its size for enwik8; segments of 150 tokens, as its "
        "base size for WikiText-103",
        128,
        TokenFormat(vocabulary=204, tokens=151),
        tiny_tokens=65,
    ),
    _language(
        "lstm",
        "lstm",
        "word_language_model of github.com/pytorch/examples, for WikiText-2; 35 tokens",
        20,
        TokenFormat(vocabulary=33278, tokens=36),
        tiny_tokens=36,
    ),
    _both_sizes(
        "m5",
        "speech",
        "m5",
        "M5, Dai et al. 2017; 4 s at 8 kHz",
        (512, WaveformFormat(rate_hz=8000, samples=32000, stored_hz=44100, classes=10)),
        (16, WaveformFormat(rate_hz=8000, samples=4000, stored_hz=44100, classes=10)),
    ),
    _both_sizes(
        "deepspeech",
        "speech",
        "deepspeech",
        "Deep Speech 2, Amodei et al. 2016, with the defaults of github.com/SeanNaren/deepspeech."
        "pytorch (5 layers of 800); up to 15 s",
        (20, SpectrogramFormat(seconds=15)),
        (4, SpectrogramFormat(seconds=1)),
    ),
    _image("vgg11", 64, "VGG-11, Simonyan and Zisserman 2015"),
    _image("vgg16", 64, "VGG-16, Simonyan and Zisserman 2015"),
    _image("vgg19", 64, "VGG-19, Simonyan and Zisserman 2015"),
    _image("wideresnet101", 64, "Wide ResNet-101-2, Zagoruyko and Komodakis 2016"),
    _language(
        "bert",
        "encoders",
        "BERT-base, Devlin et al. 2019, as in transformers; 512 tokens",
        16,
        TokenFormat(vocabulary=30522, tokens=512, masked=True),
    ),
    _language(
        "roberta",
        "encoders",
        "RoBERTa-base, Liu et al. 2019, as in transformers; 512 tokens",
        16,
        TokenFormat(vocabulary=50265, tokens=512, masked=True),
    ),
    _language(
        "xlm",
        "encoders",
        "XLM-100, Conneau and Lample 2019, as in transformers; 512 tokens",
        16,
        TokenFormat(vocabulary=200_000, tokens=512, masked=True),
    ),
    _language(
        "camembert",
        "encoders",
        "CamemBERT-base, Martin et al. 2020, as in transformers; 512 tokens",
        16,
        TokenFormat(vocabulary=32005, tokens=512, masked=True),
    ),
    _language(
        "gpt1",
        "decoders",
        "GPT, Radford et al. 2018, as in transformers; 512 tokens",
        32,
        TokenFormat(vocabulary=40478, tokens=512),
    ),
    _language(
        "gpt2",
        "decoders",
        "GPT-2 of 1.5 billion parameters, Radford et al. 2019, as in transformers; 1024 tokens",
        6,
        TokenFormat(vocabulary=50257, tokens=1024),
    ),
    _language(
        "gpt3",
        "decoders",
        "GPT-3 of 1.3 billion parameters (not of 175), Brown et al. 2020, table 2.1, on "
        "transformers' GPT-2; 2048 tokens",
        3,
        TokenFormat(vocabulary=50257, tokens=2048),
    ),
    _both_sizes(
        "dlrm",
        "recommendation",
        "dlrm",
        "DLRM, Naumov et al. 2019, in the configuration of TopoOpt's published scripts with "
        "100,000 rows a table (assumed)",
        (1024, ClickFormat(numbers=2048, tables=64, lookups=100, rows=100_000)),
        (128, ClickFormat(numbers=16, tables=4, lookups=4, rows=1000)),
    ),
)
_FULL = {full.name: full for full, _ in _MODELS}
_TINY = {tiny.name: tiny for _, tiny in _MODELS}


def builtin_names() -> tuple[str, ...]:
    """The names, without the other ones that are understood too."""
    return tuple(_FULL)


def builtin_model(name: str, tiny: bool) -> BuiltinModel:
    """The model called ``name``, or by one of ALIASES, in its published size or a tiny one.

    A tiny one trains an iteration in some tens of milliseconds on one CPU.

    Raises BadInputError with the names where there is none.
    """
    models = _TINY if tiny else _FULL
    found = models.get(ALIASES.get(name, name))
    if found is None:
        raise BadInputError(
            f"there is no built-in model {shown(name)}",
            allowed=", ".join((*_FULL, *ALIASES)),
            key="model",
        )
    return found
