"""What a run of rounds leaves behind for its verdict and its tables."""

from __future__ import annotations

from array import array
from collections.abc import MutableSequence
from dataclasses import dataclass, field

from emulator.cpu_time import CpuTime
from emulator.rounds.clock import RoundClock
from emulator.rounds.running_job import RunningJob, RunningWorker


@dataclass(frozen=True)
class StepSpan:
    """One step of one worker, in seconds of the emulated cluster since its start.

    stall_s: that the GPU waited for its data before. iterations: of the trace, that a whole step
    stands for.
    """

    job: str
    server: int
    start_s: float
    end_s: float
    stall_s: float
    iterations: float


@dataclass(frozen=True)
class CpuHeld:
    """CPUs of one worker over one round: what its quota allowed, what its steps should have taken,
    and what it used; in shares of the quota."""

    job: str
    demanded_share: float
    used_share: float


@dataclass
class RunEvidence:
    """Collected round by round; only what happened while rounds passed counts.

    spans: of steps that ended, until they are taken. lateness_s: of every waking.
    """

    clock: RoundClock
    spans: list[StepSpan] = field(default_factory=list)
    lateness_s: MutableSequence[float] = field(default_factory=lambda: array("d"))
    cpu: list[CpuHeld] = field(default_factory=list)
    workers_lost: int = 0
    cpu_ticks: int = 0
    idle_ticks: int = 0
    steal_ticks: int = 0

    def add_box(self, before: CpuTime, after: CpuTime) -> None:
        """The box's CPU time over one round."""
        self.cpu_ticks += after.total - before.total
        self.idle_ticks += after.idle - before.idle
        self.steal_ticks += after.steal - before.steal

    def take_spans(self) -> list[StepSpan]:
        """Those since they were last taken, so that a long run does not fill the memory."""
        spans, self.spans = self.spans, []
        return spans

    def add_job(
        self, job: RunningJob, round_start_s: float, resume_s: float, wall_s: float
    ) -> None:
        """What the workers of ``job`` reported of a round.

        round_start_s: of the emulated cluster; resume_s: the same moment on the wall.
        """
        for worker in job.workers:
            if worker.report is None:
                continue
            self.lateness_s.extend(worker.report["lateness_s"])
            stride = self.clock.stride
            self.spans += [
                StepSpan(
                    job=job.lease.job,
                    server=worker.held.server,
                    start_s=round_start_s + (began_s - resume_s) * stride,
                    end_s=round_start_s + (ended_s - resume_s) * stride,
                    stall_s=stall_s * stride,
                    iterations=worker.work.iterations_per_step,
                )
                for began_s, ended_s, stall_s in worker.report["spans"]
            ]
            self._add_cpu(job, worker, wall_s)

    def _add_cpu(self, job: RunningJob, worker: RunningWorker, wall_s: float) -> None:
        if worker.group is None or worker.usage_before is None or worker.finished_s is not None:
            return
        allowed_s = worker.work.cpu_cores * wall_s
        now_s, before_s = worker.group.usage().cpu_s, worker.usage_before.cpu_s
        if now_s is None or before_s is None:
            return
        demanded_s = worker.growth_of("demanded_cpu_s")
        used_share = (now_s - before_s) / allowed_s
        self.cpu.append(CpuHeld(job.lease.job, demanded_s / allowed_s, used_share))
