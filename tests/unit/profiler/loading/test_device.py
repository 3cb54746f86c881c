"""Batches of any form to a device, and which devices there are."""

from __future__ import annotations

from collections import namedtuple

import pytest
import torch

from profiler.loading.device import chosen_device, to_device
from traces.errors import BadInputError, MissingCapabilityError

META = torch.device("meta")
Pair = namedtuple("Pair", ["images", "labels"])


def test_the_tensors_of_a_batch_are_moved_and_the_rest_stays() -> None:
    one = torch.ones(2)
    moved = to_device((one, [one, "name"], {"mask": one, "length": 3}, Pair(one, one)), META)
    images, (listed, name), mapping, pair = moved
    assert images.device == listed.device == mapping["mask"].device == META
    assert (name, mapping["length"]) == ("name", 3)
    assert isinstance(pair, Pair)
    assert pair.labels.device == META


def test_what_is_on_the_device_is_not_copied() -> None:
    batch = torch.ones(2)
    assert to_device(batch, torch.device("cpu")) is batch


@pytest.mark.parametrize("name", ["meta", "gpu", "xpu:0", ""])
def test_a_device_that_cannot_be_timed_is_refused(name: str) -> None:
    with pytest.raises(BadInputError, match="cuda:0"):
        chosen_device(name)


def test_a_gpu_that_is_not_there_is_said() -> None:
    with pytest.raises(MissingCapabilityError, match="cuda:99"):
        chosen_device("cuda:99")
