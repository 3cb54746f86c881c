"""What a training process runs on."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import torch

_PACKAGES = (
    "torch",
    "triton",  # what torch.compile makes kernels of a GPU with
    "torchvision",
    "transformers",
    "nvidia-dali-cuda120",
    "numpy",
    "pillow",
)


def device_name(device: torch.device) -> str:
    """Of the processor, as the machine calls it."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return platform.processor() or platform.machine()


def gpu_uuid(device: torch.device) -> str | None:
    """As CUDA has it, whatever its number here; None of a processor that is no GPU."""
    if device.type != "cuda":
        return None
    return str(torch.cuda.get_device_properties(device).uuid)


def versions() -> dict[str, str]:
    """Of Python and of what trains and loads, as far as it is installed."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    if torch.version.cuda is not None:
        found["cuda"] = torch.version.cuda
    return found
