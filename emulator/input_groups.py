"""The cgroups of the input pipelines of one job's workers, and what they used of their CPUs."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field

from emulator.cpu_scale import InputWork
from emulator.limits.limited_group import LimitedGroup
from emulator.messages import Message
from emulator.session import Session
from traces.errors import MissingCapabilityError


@dataclass(frozen=True)
class CpuUse:
    """CPU seconds on this box of a job's input pipelines together: allowed by quotas, and used."""

    job: str
    allowed_s: float
    used_s: float


@dataclass
class InputGroups:
    """One group a worker, in the order of ranks, each held to ``cores`` of this box.

    Counted since ``count``: what came before, such as starting a process, is nobody's lease.
    """

    job: str
    groups: list[LimitedGroup]
    cores: float
    _allowed_s: float = 0.0
    _since_s: float = field(default_factory=time.monotonic)
    _used_before_s: float = 0.0

    @classmethod
    def create(
        cls, session: Session, job: str, name: str, workers: int, cores: float
    ) -> InputGroups:
        """Groups with ``name`` in theirs, in a session that has limits."""
        groups = []
        for rank in range(workers):
            group = session.limited_group(f"{name}-input{rank}")
            if group is None:
                raise ValueError("the session keeps no limits")
            groups.append(group)
        made = cls(job, groups, cores)
        made._limit(cores)
        return made

    def messages(self, work: InputWork) -> list[Message]:
        """What each worker is told of its input pipeline, as ``emulator.fed_worker`` describes."""
        loader = asdict(work.loader)
        return [
            {"loader": loader, "groups": [str(path) for path in group.paths]}
            for group in self.groups
        ]

    def count(self) -> None:
        """Begin to count. Raises MissingCapabilityError where the kernel does not."""
        self._since_s, self._allowed_s, self._used_before_s = time.monotonic(), 0.0, self._used_s()

    def change(self, cores: float) -> None:
        """Hold each to ``cores`` from now on."""
        self._charge()
        self._limit(cores)

    def remove(self) -> CpuUse:
        """End what is in the groups and remove them; what they used since ``count``."""
        for group in self.groups:
            group.kill()
        self._charge()
        use = CpuUse(self.job, self._allowed_s, self._used_s() - self._used_before_s)
        for group in self.groups:
            group.remove()
        return use

    def _limit(self, cores: float) -> None:
        self.cores = cores
        for group in self.groups:
            group.set(cpu_cores=cores)

    def _charge(self) -> None:
        now_s = time.monotonic()
        self._allowed_s += self.cores * len(self.groups) * (now_s - self._since_s)
        self._since_s = now_s

    def _used_s(self) -> float:
        total_s = 0.0
        for group in self.groups:
            used_s = group.usage().cpu_s
            if used_s is None:
                raise MissingCapabilityError(
                    f"the CPU time of {group.paths[0]} cannot be read",
                    remedy="mount the cgroup controller 'cpuacct', or cgroup v2",
                )
            total_s += used_s
        return total_s
