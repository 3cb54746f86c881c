"""Every tiny model trains for real on the CPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from profiler.models.builtin import builtin_model, builtin_names
from profiler.models.builtin_model import BuiltinModel
from profiler.models.training_options import TrainingOptions
from traces.errors import BadInputError, MissingCapabilityError

torch = pytest.importorskip("torch")

CPU = torch.device("cpu")
NAMES = builtin_names()
WITH_LSTM = {"gnmt", "lstm"}
HAS_AVX_512 = "avx512" in Path("/proc/cpuinfo").read_text()

BUILD_LSTM = """
import torch
from profiler.models.builtin import builtin_model
from profiler.models.training_options import TrainingOptions
from traces.errors import MissingCapabilityError

try:
    builtin_model("lstm", tiny=True).build(torch.device("cpu"), TrainingOptions(precision="bf16"))
except MissingCapabilityError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("items")


def batch_of(model: BuiltinModel, directory: Path, size: int) -> tuple[torch.Tensor, ...]:
    items = model.make_items(directory, size, seed=1)
    samples = []
    for item in range(size):
        with Path(items.paths[items.file_of[item]]).open("rb") as file:
            file.seek(int(items.offset_bytes[item]))
            data = file.read(int(items.length_bytes[item]))
        random = np.random.default_rng(item)
        samples.append(model.format().decode(data, int(items.labels[item]), random))
    return tuple(torch.stack(column) for column in zip(*samples, strict=True))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_two_iterations_change_the_parameters(name: str, precision: str, directory: Path) -> None:
    model = builtin_model(name, tiny=True)
    options = TrainingOptions(precision=precision)  # type: ignore[arg-type]
    try:
        step = model.build(CPU, options)
    except MissingCapabilityError as error:
        if name in WITH_LSTM and precision == "bf16" and not HAS_AVX_512:
            pytest.skip(str(error))
        raise
    before = [parameter.detach().clone() for parameter in step.network.parameters()]
    batch = batch_of(model, directory, size=2)
    losses = [step(batch), step(batch)]
    for loss in losses:
        assert loss.shape == ()
        assert not loss.requires_grad
        assert torch.isfinite(loss)
    after = list(step.network.parameters())
    changed = [not torch.equal(*both) for both in zip(before, after, strict=True)]
    assert all(parameter.dtype == torch.float32 for parameter in after)
    assert sum(changed) >= 0.9 * len(changed)


def test_a_cpu_without_lstm_in_bf16_is_said_before_it_trains() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BUILD_LSTM],
        cwd=Path(__file__).parents[4],
        env={**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("this CPU does not compute an LSTM in bf16; choose the precision")


def test_training_learns(directory: Path) -> None:
    model = builtin_model("res18", tiny=True)
    step = model.build(CPU, TrainingOptions())
    batch = batch_of(model, directory, size=4)
    losses = [step(batch).item() for _ in range(30)]
    assert losses[-1] < 0.5 * losses[0]


def test_the_same_weights_each_time() -> None:
    model = builtin_model("m5", tiny=True)
    one, other = (model.make_network(CPU).state_dict() for _ in range(2))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_channels_last_is_a_layout_of_images(directory: Path) -> None:
    model = builtin_model("res50", tiny=True)
    step = model.build(CPU, TrainingOptions(channels_last=True))
    seen = []
    step.network.register_forward_pre_hook(lambda _, batch: seen.append(batch[0]))
    assert torch.isfinite(step(batch_of(model, directory, size=2)))
    assert seen[0].is_contiguous(memory_format=torch.channels_last)
    kernels = [weight for weight in step.network.parameters() if weight.dim() == 4]
    assert all(kernel.is_contiguous(memory_format=torch.channels_last) for kernel in kernels)


@pytest.mark.parametrize("name", ["bert", "m5", "dlrm"])
def test_channels_last_is_refused_where_there_are_no_images(name: str) -> None:
    model = builtin_model(name, tiny=True)
    with pytest.raises(BadInputError, match=model.kind) as caught:
        model.build(CPU, TrainingOptions(channels_last=True))
    assert caught.value.key == "channels_last"


def test_fp16_is_refused_on_the_cpu() -> None:
    with pytest.raises(BadInputError, match="fp16") as caught:
        builtin_model("res18", tiny=True).build(CPU, TrainingOptions(precision="fp16"))
    assert "bf16 on the CPU" in caught.value.allowed


def test_unknown_precision_and_no_threads_are_refused() -> None:
    with pytest.raises(BadInputError, match="fp8") as caught:
        TrainingOptions(precision="fp8")  # type: ignore[arg-type]
    assert caught.value.allowed == "fp32, bf16, fp16"
    with pytest.raises(BadInputError, match="0 threads"):
        TrainingOptions(threads=0)


def test_threads_are_set() -> None:
    threads = torch.get_num_threads()
    try:
        builtin_model("m5", tiny=True).build(CPU, TrainingOptions(threads=1))
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(threads)


def test_scores_by_distance_move_to_the_keys_they_are_for() -> None:
    from profiler.models.architectures.transformer_xl import by_key

    queries, keys = 3, 5  # two keys are remembered
    farthest_first = torch.arange(keys - 1, -1, -1.0).expand(queries, keys)
    moved = by_key(farthest_first)
    for query in range(queries):
        for key in range(keys - queries + query + 1):
            assert moved[query, key] == keys - queries + query - key


def test_what_is_predicted_does_not_depend_on_what_comes_later() -> None:
    from profiler.models.architectures.transformer_xl import make_network
    from profiler.models.formats.token_format import TokenFormat

    network = make_network("transformer", True, TokenFormat(50, 9)).eval()
    scores = []
    network.scores.register_forward_hook(lambda _, inputs, output: scores.append(output))
    one = torch.arange(9).unsqueeze(0)
    other = one.clone()
    other[0, 5:] = 49
    for tokens in (one, other):
        network._memory = []
        network(tokens)
    assert torch.equal(scores[0][:, :5], scores[1][:, :5])
    assert not torch.allclose(scores[0][:, 5:], scores[1][:, 5:])
