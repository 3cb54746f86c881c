"""Scenarios of a few jobs on two servers, and runs that were never made."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.experiments.reproduce.simulated import Simulated

TINY: dict[str, Any] = {
    "name": "tiny",
    "cluster": {"servers": 2, "gpus": 8, "cpus": 24, "memory": "500 GB"},
    "workload": {
        "generate": {"jobs": 40, "load": 0.8, "gpus": "single"},
        "split": {"image": 1, "language": 1},
    },
    "scheduler": {"policy": "fifo", "mechanism": "proportional"},
}


def made_up(
    mean_h: float, *, policy: str = "fifo", jobs: int = 40, last_counts: bool = False
) -> Simulated:
    """A run whose jobs take ``mean_h`` in the mean; half of them are long when alone."""
    submit_s = np.arange(jobs) * 600.0
    jct_s = 3600 * mean_h * np.linspace(0.5, 1.5, jobs)
    measured = np.ones(jobs, dtype=np.bool_)
    measured[-1] = last_counts
    jct_s *= 3600 * mean_h / jct_s[measured].mean()
    finish_s = submit_s + jct_s
    return Simulated(
        document={"source": "made up", "load": 1.1, "end_s": float(finish_s[measured].max())},
        policy=policy,
        submit_s=submit_s,
        finish_s=finish_s,
        alone_s=np.where(np.arange(jobs) % 2, 3600.0, 36_000.0),
        measured=measured,
    )
