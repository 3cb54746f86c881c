"""The device that a loop computes on, and batches copied to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from traces.errors import BadInputError, MissingCapabilityError


def chosen_device(name: torch.device | str) -> torch.device:
    """The CPU or a GPU of CUDA: the devices whose work can be timed.

    Raises
    ------
    BadInputError: it is another one.
    MissingCapabilityError: PyTorch finds no such GPU here.
    """
    try:
        device = torch.device(name)
    except RuntimeError:
        device = torch.device("meta")
    if device.type not in ("cpu", "cuda"):
        raise BadInputError(f"there is no device {name}", allowed="cpu, cuda, cuda:0, cuda:1, ...")
    if device.type == "cpu":
        return torch.device("cpu")
    if (device.index or 0) >= torch.cuda.device_count():
        raise MissingCapabilityError(f"PyTorch finds no {name} here", remedy="use the device cpu")
    index = torch.cuda.current_device() if device.index is None else device.index
    return torch.device("cuda", index)


def device_in_use() -> torch.device:
    """CUDA's current GPU, where this process uses one; else the CPU."""
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cpu")


def to_device(batch: Any, device: torch.device) -> Any:
    """``batch`` with its tensors on ``device``; what is no tensor stays as it is.

    Tensors are looked for in tuples, lists and mappings (which become a dict). For a GPU they are
    pinned first, where their loader has not done it: only from pinned memory does a copy run beside
    what the GPU computes, without the host waiting for it.
    """
    if isinstance(batch, torch.Tensor):
        if device.type == "cuda" and batch.device.type == "cpu" and not batch.is_pinned():
            batch = batch.pin_memory()
        return batch.to(device, non_blocking=True)
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(to_device(part, device) for part in batch))
    if isinstance(batch, (tuple, list)):
        return type(batch)(to_device(part, device) for part in batch)
    if isinstance(batch, Mapping):
        return {key: to_device(part, device) for key, part in batch.items()}
    return batch
