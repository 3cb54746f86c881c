"""Which stage limits, and what is enough for it not to."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiler.sensitivity.stalls import Rates, enough, stalls, what_if

RATE = st.floats(1.0, 1e5)
RATES = st.builds(
    Rates,
    cpus=st.floats(0.25, 64),
    ingestion=RATE,
    preparation=RATE,
    storage=RATE,
    memory=RATE,
    hit_share=st.floats(0, 1),
)


def test_the_slowest_stage_limits() -> None:
    rates = Rates(cpus=4, ingestion=1000, preparation=600, storage=300)
    assert (rates.speed, rates.limit) == (300, "fetch")
    cached = replace(rates, hit_share=0.75)
    assert (cached.fetch, cached.speed, cached.limit) == (1200, 600, "preparation")
    assert replace(cached, preparation=1000).limit == "ingestion"


def test_stalls_are_what_each_stage_adds() -> None:
    found = stalls(Rates(cpus=4, ingestion=1000, preparation=500, storage=250))
    assert (found.preparation, found.fetch) == pytest.approx((0.25, 0.5))
    busy = stalls(Rates(cpus=4, ingestion=100, preparation=500, storage=250))
    assert (busy.preparation, busy.fetch) == (0, 0)


def test_the_table_has_each_change_alone() -> None:
    rows = what_if(Rates(cpus=4, ingestion=1000, preparation=500, storage=300, hit_share=0.5))
    speeds = {row.change: row.rates.speed for row in rows}
    assert speeds["as it is"] == 500
    assert speeds["6 CPUs"] == 600  # then fetching limits
    assert speeds["100 % cached"] == 500
    assert "50 % cached" not in speeds
    assert speeds["2 times the storage rate"] == 500


def test_what_is_enough() -> None:
    found = enough(Rates(cpus=4, ingestion=1000, preparation=500, storage=250))
    assert (found.cpus, found.hit_share, found.storage) == pytest.approx((4, 0.5, 500))
    slow_memory = enough(Rates(cpus=4, ingestion=1000, preparation=500, storage=250, memory=400))
    assert slow_memory.hit_share is None


@given(RATES)
def test_with_enough_its_stage_limits_no_more(rates: Rates) -> None:
    found = enough(rates)
    prepared = rates.preparation * found.cpus / rates.cpus
    assert prepared >= min(rates.ingestion, rates.fetch) * (1 - 1e-9)
    others = min(rates.ingestion, rates.preparation)
    if found.hit_share is not None:
        assert 0 <= found.hit_share <= 1
        assert replace(rates, hit_share=found.hit_share).fetch >= others * (1 - 1e-9)
    if found.storage is not None:
        assert replace(rates, storage=found.storage).fetch >= others * (1 - 1e-9)


@given(RATES)
def test_busy_time_and_stalls_make_up_all_of_it(rates: Rates) -> None:
    found = stalls(rates)
    assert found.preparation + found.fetch + rates.speed / rates.ingestion == pytest.approx(1)


def test_rates_are_above_zero() -> None:
    with pytest.raises(ValueError, match="above 0"):
        Rates(cpus=4, ingestion=0, preparation=1, storage=1)
    with pytest.raises(ValueError, match="hits"):
        Rates(cpus=4, ingestion=1, preparation=1, storage=1, hit_share=1.1)
