"""What every known model keeps to, whatever its family."""

from __future__ import annotations

import pytest

from traces.errors import BadInputError
from traces.models import RECONSTRUCTED

NAMES = [
    "vgg11", "vgg16", "vgg19", "resnet50", "wideresnet101", "bert", "roberta", "xlm", "camembert",
    "gpt1", "gpt2", "gpt3", "dlrm",
]  # fmt: skip
SPREAD = {"gpt2": 2, "gpt3": 4}  # how many workers hold the model once


def valid_workers(name: str) -> list[int]:
    least = SPREAD.get(name, 1)
    return [workers for workers in (least, 2 * least, 12) if workers > 1]


def test_the_thirteen_of_cassini_are_known() -> None:
    assert list(RECONSTRUCTED) == NAMES
    assert all(name == model.name for name, model in RECONSTRUCTED.items())


@pytest.mark.parametrize("name", NAMES)
def test_a_profile_says_what_it_is_and_what_it_rests_on(name: str) -> None:
    model = RECONSTRUCTED[name]
    profile = model.profile(4)
    assert (profile.model, profile.num_gpus) == (name, 4)
    assert (profile.provenance, profile.gpu_type) == ("reconstructed", "A100-40GB")
    assert profile.batch_size == 4 * model.default_batch
    least, largest = model.recalled_batches
    assert f"unverified: batches of {least} to {largest}" in profile.source
    assert "at an assumed utilisation of 35%" in profile.source
    assert " parameters in float" in profile.source


@pytest.mark.parametrize("name", NAMES)
def test_a_gpu_computes_as_long_however_many_there_are(name: str) -> None:
    model = RECONSTRUCTED[name]
    computed_s = [model.profile(n).demand.compute_s for n in valid_workers(name)]
    assert computed_s == pytest.approx([computed_s[0]] * len(computed_s), rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_compute_grows_with_the_batch(name: str) -> None:
    model = RECONSTRUCTED[name]
    one, four = (model.profile(4, batch).demand.compute_s for batch in (4, 16))
    assert four == pytest.approx(4 * one, rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_more_replicas_send_more_and_all_to_themselves(name: str) -> None:
    model = RECONSTRUCTED[name]
    sent = []
    for workers in valid_workers(name):
        flows = [
            flow
            for transfer in model.profile(workers).demand.transfers
            for flow in transfer.flows(workers)
        ]
        assert all(a != b and 0 <= a < workers and 0 <= b < workers for a, b, _ in flows)
        sent.append(sum(size for source, _, size in flows if source == 0))
    assert sent == sorted(sent)
    assert sent[0] < sent[-1]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SPREAD])
def test_one_worker_sends_nothing(name: str) -> None:
    assert RECONSTRUCTED[name].profile(1).demand.transfers == ()


@pytest.mark.parametrize(
    ("name", "workers", "allowed"),
    [
        ("vgg16", 0, "1 to 64"),
        ("vgg16", 65, "1 to 64"),
        ("dlrm", 65, "1 to 64"),
        ("gpt2", 1, "2, 4, 6, 8, ... 64"),
        ("gpt2", 3, "2, 4, 6, 8, ... 64"),
        ("gpt3", 2, "4, 8, 12, 16, ... 64"),
        ("gpt3", 6, "4, 8, 12, 16, ... 64"),
    ],
)
def test_a_number_of_workers_that_a_model_does_not_spread_over_is_refused(
    name: str, workers: int, allowed: str
) -> None:
    with pytest.raises(BadInputError, match=f"{name} does not spread over {workers}") as caught:
        RECONSTRUCTED[name].profile(workers)
    assert (caught.value.key, caught.value.allowed) == ("num_workers", allowed)


@pytest.mark.parametrize(
    ("name", "batch", "allowed"),
    [
        ("vgg16", 0, "1 to 1800"),
        ("vgg16", 1801, "1 to 1800"),
        ("wideresnet101", 1201, "1 to 1200"),
        ("bert", 33, "1 to 32"),
        ("gpt1", 81, "1 to 80"),
        ("gpt3", -4, "1 to 48"),
        ("dlrm", 1025, "1 to 1024"),
    ],
)
def test_a_batch_that_a_model_does_not_take_is_refused(name: str, batch: int, allowed: str) -> None:
    with pytest.raises(BadInputError, match=f"a batch of {batch} a GPU") as caught:
        RECONSTRUCTED[name].profile(4, batch)
    assert (caught.value.key, caught.value.allowed) == ("batch_per_gpu", allowed)


@pytest.mark.parametrize("name", NAMES)
def test_the_batches_at_the_ends_are_taken(name: str) -> None:
    model = RECONSTRUCTED[name]
    for batch in (1, model.recalled_batches[1]):
        assert model.profile(8, batch).batch_size == 8 * batch
