"""CPU time that a pipeline got beyond its quota because rounds pause. Pure.

Between two rounds a pipeline stands still, but the kernel's periods go on: whatever it had used of
a period's quota, it finds a whole one when it goes on. What it got too much so it waits for at the
start of the next round, so that over its rounds it uses what its lease allows.
"""

from __future__ import annotations

from dataclasses import dataclass

from emulator.limits.bandwidth import cpu_bandwidth


@dataclass
class QuotaSurplus:
    """surplus_s: CPU time that is still to be waited for; at most the quota of one period, since
    no pause gives more."""

    surplus_s: float = 0.0

    def end_round(self, cores: float, length_s: float, used_s: float) -> None:
        """A round of ``length_s`` on the wall, held to ``cores``, took ``used_s`` of CPU time."""
        more_s = self.surplus_s + used_s - cores * length_s
        self.surplus_s = min(max(more_s, 0.0), cpu_bandwidth(cores).quota_us / 1e6)

    def wait_s(self, cores: float) -> float:
        """How long a pipeline that is held to ``cores`` stands still to make up for it."""
        return self.surplus_s / cores
