"""The columns that simulated and emulated runs share."""

from __future__ import annotations

import dataclasses

import pytest

from traces.results import IterationRow, IterationSpan, JobRow, LinkRow, iteration_rows

UNITS = ("_s", "_bps", "_bytes", "_packets")
WITHOUT_UNIT = {
    "arm", "job", "model", "network", "port", "iteration", "counted", "workers", "iterations",
    "adjustments",
}  # fmt: skip


@pytest.mark.parametrize("kind", [IterationRow, JobRow, LinkRow])
def test_every_measured_column_carries_its_unit(kind: type) -> None:
    for field in dataclasses.fields(kind):
        assert field.name in WITHOUT_UNIT or field.name.endswith(UNITS), field.name


def test_an_iteration_runs_from_the_end_of_the_one_before() -> None:
    spans = [IterationSpan(10.5, 10.6, 10.75), IterationSpan(11.0, 11.1, 11.25)]
    first, second = iteration_rows("arm", "one", spans, warmup=1, anchor_s=10.0)
    assert (first.arm, first.job, first.iteration, first.counted) == ("arm", "one", 0, False)
    assert (first.start_s, first.end_s, first.iteration_s) == (0.5, 0.75, 0.25)
    assert first.communication_start_s == pytest.approx(0.6)
    # it waited a quarter of a second for its grid, and that is part of it
    assert (second.start_s, second.end_s, second.iteration_s) == (1.0, 1.25, 0.5)
    assert second.counted


def test_a_row_cannot_be_changed() -> None:
    row = LinkRow("arm", "n0", "a->b", None, 0.0, 0.0, 1.0, 0.0, 0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        row.rate_bps = 5.0  # type: ignore[misc]
