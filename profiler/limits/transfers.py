"""Transfers of bytes, one after the other in each of several threads, and when each was."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Transfers:
    """float64[n] each: when a transfer began and ended (monotonic clock), and its bytes."""

    begun_s: NDArray[np.float64]
    ended_s: NDArray[np.float64]
    moved_bytes: NDArray[np.float64]


def transfers_until(deadline_s: float, move: Callable[[], int]) -> Transfers:
    """Call ``move``, which says how many bytes it moved, until ``deadline_s``; at least once."""
    records: list[tuple[float, float, int]] = []
    while not records or time.monotonic() < deadline_s:
        begun_s = time.monotonic()
        moved_bytes = move()
        records.append((begun_s, time.monotonic(), moved_bytes))
    begun_s_, ended_s, moved = np.array(records, dtype=np.float64).T
    return Transfers(begun_s_, ended_s, moved)


def joined(parts: Sequence[Transfers]) -> Transfers:
    """Those of all threads, one after the other."""
    return Transfers(
        np.concatenate([part.begun_s for part in parts]),
        np.concatenate([part.ended_s for part in parts]),
        np.concatenate([part.moved_bytes for part in parts]),
    )
