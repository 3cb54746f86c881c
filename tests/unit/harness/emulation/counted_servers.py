"""Servers that count instead of running: the answer of a perfect emulation, for the harness."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from emulator.rounds.lease import JobProgress, JobState, Lease, RoundOutcome, ServerUse

Meddle = Callable[[int, Lease, JobProgress], JobProgress]


def undisturbed(_number: int, _lease: Lease, progress: JobProgress) -> JobProgress:
    return progress


def iteration_s(lease: Lease) -> float:
    """Of the slowest server's GPUs."""
    return max(
        lease.stages.iteration_s(
            held.cpus / held.gpus,
            held.memory_bytes / held.gpus,
            held.storage_bytes_per_s / held.gpus,
        )
        for held in lease.held
    )


class CountedServers:
    """Every iteration takes what its stages say. meddle: changes what a round says of a job."""

    def __init__(self, round_s: float, meddle: Meddle = undisturbed) -> None:
        self._round_s = round_s
        self._meddle = meddle
        self.rounds: list[tuple[int, tuple[Lease, ...]]] = []

    def run_round(self, number: int, leases: Sequence[Lease]) -> RoundOutcome:
        self.rounds.append((number, tuple(leases)))
        progress = {
            lease.job: self._meddle(number, lease, self._progress(lease)) for lease in leases
        }
        incidents = tuple(f"{job}: {each.reason}" for job, each in progress.items() if each.reason)
        return RoundOutcome(progress, incidents)

    def _progress(self, lease: Lease) -> JobProgress:
        seconds = iteration_s(lease)
        needed_s = lease.lost_s + lease.iterations_left * seconds
        use = tuple(
            ServerUse(h.server, h.cpus, h.memory_bytes, 10.0, 12.0, 1.5, h.memory_bytes / 2, 5, 3)
            for h in lease.held
        )
        if needed_s <= self._round_s * (1 + 1e-12):
            return JobProgress(JobState.FINISHED, lease.iterations_left, needed_s, use=use)
        done = max(self._round_s - lease.lost_s, 0.0) / seconds
        return JobProgress(JobState.RUNNING, done, use=use)
