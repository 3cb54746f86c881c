"""What a lease used is the sum over its rounds; what the kernel does not say stays unknown."""

from __future__ import annotations

import numpy as np

from emulator.rounds.lease import ServerUse
from harness.emulation.lease_use import LeaseUse
from harness.leases import EndedLeases


def ended(*rows: tuple[int, int, float, float]) -> EndedLeases:
    """Leases as (job, server, from_s, until_s)."""
    job, server, from_s, until_s = (np.array(column) for column in zip(*rows, strict=True))
    amounts = np.ones(len(rows))
    held = np.zeros(len(rows), dtype=np.bool_)
    return EndedLeases(job, server, amounts, amounts, amounts, amounts, from_s, until_s, held)


def test_rounds_of_a_lease_are_summed_up() -> None:
    use = LeaseUse()
    use.add(4, [ServerUse(1, 3.0, 60e9, 100.0, 120.0, 1.0, 5e9, hits=7, misses=2)])
    use.add(4, [ServerUse(1, 3.0, 60e9, 200.0, 180.0, 0.5, 4e9, hits=1, misses=0)])
    assert use.take(ended((4, 1, 0.0, 150.0))) == {
        "cpus_enforced": [3.0],
        "cpus_used": [2.0],
        "memory_enforced_bytes": [60e9],
        "memory_peak_bytes": [5e9],
        "throttled_s": [1.5],
        "cpu_demanded_s": [300.0],
        "hits": [8],
        "misses": [2],
    }


def test_the_next_lease_begins_at_nothing() -> None:
    use = LeaseUse()
    use.add(0, [ServerUse(0, 3.0, 60e9, 100.0, 120.0, 1.0, 5e9, hits=7, misses=2)])
    use.take(ended((0, 0, 0.0, 50.0)))
    use.add(0, [ServerUse(0, 6.0, 60e9, 10.0, 12.0, 0.0, 1e9, hits=1, misses=1)])
    second = use.take(ended((0, 0, 50.0, 60.0)))
    assert (second["cpus_enforced"], second["cpus_used"], second["hits"]) == ([6.0], [1.0], [1])


def test_leases_in_which_nothing_ran_and_what_is_not_said_are_unknown() -> None:
    use = LeaseUse()
    use.add(0, [ServerUse(0, None, None, None, 12.0, None, None, hits=0, misses=0)])
    columns = use.take(ended((0, 0, 0.0, 10.0), (1, 0, 0.0, 10.0)))
    assert columns["cpus_used"] == [None, None]
    assert columns["throttled_s"] == [None, None]
    assert columns["cpu_demanded_s"] == [12.0, None]
