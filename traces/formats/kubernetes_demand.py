"""What pods of Kubernetes ask for.

A pod asks for the sum over its containers and its sidecars, or for what one init container asks for
if that is more. Of GPUs the limits count, as for Kubernetes itself; of CPUs and memory the
requests, or the limits where there are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from traces.formats.kubernetes_object import Part

GPU_RESOURCES = ("nvidia.com/gpu", "nvidia.com/gpu.shared", "amd.com/gpu", "gpu.intel.com/i915")
"""A unit of each counts as one GPU, and so does a slice of one (``nvidia.com/mig-1g.5gb``)."""

_SLICE = re.compile(r"nvidia\.com/(mig-[\w.-]+)", re.ASCII)
_GPU_TYPE_LABELS = ("nvidia.com/gpu.product", "cloud.google.com/gke-accelerator")


@dataclass(frozen=True)
class Demand:
    """GPUs, CPUs and bytes of memory, and the types of GPUs that are told, each once."""

    gpus: float = 0.0
    cpus: float = 0.0
    memory_bytes: float = 0.0
    gpu_types: tuple[str, ...] = ()

    def __add__(self, other: Demand) -> Demand:
        return Demand(
            self.gpus + other.gpus,
            self.cpus + other.cpus,
            self.memory_bytes + other.memory_bytes,
            self._types_with(other),
        )

    def at_least(self, other: Demand) -> Demand:
        """The more of each."""
        return Demand(
            max(self.gpus, other.gpus),
            max(self.cpus, other.cpus),
            max(self.memory_bytes, other.memory_bytes),
            self._types_with(other),
        )

    def times(self, count: int) -> Demand:
        """That of ``count`` pods; of none, nothing."""
        amounts = self.gpus * count, self.cpus * count, self.memory_bytes * count
        return Demand(*amounts, self.gpu_types if count else ())

    def _types_with(self, other: Demand) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.gpu_types, *other.gpu_types)))


def demand_of(pods: Iterable[tuple[int, Part]]) -> Demand:
    """What ``pods``, how many of which specification, ask for together."""
    return sum((_of_pod(spec).times(count) for count, spec in pods), Demand())


def _of_pod(spec: Part) -> Demand:
    running, most = Demand(), Demand()
    for container in spec.at("initContainers").parts():
        asked = _of_container(container)
        if container.at("restartPolicy").text() == "Always":  # a sidecar, which stays
            running = running + asked
        else:
            most = most.at_least(running + asked)
    for container in spec.at("containers").parts():
        running = running + _of_container(container)
    most = most.at_least(running)
    selector = spec.at("nodeSelector")
    told = (selector.at(label).text() for label in _GPU_TYPE_LABELS)
    gpu_type = next((each for each in told if each is not None), None)
    if gpu_type is None or not most.gpus or most.gpu_types:
        return most
    return replace(most, gpu_types=(gpu_type,))


def _of_container(container: Part) -> Demand:
    resources = container.at("resources")
    limits, requests = resources.at("limits"), resources.at("requests")
    gpus = {
        name: _first(limits.at(name), requests.at(name))
        for name in (*limits.names(), *requests.names())
        if name in GPU_RESOURCES or _SLICE.fullmatch(name)
    }
    slices = [_SLICE.fullmatch(name) for name, count in gpus.items() if count]
    return Demand(
        gpus=sum(gpus.values()),
        cpus=_first(requests.at("cpu"), limits.at("cpu")),
        memory_bytes=_first(requests.at("memory"), limits.at("memory")),
        gpu_types=tuple(found[1] for found in slices if found),
    )


def _first(*amounts: Part) -> float:
    return next((each for each in (part.amount() for part in amounts) if each is not None), 0.0)
