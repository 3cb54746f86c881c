"""TUNE and the proportional mechanism: who runs, what they get, and when nothing changes."""

from __future__ import annotations

import numpy as np

from harness.scheduling.allocation import Allocation
from harness.scheduling.demands import Demands
from harness.scheduling.mechanisms import MECHANISMS
from harness.scheduling.mechanisms.mechanism import Mechanism, PackingTables, Placement
from tests.unit.harness.scheduling_builders import (
    FAIR_CPUS,
    FAIR_MEMORY,
    GB,
    Kind,
    active_of,
    demands_of,
    places_in,
    pool_of,
    table_of,
)
from traces.server_pool import ServerGroup, ServerPool

HUNGRY = Kind(cpus=5, speedup=1.5)
FRUGAL = Kind(cpus=1, memory_bytes=20 * GB)
TWO_TYPES = ServerPool(
    (
        ServerGroup(1, 2, cpus=6, memory_bytes=100 * GB, gpu_type="v100"),
        ServerGroup(2, 2, cpus=8, memory_bytes=100 * GB, gpu_type="a100"),
    )
)


def allocated(
    pool: ServerPool,
    demands: Demands,
    kinds: list[int],
    mechanism: str = "tune",
    placement: Placement = "best-fit",
) -> Allocation:
    """The first round of jobs of these kinds, in order of submission."""
    table = table_of(demands, iterations=[1] * len(kinds), kinds=kinds)
    chosen = MECHANISMS[mechanism](demands, pool, placement)
    active = active_of(table, demands, pool)
    return chosen.allocate(active, np.arange(len(kinds)), Allocation.nothing())


def test_tune_gives_wishes_and_the_proportional_mechanism_fair_shares() -> None:
    pool = pool_of(servers=1, gpus=2)
    demands = demands_of(pool, HUNGRY, FRUGAL)
    tune = allocated(pool, demands, [0, 1])
    assert tune.share.tolist() == [[5, FAIR_MEMORY, 0], [1, 20 * GB, 0]]
    assert tune.iteration_s.tolist() == [1 / 1.5, 1]
    proportional = allocated(pool, demands, [0, 1], "proportional")
    assert proportional.share.tolist() == [[FAIR_CPUS, FAIR_MEMORY, 0]] * 2
    assert proportional.iteration_s.tolist() == [1, 1]
    for allocation in (tune, proportional):
        assert places_in(allocation) == {0: {0: 1}, 1: {0: 1}}
        assert not allocation.held_to_fair_share.any()


def test_a_job_held_to_its_fair_share_has_it_whole_and_its_speed() -> None:
    pool = pool_of(servers=1, gpus=2)
    demands = demands_of(pool, Kind(cpus=5, memory_bytes=20 * GB, speedup=1.5))
    tune = allocated(pool, demands, [0, 0])
    assert tune.share.tolist() == [[FAIR_CPUS, FAIR_MEMORY, 0]] * 2
    assert tune.iteration_s.tolist() == [1, 1]
    assert tune.held_to_fair_share.all()


def test_jobs_are_chosen_by_gpus_alone_in_the_policys_order() -> None:
    pool = pool_of(servers=1, gpus=4)
    demands = demands_of(pool, Kind(num_gpus=3, cpus=4), Kind(num_gpus=2), Kind(cpus=12))
    table = table_of(demands, iterations=[1] * 4, kinds=[1, 0, 1, 2])
    active = active_of(table, demands, pool)
    tune = MECHANISMS["tune"](demands, pool, "best-fit")
    order = np.array([1, 0, 3, 2])
    assert tune.allocate(active, order, Allocation.nothing()).jobs.tolist() == [1, 3]


def test_the_job_with_more_gpus_is_packed_first_although_it_comes_last() -> None:
    """Whoever is packed first has its wish; the other one's fair share still fits."""
    pool = pool_of(servers=1, gpus=4)
    demands = demands_of(pool, Kind(cpus=6), Kind(num_gpus=2, cpus=4))
    assert allocated(pool, demands, [0, 1]).held_to_fair_share.tolist() == [True, False]


def ranks(*kinds: Kind) -> list[int]:
    pool = pool_of(servers=1, gpus=8)
    tables = PackingTables.of(demands_of(pool, *kinds), pool, wishes=True)
    np.testing.assert_array_equal(tables.rank, tables.alike)
    return tables.rank[:, 0].tolist()


def test_the_packing_order_is_by_gpus_then_cpus_then_memory() -> None:
    largest_first = [
        Kind(num_gpus=3, cpus=1, memory_bytes=1),
        Kind(num_gpus=2, cpus=5, memory_bytes=1),
        Kind(num_gpus=2, cpus=4, memory_bytes=3),
        Kind(num_gpus=2, cpus=4, memory_bytes=2),
        Kind(num_gpus=1, cpus=9, memory_bytes=9),
    ]
    assert ranks(*largest_first) == [0, 1, 2, 3, 4]
    assert ranks(*largest_first[::-1]) == [4, 3, 2, 1, 0]


def test_kinds_that_want_the_same_have_the_same_rank_whatever_their_speed() -> None:
    assert ranks(Kind(cpus=4, speedup=2), Kind(cpus=5), Kind(cpus=4, speedup=3)) == [1, 0, 1]


def test_under_fair_shares_only_gpus_tell_kinds_apart() -> None:
    pool = pool_of(servers=1, gpus=8)
    demands = demands_of(pool, Kind(cpus=9), Kind(cpus=1), Kind(num_gpus=2))
    tables = PackingTables.of(demands, pool, wishes=False)
    assert tables.rank[:, 0].tolist() == [1, 1, 0]
    assert not tables.above_fair.any()


def mechanism_of(demands: Demands, pool: ServerPool) -> Mechanism:
    return MECHANISMS["tune"](demands, pool, "best-fit")


def test_where_the_same_jobs_run_the_allocation_is_the_one_before() -> None:
    """In whatever order they are, and whoever waits."""
    pool = pool_of(servers=2, gpus=1)
    demands = demands_of(pool, HUNGRY)
    table = table_of(demands, iterations=[1] * 3)
    tune = mechanism_of(demands, pool)
    before = tune.allocate(active_of(table, demands, pool, jobs=[0, 1]), np.arange(2), (
        Allocation.nothing()
    ))  # fmt: skip
    everybody = active_of(table, demands, pool)
    assert tune.allocate(everybody, np.array([1, 0, 2]), before) is before
    assert tune.allocate(everybody, np.array([2, 0, 1]), before) is not before


def test_each_type_of_gpu_is_packed_apart_and_servers_are_numbered_through() -> None:
    """All want to be on the first type, as nothing tells the two apart."""
    demands = demands_of(TWO_TYPES, Kind(num_gpus=2, cpus=5))
    tune = allocated(TWO_TYPES, demands, [0, 0, 0])
    assert tune.gpu_type.tolist() == [0, 1, 1]
    assert places_in(tune) == {0: {0: 2}, 1: {1: 2}, 2: {2: 2}}
    assert tune.share[:, 0].tolist() == [3, 4, 4]
    assert tune.held_to_fair_share.all()


def test_a_job_that_changes_its_type_leaves_its_servers() -> None:
    """The first job was alone on the first type; one that comes before it takes it."""
    demands = demands_of(TWO_TYPES, Kind(num_gpus=2))
    table = table_of(demands, iterations=[1, 1])
    tune = mechanism_of(demands, TWO_TYPES)
    alone = tune.allocate(
        active_of(table, demands, TWO_TYPES, jobs=[0]), np.arange(1), Allocation.nothing()
    )
    assert places_in(alone) == {0: {0: 2}}
    both = tune.allocate(active_of(table, demands, TWO_TYPES), np.array([1, 0]), alone)
    assert places_in(both) == {0: {1: 2}, 1: {0: 2}}
    assert both.gpu_type.tolist() == [1, 0]


def test_without_jobs_nothing_runs() -> None:
    pool = pool_of(servers=1, gpus=2)
    demands = demands_of(pool, HUNGRY)
    table = table_of(demands, iterations=[1])
    tune = mechanism_of(demands, pool)
    before = tune.allocate(active_of(table, demands, pool), np.arange(1), Allocation.nothing())
    nobody = active_of(table, demands, pool, jobs=[])
    after = tune.allocate(nobody, np.empty(0, dtype=np.int64), before)
    assert after.jobs.tolist() == []
    assert after.offsets.tolist() == [0]
