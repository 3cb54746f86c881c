"""Rotations and time-shifts of one placement: chains, loops, and what cannot be compared."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scheduling.cassini import memo
from harness.scheduling.cassini.interleaving import (
    GENEROUS_JOBS,
    GIVEN_UP_SCORE,
    Interleaving,
    interleave,
)
from harness.scheduling.cassini.links import SharedLink
from harness.scheduling.cassini.memo import LinkKey, Rotations
from harness.scheduling.cassini.precision import Precision
from harness.scheduling.cassini.rotation import score_at
from tests.unit.harness.scheduling.cassini.demand_curves import (
    LINE,
    PERIOD_S,
    aligned_curves,
    angles,
    curve,
)
from traces.cluster import Port
from traces.demand import DemandCurve

HALF, THIRD = angles((0, 36)), angles((0, 24))


def link(curves: dict[str, DemandCurve], number: int = 0) -> SharedLink:
    ports = (Port(f"switch{number}", "core"),)
    return SharedLink(tuple(curves), ports, tuple(curves.values()), LINE)


def links_between(*pairs: str, of: DemandCurve) -> list[SharedLink]:
    """A link for each of ``pairs``, the letters of which are jobs with the curve ``of``."""
    return [link(dict.fromkeys(pair, of), number) for number, pair in enumerate(pairs)]


def interleaved(links: list[SharedLink]) -> Interleaving:
    return interleave(links, Rotations())


def shifts_s(found: Interleaving) -> dict[str, float]:
    return {job: shift.shift_s for job, shift in found.shifts.items()}


def test_without_links_there_is_nothing_to_shift() -> None:
    found = interleaved([])
    assert (found.links, found.shifts, found.scores, found.complete) == ((), {}, (), True)


def test_a_job_that_meets_two_others_keeps_step_with_both() -> None:
    found = interleaved(links_between("ab", "bc", of=HALF))
    assert found.scores == pytest.approx((1.0, 1.0))
    assert shifts_s(found) == pytest.approx({"a": 0.0, "b": 0.036, "c": 0.0})
    assert (found.loops, found.complete) == (0, True)


def test_jobs_that_are_not_connected_have_periods_of_their_own() -> None:
    pair = {"a": curve((0, 0.1), period_s=0.255), "b": curve((0, 0.1), period_s=0.26)}
    found = interleaved([link(pair), link({"c": HALF, "d": HALF}, 1)])
    assert {job: shift.period_s for job, shift in found.shifts.items()} == pytest.approx(
        {"a": 0.26, "b": 0.26, "c": PERIOD_S, "d": PERIOD_S}
    )
    assert found.scores == pytest.approx((1.0, 1.0))


@pytest.mark.parametrize(("share", "lengthened"), [(0.45, True), (0.05, False)])
def test_a_period_is_lengthened_by_much_only_where_it_pays(share: float, lengthened: bool) -> None:
    # 6 % apart: a period for both avoids collisions of 45 %, or ones of hardly anything
    times_s = {"a": 0.155, "b": 0.165}
    pair = {job: curve((0, share * time_s), period_s=time_s) for job, time_s in times_s.items()}
    found = interleaved([link(pair)])
    assert (found.period_rounding == pytest.approx(0.165 / 0.155 - 1)) == lengthened
    assert (found.period_rounding <= 0.02) == (not lengthened)
    assert (found.scores[0] == pytest.approx(1.0)) == lengthened


def test_of_many_connected_jobs_no_period_is_lengthened_by_much() -> None:
    times_s = [0.155 + number * 0.0017 for number in range(GENEROUS_JOBS + 1)]
    curves = [curve((0, 0.45 * time_s), period_s=time_s) for time_s in times_s]
    chain = [
        link({f"job{number}": curves[number], f"job{number + 1}": curves[number + 1]}, number)
        for number in range(GENEROUS_JOBS)
    ]
    assert interleaved(chain[:-1]).period_rounding > 0.02
    assert interleaved(chain).period_rounding <= 0.02


def test_a_job_has_the_same_period_on_all_its_links() -> None:
    ab = {"a": curve((0, 0.02), period_s=0.1), "b": curve((0, 0.02), period_s=0.15)}
    bc = {"b": ab["b"], "c": curve((0, 0.02), period_s=0.17)}
    found = interleaved([link(ab), link(bc, 1)])
    for each in found.links:
        assert each.rotation is not None
        of_link = dict(zip(each.link.jobs, each.rotation.circle.periods_s, strict=True))
        assert of_link == pytest.approx({job: found.shifts[job].period_s for job in of_link})


@settings(max_examples=40)
@given(st.lists(aligned_curves(), min_size=2, max_size=4), aligned_curves(24), st.data())
def test_the_shifts_give_every_link_its_score(
    curves: list[DemandCurve], other: DemandCurve, data: st.DataObject
) -> None:
    jobs = dict(zip("abcd", [*curves[:3], other], strict=False))
    names = list(jobs)
    pairs = [data.draw(st.permutations(names[first:]))[:2] for first in range(len(names) - 1)]
    links = [link({job: jobs[job] for job in pair}, number) for number, pair in enumerate(pairs)]
    found = interleaved(links)
    for each in found.links:
        assert each.rotation is not None
        assert each.score is not None
        if all(job in found.shifts for job in each.link.jobs):
            shifts = [found.shifts[job].shift_s for job in each.link.jobs]
            assert score_at(each.rotation.circle, shifts) == pytest.approx(each.score, abs=1e-9)
            assert each.score >= each.rotation.score - GIVEN_UP_SCORE


def test_a_link_that_closes_a_loop_may_give_up_a_little() -> None:
    # b is half a step later on the second link, where it so has no rotation that fits exactly
    tight = {"a": angles((0, 36)), "b": angles((0, 36))}
    near = {"a": angles((0, 36)), "b": curve((0.0005, 0.0365))}
    found = interleaved([link(tight), link(near, 1)])
    assert (found.complete, found.loops) == (True, 1)
    best = [each.rotation.score for each in found.links if each.rotation]
    given_up = np.subtract(best, found.scores)
    assert 0 < given_up.max() <= GIVEN_UP_SCORE
    assert given_up.min() == 0


def test_a_loop_with_slack_is_accepted() -> None:
    # by themselves all pairs would stand half a turn apart; three thirds fit in any case
    links = [link(dict.fromkeys("abc", THIRD)), *links_between("ab", "bc", "ca", of=THIRD)]
    found = interleaved(links)
    assert found.scores == pytest.approx((1.0,) * 4)
    assert found.loops == 3
    assert found.complete
    for first, second in itertools.combinations(shifts_s(found).values(), 2):
        assert min(abs(first - second), PERIOD_S - abs(first - second)) >= 0.024 - 1e-9


def test_a_loop_without_is_a_contradiction() -> None:
    # a and b take turns, b and c do; so a and c collide
    found = interleaved(links_between("ab", "bc", "ca", of=HALF))
    (against,) = found.contradictions
    assert against.best_score == pytest.approx(1.0)
    assert against.score == pytest.approx(0.5)
    assert (found.shifts, found.loops, found.complete) == ({}, 0, False)
    assert len(found.scores) == 3


def test_a_contradiction_leaves_other_jobs_their_shifts() -> None:
    links = [*links_between("ab", "bc", "ca", of=HALF), *links_between("xy", of=HALF)]
    found = interleaved(links)
    assert set(found.shifts) == {"x", "y"}
    assert not found.complete


def test_the_order_of_links_does_not_decide_what_contradicts() -> None:
    tight = {"a": angles((0, 36)), "b": angles((0, 36))}
    roomy = {"a": angles((0, 10)), "b": angles((10, 20))}  # fit unless b is 10 or less earlier
    for links in itertools.permutations([link(tight), link(roomy, 1)]):
        found = interleaved(list(links))
        assert found.complete
        assert found.loops == 1
        assert shifts_s(found)["b"] - shifts_s(found)["a"] == pytest.approx(0.036)


def test_jobs_that_cannot_be_compared_do_not_stop_the_others() -> None:
    odd = {"a": curve((0, 1.0), period_s=31.0), "b": curve((0, 1.0), period_s=40.0)}
    found = interleaved([link(odd), *links_between("xy", of=HALF), link(odd, 2)])
    (reason,) = found.incomparable
    assert reason.startswith("jobs a, b: the iteration times")
    assert [each.rotation is None for each in found.links] == [True, False, True]
    assert set(found.shifts) == {"x", "y"}
    assert not found.complete


def test_demand_above_a_links_rate_is_clipped_and_counted_by_job() -> None:
    double = curve((0, 0.012), rate=2 * LINE)
    found = interleaved([link({"a": double, "b": HALF}), link({"a": double, "c": HALF}, 1)])
    assert found.clipped == {"a": pytest.approx(0.5)}
    assert interleaved(links_between("ab", of=HALF)).clipped == {}


def test_the_longest_rounding_of_a_period_is_reported() -> None:
    pair = {"a": curve((0, 0.1), period_s=0.255), "b": curve((0, 0.1), period_s=0.26)}
    assert interleaved([link(pair)]).period_rounding == pytest.approx(0.26 / 0.255 - 1)
    assert interleaved([]).period_rounding == 0.0


def test_a_period_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="period above zero"):
        interleaved([link({"a": DemandCurve(0.0, ()), "b": HALF})])


def test_the_same_demands_are_searched_once() -> None:
    rotations = Rotations()
    interleave(links_between("ab", "cd", "ef", of=HALF), rotations)
    interleave(links_between("xy", of=HALF), rotations)
    assert (rotations.searched, rotations.asked) == (1, 4)
    interleave(links_between("xy", of=THIRD), rotations)
    assert (rotations.searched, rotations.asked) == (2, 5)


def test_the_same_links_are_not_even_asked_for_again() -> None:
    rotations = Rotations()
    links = links_between("ab", "bc", "de", of=HALF)
    first = interleave(links, rotations)
    assert rotations.asked == 3
    assert interleave([*links[:2], *links_between("fg", of=HALF)], rotations).shifts == {
        job: shift for job, shift in first.shifts.items() if job in "abc"
    } | {job: first.shifts[same] for job, same in zip("fg", "de", strict=True)}
    assert rotations.asked == 4


def test_what_was_searched_long_ago_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memo, "MOST_KEPT", 2)
    rotations = Rotations()
    keys = [LinkKey((HALF, THIRD), capacity, PERIOD_S, (1, 1)) for capacity in (10.0, 11.0, 12.0)]
    for key in (*keys, keys[2], keys[1], keys[0]):
        rotations.best(key)
    assert (rotations.searched, rotations.asked) == (4, 6)


def test_what_cannot_be_compared_is_not_tried_again() -> None:
    rotations = Rotations()
    key = LinkKey((curve((0, 1e-5), period_s=1e-4), curve(period_s=59.0)), LINE, 59.0, (590000, 1))
    for _ in range(2):
        with pytest.raises(ValueError, match="590000 times"):
            rotations.best(key)
    assert (rotations.searched, rotations.asked) == (1, 2)


def test_a_coarser_angle_may_cost_score() -> None:
    uneven = [link({"a": angles((0, 41)), "b": angles((0, 31))})]
    coarse = interleave(uneven, Rotations(Precision(degrees=128.0)))
    assert coarse.scores[0] < interleaved(uneven).scores[0] == pytest.approx(1.0)
