"""What one measured point gives a training job."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Allocation:
    """cpus: of all its processes together. cache_bytes: what its MinIO cache may hold."""

    cpus: float
    cache_bytes: int
