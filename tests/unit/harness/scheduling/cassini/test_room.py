"""Longer periods where jobs do not fit, and only there."""

from __future__ import annotations

import pytest

from harness.scheduling.cassini.interleaving import interleave
from harness.scheduling.cassini.memo import Rotations
from harness.scheduling.cassini.room import with_room
from tests.unit.harness.scheduling.cassini.demand_curves import PERIOD_S, angles
from tests.unit.harness.scheduling.cassini.test_interleaving import HALF, links_between

MORE_THAN_HALF = angles((0, 43))  # of 72: two of them score 0.8


def test_jobs_that_fit_stay_as_they_are() -> None:
    found = interleave(links_between("ab", "bc", of=HALF), Rotations())
    assert with_room(found, Rotations()) == found


def test_jobs_that_do_not_fit_get_as_much_longer_periods_as_does_not_fit() -> None:
    found = interleave(links_between("ab", of=MORE_THAN_HALF), Rotations())
    assert found.scores == pytest.approx((58 / 72,))
    roomy = with_room(found, Rotations())
    assert roomy.scores == pytest.approx((1.0,), abs=0.01)
    longer_s = PERIOD_S * 86 / 72
    assert [shift.period_s for shift in roomy.shifts.values()] == pytest.approx([longer_s] * 2)
    shifts_s = [roomy.shifts[job].shift_s for job in "ab"]
    # They take turns, to a step of five degrees.
    assert abs(shifts_s[1] - shifts_s[0]) == pytest.approx(longer_s / 2, abs=longer_s / 72)


def test_jobs_that_are_not_connected_with_them_stay_as_they_are() -> None:
    unfit, fit = links_between("ab", of=MORE_THAN_HALF), links_between("cd", of=HALF)
    found = interleave([*fit, *unfit], Rotations())
    roomy = with_room(found, Rotations())
    assert roomy.links[0] == found.links[0]
    assert [roomy.shifts[job] == found.shifts[job] for job in "abcd"] == [False, False, True, True]


def test_a_job_that_fits_keeps_step_with_one_that_does_not() -> None:
    links = [*links_between("ab", of=MORE_THAN_HALF), *links_between("bc", of=MORE_THAN_HALF)]
    roomy = with_room(interleave(links, Rotations()), Rotations())
    assert len({shift.period_s for shift in roomy.shifts.values()}) == 1
    assert roomy.scores == pytest.approx((1.0, 1.0), abs=0.01)
