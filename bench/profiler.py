"""What the iterator costs a training loop."""

from __future__ import annotations

import os
import socket
import statistics
import time
from collections.abc import Iterable, Iterator

import torch
from torch.utils.data import DataLoader, TensorDataset

from bench.figures import Figure
from emulator.messages import MessageSocket
from profiler.loading.feed import FeedDescription
from profiler.loading.iterator import TrainingIterator
from profiler.training.conductor import Conductor
from profiler.training.link import ProfilerLink
from profiler.training.protocol import Allocate, Ready, command_message

_ITERATION_S = 0.01
_ITERATIONS = 10_000
_PAIRS = 7


def measure() -> Iterator[Figure]:
    """Iterations that load and compute next to nothing, so that what is added to them shows."""
    bare = DataLoader(TensorDataset(torch.zeros(_ITERATIONS, 1)), batch_size=1)
    ours, theirs = socket.socketpair()
    reader = _reader(theirs, ours)
    theirs.close()
    iterator = TrainingIterator(bare)
    iterator.conductor = Conductor(ProfilerLink(ours), _introduced, torch.get_num_threads())
    _looped_s(bare)
    _looped_s(iterator)
    added_s = []
    for _ in range(_PAIRS):
        bare_s = _looped_s(bare)
        added_s.append((_looped_s(iterator) - bare_s) / _ITERATIONS)
    ours.close()
    os.waitpid(reader, 0)
    added = statistics.median(added_s)
    note = (
        f"{added * 1e6:.1f} us more an iteration ({min(added_s) * 1e6:.1f} to "
        f"{max(added_s) * 1e6:.1f}) than the bare DataLoader, reporting to another process, of an "
        f"iteration of {_ITERATION_S * 1e3:.0f} ms; median of {_PAIRS} alternating pairs of "
        f"{_ITERATIONS:,} iterations each"
    )
    value = 100 * added / _ITERATION_S
    yield Figure("profiler.iterator_overhead_pct", value, "%", 1.0, "at most", None, note)


def _looped_s(batches: Iterable[object]) -> float:
    began_s = time.perf_counter()
    for _ in batches:
        pass
    return time.perf_counter() - began_s


def _introduced(feed: FeedDescription, device: torch.device) -> Ready:
    return Ready("none", "script", 1, str(device), "", feed.loader, None, None)


def _reader(end: socket.socket, other: socket.socket) -> int:
    """A process that allocates once and reads until the other end is closed."""
    pid = os.fork()
    if pid:
        return pid
    other.close()
    messages = MessageSocket(end)
    messages.send(command_message(Allocate(1.0, 0)))
    while messages.receive() is not None:
        pass
    os._exit(0)
