"""The columns that simulated and emulated runs share."""

from __future__ import annotations

import dataclasses

import pytest

from traces.results import IterationRow, JobRow, LinkRow

UNITS = ("_s", "_bps", "_bytes", "_packets")
WITHOUT_UNIT = {
    "arm", "job", "model", "network", "port", "iteration", "counted", "workers", "iterations",
    "adjustments",
}  # fmt: skip


@pytest.mark.parametrize("kind", [IterationRow, JobRow, LinkRow])
def test_every_measured_column_carries_its_unit(kind: type) -> None:
    for field in dataclasses.fields(kind):
        assert field.name in WITHOUT_UNIT or field.name.endswith(UNITS), field.name


def test_a_row_cannot_be_changed() -> None:
    row = LinkRow("arm", "n0", "a->b", None, 0.0, 0.0, 1.0, 0.0, 0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        row.rate_bps = 5.0  # type: ignore[misc]
