"""Iteration times as a job's own timer has them."""

from __future__ import annotations

import pytest

from profiler.network.emulated_hosts import iteration_lengths_s
from traces.results import IterationSpan


def test_lengths_run_from_end_to_end() -> None:
    spans = [IterationSpan(at, at, at + 1.0) for at in (0.0, 1.5, 2.5)]
    assert iteration_lengths_s(spans) == pytest.approx([1.5, 1.0])
