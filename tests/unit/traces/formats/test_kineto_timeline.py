"""Kineto: what of an iteration is compute time, and what is waiting for the network."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.traces.communication import noted, sizes
from tests.unit.traces.formats.kineto_trace import Trace, overlapped


def test_network_time_is_taken_out_of_the_compute_timeline(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    imported = trace.run(tmp_path)
    demand = imported.profile.demand
    assert imported.profile.measured_iteration_s == pytest.approx(0.100)
    assert demand.compute_s == pytest.approx(0.080)  # 20 ms of the second one were waited for
    assert [one.ready_s for one in demand.transfers] == pytest.approx([0.040, 0.060])
    assert [one.blocking for one in demand.transfers] == [False, True]
    assert sizes(imported) == [1000 * 4 * 1.5, 3000 * 4 * 1.5]
    assert noted(imported, "stood still", "20 ms")


def test_compute_time_does_not_depend_on_the_fabric_that_was_traced(
    trace: Trace, tmp_path: Path
) -> None:
    overlapped(trace, 1, 0, slower=200)
    demand = trace.run(tmp_path).profile.demand
    assert demand.compute_s == pytest.approx(0.080)
    assert [one.ready_s for one in demand.transfers] == pytest.approx([0.040, 0.060])


def test_gaps_of_the_host_are_compute_time(trace: Trace, tmp_path: Path) -> None:
    trace.step(1, 0, 100)
    trace.compute(1, 9, launch=0.5)
    trace.collective(20, 30, issued=19)
    trace.compute(60, 10, launch=59.9)  # begins after the all-reduce, but was launched late
    imported = trace.run(tmp_path)
    assert imported.profile.demand.compute_s == pytest.approx(0.100)
    assert not imported.iterations[0].collectives[0].compute_waited


def test_a_host_that_waits_for_the_gpu_is_waiting_for_the_network(
    trace: Trace, tmp_path: Path
) -> None:
    trace.step(1, 0, 100)
    trace.compute(1, 19, launch=0.5)
    trace.collective(20, 30, issued=19)
    trace.wait_of_host(19.5, 31)
    trace.compute(60, 10, launch=59.9)
    assert trace.run(tmp_path).profile.demand.compute_s == pytest.approx(0.070)


def test_collectives_inside_the_forward_pass_are_blocking(trace: Trace, tmp_path: Path) -> None:
    trace.step(1, 0, 100)
    trace.compute(0.5, 9.5, launch=0.5)
    for start in (10, 30, 50):  # tensor parallelism: compute 10 ms, then 10 ms of all-reduce
        trace.collective(start, 10, issued=0.8 + start / 100)
        trace.compute(start + 10, 10, launch=0.9 + start / 100)
    demand = trace.run(tmp_path).profile.demand
    assert [one.blocking for one in demand.transfers] == [True, True, True]
    assert [one.ready_s for one in demand.transfers] == pytest.approx([0.010, 0.020, 0.030])
    assert demand.compute_s == pytest.approx(0.070)


def test_a_last_transfer_without_work_after_it_is_not_blocking(
    trace: Trace, tmp_path: Path
) -> None:
    trace.step(1, 0, 100)
    trace.compute(1, 50, launch=0.5)
    trace.collective(40, 30, issued=39)
    assert not trace.run(tmp_path).profile.demand.transfers[0].blocking


def test_a_transfer_that_queued_was_ready_when_its_data_were(trace: Trace, tmp_path: Path) -> None:
    trace.step(1, 0, 300)
    trace.compute(1, 19, launch=1)
    trace.collective(20, 100, issued=2)
    trace.compute(20, 20, launch=3)
    trace.collective(120, 100, issued=4)  # its data were ready at 40, its stream at 120
    trace.compute(40, 50, launch=5)
    trace.compute(220, 30, launch=6)
    imported = trace.run(tmp_path)
    demand = imported.profile.demand
    assert [one.start_s for one in imported.iterations[0].collectives] == pytest.approx(
        [0.020, 0.120]
    )
    assert [one.ready_s for one in demand.transfers] == pytest.approx([0.020, 0.040])
    assert demand.compute_s == pytest.approx(0.170)


def test_a_short_wait_does_not_make_a_transfer_blocking(trace: Trace, tmp_path: Path) -> None:
    trace.step(1, 0, 100)
    trace.compute(1, 49, launch=1)
    trace.collective(40, 15, issued=39)
    trace.compute(55, 15, launch=49)  # waits for 5 ms of the 15
    trace.collective(60, 10, issued=58)
    demand = trace.run(tmp_path).profile.demand
    assert demand.compute_s == pytest.approx(0.095)
    assert [one.blocking for one in demand.transfers] == [False, False]


def test_waiting_for_something_else_is_compute_time(trace: Trace, tmp_path: Path) -> None:
    trace.step(1, 0, 100)
    trace.compute(1, 9, launch=1)
    trace.collective(30, 20, issued=9)  # nobody on the network between 10 and 30
    trace.compute(50, 10, launch=9.5)
    assert trace.run(tmp_path).profile.demand.compute_s == pytest.approx(0.080)


def test_copies_of_inputs_do_not_hide_waiting(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    trace.copy("Memcpy HtoD (Pinned -> Device)", 62, 10)
    assert trace.run(tmp_path).profile.demand.compute_s == pytest.approx(0.080)
    trace.copy("Memcpy DtoD (Device -> Device)", 62, 10)
    assert trace.run(tmp_path).profile.demand.compute_s == pytest.approx(0.090)


def test_without_launching_calls_a_covered_gap_is_waiting(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    trace.events = [event for event in trace.events if event["cat"] != "cuda_runtime"]
    imported = trace.run(tmp_path)
    assert imported.profile.demand.compute_s == pytest.approx(0.080)
    assert noted(imported, "no launching calls")
