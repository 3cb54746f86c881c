"""Gathers the iterations of one point, and says when there are enough. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from profiler.sensitivity.precision import Estimate, Precision, estimate
from profiler.sensitivity.steadiness import steady_from

WAIT, COPY, COMPUTE, ITERATION = range(4)
"""Columns of a record, seconds."""

_GROWTH = 1.05  # times as many iterations as when they were looked at last


class Collector:
    """Of one allocation. period: iterations after which their pattern repeats, see ``steady_from``.

    A look at all iterations costs milliseconds of a CPU that may be one of those that are measured:
    so it comes only when there are noticeably more of them than at the last one.
    """

    def __init__(self, precision: Precision, period: int) -> None:
        self._precision = precision
        self._period = period
        self._parts: list[NDArray[np.float64]] = []
        self._count = 0
        self._looked_at = 0
        self.steady_from: int | None = None
        self.estimate: Estimate | None = None

    def add(self, records: Sequence[Sequence[float]]) -> None:
        """Seconds that each iteration waited, copied, computed, and took in all."""
        if records:
            self._parts.append(np.array(records, dtype=np.float64).reshape(len(records), 4))
            self._count += len(records)

    @property
    def records(self) -> NDArray[np.float64]:
        """float64[iterations, 4], oldest first."""
        return np.concatenate(self._parts) if self._parts else np.empty((0, 4))

    def is_done(self, spent_s: float) -> bool:
        """Whether to leave the point: its times are steady and precise, or its budget is spent."""
        is_spent = spent_s >= self._precision.budget_s
        if not self._count or (not is_spent and self._count < self._looked_at * _GROWTH):
            return False
        self._look()
        return is_spent or (
            self.steady_from is not None
            and self.estimate is not None
            and self._precision.is_precise(self.estimate)
        )

    @property
    def is_precise(self) -> bool:
        """Whether the last look found it so."""
        return self.estimate is not None and self._precision.is_precise(self.estimate)

    @property
    def warmup(self) -> int:
        """Iterations that do not count; where times never became steady, the first half."""
        return self._count // 2 if self.steady_from is None else self.steady_from

    def _look(self) -> None:
        self._looked_at = self._count
        times = self.records[:, ITERATION]
        self.steady_from = steady_from(times, self._period)
        self.estimate = estimate(times[self.warmup :], self._period)
