"""What of this box decides how much traffic it carries: kernel, CPU model, cores."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass

from traces.provenance import cpu_model


@dataclass(frozen=True)
class Machine:
    """kernel: its release. cpu: None where /proc/cpuinfo names no model (as on ARM)."""

    kernel: str
    cpu: str | None
    cores: int

    def difference(self, now: Machine) -> str | None:
        """The first thing that ``now`` has otherwise, in words; None where all is the same."""
        for what, then_value, now_value in (
            ("kernel", self.kernel, now.kernel),
            ("CPU", self.cpu, now.cpu),
            ("number of cores", self.cores, now.cores),
        ):
            if then_value != now_value:
                return f"{what} ({then_value or 'unknown'}; now {now_value or 'unknown'})"
        return None


def this_machine() -> Machine:
    """The box as this process may use it."""
    return Machine(platform.release(), cpu_model(), len(os.sched_getaffinity(0)))
