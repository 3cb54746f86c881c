"""A small emulated cluster of real workers, for tests."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from emulator.fork_server import ROUNDS_KINDS
from emulator.rounds.checkpoint import Checkpoint
from emulator.rounds.lease import Held, Lease
from emulator.rounds.run import EmulatedRun, RoundsEmulationSettings, emulated_run
from emulator.rounds.steps import Divisors
from emulator.session import Session
from traces.server_pool import ServerGroup, ServerPool
from traces.stage_costs import StageCosts

SERVER_CPUS = 8.0
SERVER_MEMORY_BYTES = 100e9
STORAGE_BYTES_PER_S = 500e6

COMPUTING = StageCosts(gpu_s=0.25, cpu_s=0.0)
"""Neither reads nor prepares anything."""

READING = StageCosts(gpu_s=0.25, cpu_s=0.2, read_bytes=50e6, dataset_bytes=20e9)
"""Reads and prepares, and waits for neither with 2 CPUs and all the memory."""


def divisors(stride: float, cpu: float = 20.0) -> Divisors:
    """A CPU is a twentieth of a core, a storage link has 10 Mbit/s."""
    return Divisors(stride=stride, cpu=cpu, bytes=400.0)


@contextlib.contextmanager
def cluster(
    run_id: str,
    servers: int = 2,
    gpus: int = 2,
    round_s: float = 30.0,
    stride: float = 30.0,
    checkpoints: Mapping[str, Checkpoint] | None = None,
    directory: Path | None = None,
    cpu_divisor: float = 20.0,
) -> Iterator[EmulatedRun]:
    """A cluster whose rounds take a second on the wall."""
    pool = ServerPool((ServerGroup(servers, gpus, SERVER_CPUS, SERVER_MEMORY_BYTES),))
    settings = RoundsEmulationSettings(
        pool=pool,
        divisors=divisors(stride, cpu_divisor),
        storage_bytes_per_s=STORAGE_BYTES_PER_S,
        budget_hop_bps=1.6e9,
        round_s=round_s,
        seed=7,
        work="hash",
        directory=directory or Path.cwd(),
        checkpoints=checkpoints or {},
    )
    with (
        Session(run_id, limits=True, kinds=ROUNDS_KINDS) as session,
        emulated_run(session, settings) as run,
    ):
        yield run


def lease(
    job: str,
    *servers: int,
    stages: StageCosts = COMPUTING,
    left: float = 1e6,
    cpus: float = 2.0,
    memory_bytes: float = 20e9,
    new: bool = False,
    lost_s: float = 0.0,
    done: float = 0.0,
    command: tuple[str, ...] | None = None,
) -> Lease:
    """One GPU on each of ``servers``. A job's number is the last digit of its id."""
    held = tuple(Held(server, 1, cpus, memory_bytes, math.inf) for server in servers)
    return Lease(job, int(job[-1]), held, stages, left, done, new, lost_s, command)
