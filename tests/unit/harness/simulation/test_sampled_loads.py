"""Loads in equal stretches of time, from stretches of any length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.simulation.fluid import RateSegment
from harness.simulation.sampled_loads import SampledLoads
from traces.cluster import Port

PORT, OTHER = Port("a", "b"), Port("b", "a")


def sampled(*segments: tuple[float, float, float], interval_s: float = 0.1) -> SampledLoads:
    loads = SampledLoads(interval_s)
    for start_s, end_s, rate_bps in segments:
        loads.add(RateSegment(PORT, "job", start_s, end_s, rate_bps))
    return loads


def test_a_stretch_counts_where_it_lies() -> None:
    ((times_s, rates_bps),) = sampled((0.05, 0.32, 1000.0)).rates().values()
    assert times_s == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert rates_bps == pytest.approx([500.0, 1000.0, 1000.0, 200.0])


def test_what_lies_in_one_stretch_adds_up() -> None:
    ((_, rates_bps),) = sampled((0.0, 0.02, 1000.0), (0.05, 0.07, 500.0)).rates().values()
    assert rates_bps == pytest.approx([300.0])


def test_a_port_is_idle_before_between_and_after_its_loads() -> None:
    loads = sampled((0.2, 0.3, 8.0), (0.5, 0.6, 8.0))
    loads.add(RateSegment(OTHER, "job", 0.0, 0.8, 8.0))
    times_s, rates_bps = loads.rates()[PORT, "job"]
    assert times_s == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    assert rates_bps == pytest.approx([0.0, 0.0, 8.0, 0.0, 0.0, 8.0, 0.0, 0.0], abs=1e-6)


def test_another_job_of_a_port_has_its_own_stretches_alone() -> None:
    loads = sampled((0.0, 0.8, 8.0))
    loads.add(RateSegment(PORT, "other", 0.2, 0.4, 4.0))
    times_s, rates_bps = loads.rates()[PORT, "other"]
    assert times_s == pytest.approx([0.3, 0.4])
    assert rates_bps == pytest.approx([4.0, 4.0])
    assert SampledLoads(0.1).rates() == {}


def test_ports_and_jobs_are_apart() -> None:
    loads = SampledLoads(0.1)
    for port, job, rate_bps in ((PORT, "x", 1.0), (PORT, "y", 2.0), (OTHER, "x", 3.0)):
        loads.add(RateSegment(port, job, 0.0, 0.1, rate_bps))
    found = {key: rates_bps.item() for key, (_, rates_bps) in loads.rates().items()}
    assert found == pytest.approx({(PORT, "x"): 1.0, (PORT, "y"): 2.0, (OTHER, "x"): 3.0})


SEGMENT = st.tuples(st.floats(0, 100), st.floats(1e-9, 3), st.floats(1, 1e11))


@given(st.lists(SEGMENT, min_size=1, max_size=8), st.sampled_from([0.1, 0.02, 0.3]))
def test_no_bit_is_lost(parts: list[tuple[float, float, float]], interval_s: float) -> None:
    segments = [(start_s, start_s + length_s, rate) for start_s, length_s, rate in parts]
    sent_bits = sum((end_s - start_s) * rate for start_s, end_s, rate in segments)
    ((times_s, rates_bps),) = sampled(*segments, interval_s=interval_s).rates().values()
    assert rates_bps.sum() * interval_s == pytest.approx(sent_bits, rel=1e-9)
    assert times_s[-1] >= max(end_s for _, end_s, _ in segments) - 1e-9
