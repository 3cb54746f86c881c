"""Nobody passes the barrier before all have come; real connections over loopback."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from emulator.training.barrier import Barrier

ROOT = "127.0.0.1"
PATIENCE_S = 30.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((ROOT, 0))
        port: int = probe.getsockname()[1]
        return port


def connected(ranks: int) -> list[Barrier]:
    port = free_port()
    specifications = [
        {
            "rank": rank,
            "ranks": ranks,
            "address": f"127.0.0.{rank + 1}",
            "root_address": ROOT,
            "port": port,
            "dscp": 8,
        }
        for rank in range(ranks)
    ]
    with ThreadPoolExecutor(ranks) as pool:
        return list(pool.map(Barrier, specifications))


def passes(barrier: Barrier, patience_s: float = PATIENCE_S) -> bool:
    return barrier.wait(time.monotonic() + patience_s)


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("last", [0, 1])
def test_nobody_passes_before_all_have_come(ranks: int, last: int) -> None:
    barriers = connected(ranks)
    early = [barrier for rank, barrier in enumerate(barriers) if rank != last]
    with ThreadPoolExecutor(ranks) as pool:
        for _ in range(3):
            assert not any(pool.map(lambda each: passes(each, 0.05), early))
            assert all(pool.map(passes, barriers))


def test_a_wait_that_was_broken_off_does_not_count_twice() -> None:
    root, other = connected(2)
    with ThreadPoolExecutor(2) as pool:
        for _ in range(3):
            assert not passes(other, 0.0)
        assert all(pool.map(passes, (root, other)))
        assert not passes(root, 0.05)


@pytest.mark.parametrize("gone", [0, 1])
def test_a_rank_that_is_gone_is_no_reason_to_wait(gone: int) -> None:
    barriers = connected(2)
    del barriers[gone]  # and with it its sockets
    with pytest.raises(ConnectionError):
        passes(barriers[0])
