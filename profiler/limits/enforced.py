"""What was asked of the kernel for one point, and what took effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from profiler.allocation import Allocation

Means = Literal["cgroup", "affinity"]


@dataclass(frozen=True)
class Enforced:
    """Read back from the kernel after it was set.

    asked: the allocation. cpus: CPU time a second that the processes can get, of all that bounds
    it. cpu_list: the CPUs they run on, as the kernel writes sets, kept by ``cpus_by``. quota_us,
    period_us: of CPU time; None without a quota, as where whole CPUs are given. memory_guard_bytes:
    None without a guard. unenforced: what differs from what was asked, each with the remedy.
    """

    asked: Allocation
    cpus: float
    cpu_list: str
    cpus_by: Means
    quota_us: int | None
    period_us: int | None
    memory_guard_bytes: int | None
    unenforced: tuple[str, ...]

    def to_document(self) -> Mapping[str, object]:
        """For a point's record."""
        return asdict(self)
