"""How fast storage and memory were measured to be, as plain data of a profile. Pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from profiler.measuring.fetching import MachineSpeeds


def speeds_document(speeds: MachineSpeeds | None) -> dict[str, Any] | None:
    """doubt: why figures may not be those of storage, null where they are. None where nothing was
    measured."""
    if speeds is None:
        return None
    return {
        "storage": [asdict(storage) | {"doubt": storage.doubt} for storage in speeds.storage],
        "memory": asdict(speeds.memory),
    }
