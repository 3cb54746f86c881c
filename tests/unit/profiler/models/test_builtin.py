"""What the built-in models are called, and that their names cost no import of torch."""

from __future__ import annotations

import subprocess
import sys

import pytest

from profiler.models.builtin import ALIASES, builtin_model, builtin_names
from traces.errors import BadInputError
from traces.models import RECONSTRUCTED
from traces.sensitivity import builtin_sensitivities

SYNERGY = {entry.model: entry for entry in builtin_sensitivities("synergy").entries}


def test_every_model_that_schedulers_know_is_there_under_that_name() -> None:
    shared = {"resnet50"}  # CASSINI's name of what Synergy calls res50
    assert set(builtin_names()) == set(SYNERGY) | (set(RECONSTRUCTED) - shared)
    assert len(builtin_names()) == 22
    for name in RECONSTRUCTED:
        assert builtin_model(name, tiny=False).name == ALIASES.get(name, name)


def test_kind_and_batch_size_are_the_published_ones() -> None:
    for name, published in SYNERGY.items():
        model = builtin_model(name, tiny=False)
        assert (model.kind, model.batch_size) == (published.kind, published.batch_size)
    for name in set(RECONSTRUCTED) - {"resnet50"}:
        assert builtin_model(name, tiny=False).batch_size == RECONSTRUCTED[name].default_batch


@pytest.mark.parametrize("name", sorted(ALIASES))
def test_another_spelling_finds_the_same_model(name: str) -> None:
    for tiny in (False, True):
        assert builtin_model(name, tiny) is builtin_model(ALIASES[name], tiny)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BadInputError) as caught:
        builtin_model("resnet51", tiny=True)
    assert "resnet51" in caught.value.problem
    assert all(name in caught.value.allowed for name in (*builtin_names(), *ALIASES))


def test_a_tiny_model_says_that_it_is_one() -> None:
    for name in builtin_names():
        assert builtin_model(name, tiny=True).source.startswith("a tiny network")
        assert not builtin_model(name, tiny=False).source.startswith("a tiny network")


def test_names_and_made_items_do_without_torch() -> None:
    program = (
        "import sys, pathlib, tempfile\n"
        "from profiler.models.builtin import builtin_model, builtin_names\n"
        "with tempfile.TemporaryDirectory() as directory:\n"
        "    for name in ('res50', 'bert', 'm5', 'dlrm'):\n"
        "        builtin_model(name, tiny=True).make_items(pathlib.Path(directory), 1, seed=0)\n"
        "heavy = {'torch', 'torchvision', 'transformers'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
