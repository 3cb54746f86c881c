"""Who keeps its time-shift when jobs on shared links change."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from harness.scheduling.cassini.interleaving import Interleaving, interleave
from harness.scheduling.cassini.links import SharedLink
from harness.scheduling.cassini.memo import Rotations
from harness.scheduling.cassini.time_shifts import GRID_SLACK
from harness.scheduling.placed.shifts import in_step
from tests.unit.harness.scheduling.cassini.demand_curves import ALWAYS, PERIOD_S, angles
from tests.unit.harness.scheduling.cassini.test_interleaving import HALF, link, links_between
from traces.schedule import TimeShift

GRID_S = PERIOD_S * (1 + GRID_SLACK)


def between(links: Iterable[SharedLink]) -> Interleaving:
    return interleave(list(links), Rotations())


def apart_s(shifts: dict[str, TimeShift], one: str, other: str) -> float:
    """By how much ``other`` is later than ``one``."""
    return (shifts[other].shift_s - shifts[one].shift_s) % PERIOD_S


def test_without_jobs_that_run_the_shifts_are_the_interleavings() -> None:
    found = between(links_between("ab", of=HALF))
    shifts = in_step(found, {}, {}, Rotations())
    assert {job: shift.shift_s for job, shift in shifts.items()} == pytest.approx(
        {job: shift.shift_s for job, shift in found.shifts.items()}
    )
    assert all(shift.is_held and shift.grid_period_s == GRID_S for shift in shifts.values())


@pytest.mark.parametrize("shift_s", [0.0, 0.0123, 0.0719999])
def test_the_one_that_runs_keeps_its_very_shift_and_the_other_follows(shift_s: float) -> None:
    """Were it but rounding, a job would be moved to the grid that it is on."""
    before = {"b": TimeShift(shift_s, GRID_S)}
    shifts = in_step(between(links_between("ab", of=HALF)), before, {"b": ()}, Rotations())
    assert shifts["b"] == before["b"]
    assert apart_s(shifts, "b", "a") == pytest.approx(PERIOD_S / 2)
    assert all(0 <= shift.shift_s < PERIOD_S for shift in shifts.values())


def test_of_two_that_run_the_first_stays_and_the_second_turns() -> None:
    before = {"a": TimeShift(0.01, GRID_S), "b": TimeShift(0.011, GRID_S)}
    shifts = in_step(between(links_between("ab", of=HALF)), before, {"b": (), "a": ()}, Rotations())
    assert shifts["b"] == before["b"]
    assert apart_s(shifts, "b", "a") == pytest.approx(PERIOD_S / 2)


def test_two_that_fit_as_they_run_both_stay() -> None:
    before = {"a": TimeShift(0.01, GRID_S), "b": TimeShift(0.01 + PERIOD_S / 2, GRID_S)}
    shifts = in_step(between(links_between("ab", of=HALF)), before, {"a": (), "b": ()}, Rotations())
    assert shifts == before


def test_a_job_that_was_moved_is_no_measure() -> None:
    found = between(links_between("ab", of=HALF))
    before = {"b": TimeShift(0.0123, GRID_S)}
    assert in_step(found, before, {}, Rotations()) == in_step(found, {}, {}, Rotations())


def test_a_grid_of_another_period_is_not_kept() -> None:
    found = between(links_between("ab", of=HALF))
    for other in (TimeShift(0.0123, GRID_S * 1.1), TimeShift(0.0123, GRID_S, is_held=False)):
        assert in_step(found, {"b": other}, {"b": ()}, Rotations()) == in_step(
            found, {}, {}, Rotations()
        )


def test_jobs_that_share_nothing_turn_by_themselves() -> None:
    links = [*links_between("ab", of=HALF), link({"c": HALF, "d": HALF}, 7)]
    before = {"b": TimeShift(0.0123, GRID_S), "d": TimeShift(0.03, GRID_S)}
    shifts = in_step(between(links), before, {"b": (), "d": ()}, Rotations())
    assert shifts["b"] == before["b"]
    assert shifts["d"] == before["d"]
    assert apart_s(shifts, "d", "c") == pytest.approx(PERIOD_S / 2)


def test_where_a_link_does_not_fit_all_that_is_connected_takes_turns_on_a_longer_grid() -> None:
    links = [link({"a": HALF, "b": angles((0, 36))}), link({"b": HALF, "c": ALWAYS}, 1)]
    links.append(link({"d": HALF, "e": HALF}, 2))
    shifts = in_step(between(links), {}, {}, Rotations())
    longer = {job: shift.grid_period_s / GRID_S for job, shift in shifts.items()}
    # half of what b and c ask for together has no room on the circle
    assert longer == pytest.approx({"a": 1.5, "b": 1.5, "c": 1.5, "d": 1.0, "e": 1.0})


def test_a_job_whose_period_becomes_longer_has_no_shift_to_keep() -> None:
    links = [link({"a": HALF, "b": ALWAYS})]
    before = {"a": TimeShift(0.0123, GRID_S)}
    assert in_step(between(links), before, {"a": ()}, Rotations()) == in_step(
        between(links), {}, {}, Rotations()
    )
