"""What a profile was measured on: CPUs, memory, GPU, versions."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict

from emulator.cgroups import own_hierarchies
from emulator.machine import this_machine
from profiler.limits.gpu_counters import GpuCounters
from profiler.limits.group_files import least_memory_limit
from profiler.limits.usable import usable_cpus
from traces.errors import MissingCapabilityError

_PACKAGES = (
    "roundelay",
    "numpy",
    "torch",
    "torchvision",
    "transformers",
    "nvidia-dali-cuda120",
    "nvidia-ml-py",
)


def machine_description(gpu_uuid: str | None, *, uses_gpu: bool) -> Mapping[str, object]:
    """For the provenance of a profile.

    gpu_uuid: of the GPU that is used; None where only one can be meant. A package that is not
    installed has no version. The CUDA version is the one that the driver supports; the one that
    torch was built for is torch's to tell.
    """
    return {
        "machine": asdict(this_machine())
        | {
            "architecture": platform.machine(),
            "usable_cpus": usable_cpus(),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "memory_limit_bytes": least_memory_limit(own_hierarchies()),
        },
        "gpu": _gpu(gpu_uuid) if uses_gpu else None,
        "versions": _versions(),
    }


def _gpu(uuid: str | None) -> Mapping[str, object]:
    try:
        with contextlib.closing(GpuCounters(uuid)) as gpu:
            return {
                "name": gpu.name,
                "uuid": gpu.uuid,
                "driver": gpu.driver,
                "driver_cuda": gpu.driver_cuda,
            }
    except MissingCapabilityError as error:
        return {"missing": str(error)}


def _versions() -> Mapping[str, str | None]:
    found: dict[str, str | None] = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found
