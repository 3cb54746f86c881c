"""Kineto: which iterations a trace has, and which of them the demand is made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.traces.communication import noted, sizes
from tests.unit.traces.formats.kineto_trace import Trace, overlapped


def test_a_host_that_runs_ahead_does_not_move_work_to_the_next_step(
    trace: Trace, tmp_path: Path
) -> None:
    for number in (1, 2):  # the host needs 10 ms a step, the GPU 100 ms
        host, gpu = 10 * (number - 1), 1 + 100 * (number - 1)
        trace.step(number, host, 10)
        trace.compute(gpu, 60, launch=host + 1)
        trace.collective(gpu + 60, 30, issued=host + 2)
        trace.compute(gpu + 60, 40, launch=host + 3)
    imported = trace.run(tmp_path)
    first, second = imported.iterations
    assert [len(first.collectives), len(second.collectives)] == [1, 1]
    assert second.duration_s == pytest.approx(0.101)
    assert second.collectives[0].ready_s == pytest.approx(0.061)


def test_medians_over_iterations(trace: Trace, tmp_path: Path) -> None:
    for number, slower in enumerate((0, 0, 50)):
        overlapped(trace, number, 200 * number, slower)
    profile = trace.run(tmp_path).profile
    assert profile.measured_iteration_s == pytest.approx(0.100)
    assert "3 iterations" in profile.source


def test_iterations_with_other_collectives_are_left_out_and_named(
    trace: Trace, tmp_path: Path
) -> None:
    overlapped(trace, 4, 0)
    overlapped(trace, 5, 200)
    trace.step(6, 400, 100)
    trace.collective(410, 5, issued=409, elements=77)
    imported = trace.run(tmp_path)
    assert len(imported.iterations) == 3
    assert sizes(imported) == [6000, 18000]
    assert noted(imported, "1 of 3 iterations", "ProfilerStep#6")


def test_between_equally_common_sequences_the_later_is_taken(trace: Trace, tmp_path: Path) -> None:
    for number, elements in enumerate((500, 900)):
        trace.step(number, number * 100, 90)
        trace.collective(number * 100 + 10, 5, issued=number * 100 + 9, elements=elements)
    assert sizes(trace.run(tmp_path)) == [900 * 4 * 1.5]
