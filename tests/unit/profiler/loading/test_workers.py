from __future__ import annotations

import pytest

from profiler.loading.workers import workers_for


@pytest.mark.parametrize(
    ("cpus", "workers"), [(0.25, 2), (1.0, 2), (1.25, 3), (2.0, 3), (2.5, 4), (24.0, 25)]
)
def test_a_worker_for_each_cpu_or_part_of_one_and_one_that_waits(cpus: float, workers: int) -> None:
    assert workers_for(cpus) == workers
