"""One point while it is measured: what is known of it so far, whatever happens to the training."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiler.allocation import Allocation
from profiler.measuring.collector import COMPUTE, COPY, WAIT, Collector
from profiler.sensitivity.measured_point import MeasuredPoint, Purpose, State
from profiler.training.protocol import Iterations

Records = NDArray[np.float64]
"""(iterations, 4), s: waited, copied, computed, in all."""


class Attempt:
    """What is known of a point so far."""

    def __init__(self, allocation: Allocation, purpose: Purpose) -> None:
        self.allocation = allocation
        self.purpose = purpose
        self.begun_s = time.monotonic()
        self.evidence: dict[str, Any] = {}
        self.collector: Collector | None = None
        self.latest: Iterations | None = None
        self.state: State = "measured"
        self._reason = ""

    def fail(self, state: State, reason: str) -> None:
        self.state, self._reason = state, reason

    @property
    def is_steady(self) -> bool:
        """Whether its times have become so."""
        return self.collector is not None and self.collector.steady_from is not None

    @property
    def records(self) -> Records:
        return np.empty((0, 4)) if self.collector is None else self.collector.records

    def point(self) -> MeasuredPoint:
        """As it is now."""
        collector, latest = self.collector, self.latest
        times: dict[str, Any] = {"state": self.state, "reason": self._reason}
        if latest is not None:
            times |= {
                "hits": latest.hits,
                "misses": latest.misses,
                "fetched_bytes": latest.fetched_bytes,
            }
        if self.state == "measured" and collector is not None and collector.estimate is not None:
            counted = self.records[collector.warmup :]
            # Loaders deliver in bursts, so that the median iteration hardly waits.
            means = counted[:, [WAIT, COPY, COMPUTE]].mean(axis=0).tolist()
            times |= dict(zip(("wait_s", "copy_s", "compute_s"), means, strict=True))
            times |= {
                "iteration_s": collector.estimate.iteration_s,
                "interval_s": collector.estimate.interval_s,
                "iterations": len(counted),
                "warmup_iterations": collector.warmup,
                "steady": self.is_steady,
                "precise": collector.is_precise,
            }
        return MeasuredPoint(
            self.allocation,
            self.purpose,
            evidence=self.evidence,
            cost_s=time.monotonic() - self.begun_s,
            **times,
        )
