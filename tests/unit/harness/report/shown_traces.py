"""Two traces as the page shows them: one that knows everything, and one that knows little."""

from __future__ import annotations

import numpy as np
import pandas as pd

from harness.report.page import page_of
from harness.report.traces.article import article_of
from harness.report.traces.data import ShownTrace
from traces.description import describe
from traces.distances import trace_distances
from traces.job_trace import STATES, JobTrace, checked_trace

_S_PER_H = 3600.0


def shown(label: str, trace: JobTrace) -> ShownTrace:
    return ShownTrace(label, trace, describe(trace))


def rich_trace(count: int = 400) -> JobTrace:
    """Jobs of ten days, of which everything is known."""
    draw = np.random.default_rng(1)
    numbers = np.arange(count)
    frame = pd.DataFrame(
        {
            "job": pd.Series(numbers).astype("string"),
            "submit_s": np.sort(draw.uniform(0, 240 * _S_PER_H, count)),
            "num_gpus": draw.choice([1, 2, 4, 8], count),
            "duration_s": draw.lognormal(8, 2, count),
            "queue_s": draw.exponential(600, count),
            "user": draw.choice(["<b>ann</b>", "bob", "cid"], count),
            "virtual_cluster": draw.choice(["red", "blue"], count),
            "state": draw.choice(STATES[:3], count),
        }
    )
    return checked_trace(
        frame,
        source="cluster.csv, SHA-256 abc",
        format="test",
        read=count + 5,
        left_out={"drop-never-started": 5},
        notes=("blank lines left out: 3",),
        began="2024-03-04T09:30:00+00:00",
    )


def poor_trace() -> JobTrace:
    """Jobs that came one after the other, of which only the iterations are known."""
    frame = pd.DataFrame(
        {
            "job": pd.Series(["a", "b", "c"], dtype="string"),
            "submit_s": [0.0, 60.0, 90.0],
            "num_gpus": [1, 1, 16],
            "iterations": [100.0, 200.0, 300.0],
        }
    )
    return checked_trace(frame, source="jobs.txt, SHA-256 def", format="other", share=0.25)


def page_of_one(trace: JobTrace, label: str = "cluster.csv") -> str:
    return page_of({"trace": article_of([shown(label, trace)], None, "trace")})


def page_of_two(first: JobTrace, second: JobTrace) -> str:
    traces = [shown("first", first), shown("second", second)]
    distances = trace_distances(first.jobs, second.jobs)
    return page_of({"trace": article_of(traces, distances, "trace")})
