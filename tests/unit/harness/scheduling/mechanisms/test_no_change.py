"""Where nothing changes, a mechanism returns the very allocation of the round before.

A cluster that restarts all jobs upon any change relies on it.
"""

from __future__ import annotations

import numpy as np
import pytest

from harness.scheduling.allocation import Allocation
from harness.scheduling.mechanisms import MECHANISMS
from tests.unit.harness.scheduling_builders import Kind, active_of, demands_of, pool_of, table_of

POOL = pool_of(servers=2, gpus=2)
DEMANDS = demands_of(POOL, Kind(cpus=2, speedup=2), Kind(num_gpus=2))


@pytest.mark.parametrize("name", ["proportional", "greedy", "tune", "tune-published"])
def test_the_same_allocation_is_returned_only_where_nothing_changes(name: str) -> None:
    active = active_of(table_of(DEMANDS, iterations=[1] * 3, kinds=[0, 1, 0]), DEMANDS, POOL)
    fewer = active_of(active.table, DEMANDS, POOL, jobs=[0, 1])
    mechanism = MECHANISMS[name](DEMANDS, POOL, "best-fit")
    first = mechanism.allocate(active, np.arange(3), Allocation.nothing())
    assert mechanism.allocate(active, np.arange(3), first) is first
    second = mechanism.allocate(fewer, np.arange(2), first)
    assert second is not first
    assert second.jobs.tolist() == [0, 1]


def test_an_allocation_differs_in_any_of_its_arrays() -> None:
    first = MECHANISMS["tune"](DEMANDS, POOL, "best-fit").allocate(
        active_of(table_of(DEMANDS, iterations=[1]), DEMANDS, POOL),
        np.arange(1),
        Allocation.nothing(),
    )
    for name in Allocation.__dataclass_fields__:
        values = {each: getattr(first, each).copy() for each in Allocation.__dataclass_fields__}
        assert Allocation(**values).unless_equal(first) is first
        values[name] = ~values[name] if values[name].dtype == bool else values[name] + 1
        assert Allocation(**values).unless_equal(first) is not first
