"""What a job holds for one round, and how far it comes: the words between scheduler and cluster.

Unscaled: the amounts and the seconds of the cluster that is emulated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from traces.stage_costs import StageCosts


@dataclass(frozen=True)
class Held:
    """What a job holds on one server, over all its GPUs there.

    storage_bytes_per_s: infinite where nothing but the server's storage link holds it back.
    """

    server: int
    gpus: int
    cpus: float
    memory_bytes: float
    storage_bytes_per_s: float


@dataclass(frozen=True)
class Lease:
    """A job's right to run in a round.

    job: its id; number: its row in the run's jobs. is_new: other servers, CPUs or memory than in
    the last round; lost_s: what that costs at the start of the round. iterations_left: until the
    job ends; iterations_done: by earlier leases. command: the user's own, instead of the replayed
    stages.
    """

    job: str
    number: int
    held: tuple[Held, ...]
    stages: StageCosts
    iterations_left: float
    iterations_done: float
    is_new: bool
    lost_s: float = 0.0
    command: tuple[str, ...] | None = None


class JobState(StrEnum):
    """running: goes on. finished. requeued: its worker was lost, what it had done since its last
    checkpoint does not count. out-of-memory, failed: over, without being done."""

    RUNNING = "running"
    FINISHED = "finished"
    REQUEUED = "requeued"
    OUT_OF_MEMORY = "out-of-memory"
    FAILED = "failed"


@dataclass(frozen=True)
class ServerUse:
    """What a job was held to and what it used on one server in one round, unscaled.

    cpu_s: CPU time; throttled_s: wall time, in emulated seconds, for which the quota stopped it;
    demanded_cpu_s: what the samples that it prepared should take. peak_memory_bytes: of the whole
    process, on this box. None where the kernel does not say.
    """

    server: int
    enforced_cpus: float | None
    enforced_memory_bytes: float
    cpu_s: float | None
    demanded_cpu_s: float
    throttled_s: float | None
    peak_memory_bytes: float | None
    hits: int
    misses: int


@dataclass(frozen=True)
class JobProgress:
    """How far one job came in a round.

    iterations: that it did in this round and that count. ended_s: when it ended, in seconds after
    the round's start. reason: of a state that is not plain, in a clause.
    """

    state: JobState
    iterations: float
    ended_s: float | None = None
    reason: str = ""
    use: tuple[ServerUse, ...] = ()


@dataclass(frozen=True)
class RoundOutcome:
    """All jobs that held a lease, by id. incidents: what went wrong and was mended, in clauses."""

    progress: Mapping[str, JobProgress]
    incidents: tuple[str, ...] = ()
