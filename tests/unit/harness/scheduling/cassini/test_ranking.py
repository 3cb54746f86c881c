"""The best of several placements, and which are discarded."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from harness.scheduling.cassini.interleaving import interleave
from harness.scheduling.cassini.links import SharedLink
from harness.scheduling.cassini.memo import Rotations
from harness.scheduling.cassini.ranking import Statistic, rank, score_of
from tests.unit.harness.scheduling.cassini.demand_curves import LINE, angles, curve
from tests.unit.harness.scheduling.cassini.test_interleaving import HALF, link, links_between
from traces.cluster import Port
from traces.demand import DemandCurve


def sharing(*shares: float) -> list[SharedLink]:
    """A link for each of ``shares``: two jobs send half and that much of the circle."""
    return [
        link({f"a{number}": HALF, f"b{number}": angles((0, round(share * 72)))}, number)
        for number, share in enumerate(shares)
    ]


# each link's score is 1 less what does not fit: 0.75, 1 and 0.5
THREE_QUARTERS, FITS, HALF_FITS = 0.75, 0.5, 1.0
INCOMPARABLE = [SharedLink(("a", "b"), (), (curve(period_s=31.0), curve(period_s=40.0)), LINE)]
CONTRADICTING = links_between("ab", "bc", "ca", of=HALF)


def test_the_placement_that_fits_best_is_first() -> None:
    candidates = [sharing(THREE_QUARTERS), sharing(FITS), sharing(HALF_FITS)]
    ranking = rank(candidates, Rotations())
    assert ranking.order == (1, 0, 2)
    assert ranking.best == 1
    assert ranking.scores == pytest.approx((0.75, 1.0, 0.5))
    assert set(ranking.interleavings[1].shifts) == {"a0", "b0"}


@pytest.mark.parametrize(
    ("statistic", "scores", "best"),
    [
        ("mean", (0.85, 0.75), 0),
        ("min", (0.5, 0.75), 1),
        ("tail", (0.625, 0.75), 1),  # the tenth percentile, between the worst and the next
    ],
)
def test_the_statistic_decides_what_fits_best(
    statistic: Statistic, scores: tuple[float, ...], best: int
) -> None:
    one_bad = sharing(HALF_FITS, THREE_QUARTERS, FITS, FITS, FITS)
    ranking = rank([one_bad, sharing(*[THREE_QUARTERS] * 5)], Rotations(), statistic)
    if statistic == "tail":
        assert ranking.scores[0] == pytest.approx(0.5 + 0.4 * 0.25)
    else:
        assert ranking.scores == pytest.approx(scores)
    assert ranking.best == best


def test_of_equally_good_placements_the_hosts_order_stands() -> None:
    ranking = rank([sharing(THREE_QUARTERS), sharing(FITS), [], sharing(FITS)], Rotations())
    assert ranking.order == (1, 2, 3, 0)


def test_a_placement_without_shared_links_scores_one() -> None:
    ranking = rank([[]], Rotations())
    assert (ranking.scores, ranking.best) == ((1.0,), 0)


def test_discarded_placements_are_counted_by_their_reason() -> None:
    candidates = [CONTRADICTING, sharing(HALF_FITS), INCOMPARABLE, CONTRADICTING]
    ranking = rank(candidates, Rotations())
    assert ranking.order == (1,)
    assert (ranking.discarded_by_loops, ranking.discarded_as_incomparable) == (2, 1)
    assert [math.isnan(score) for score in ranking.scores] == [True, False, True, True]


def test_where_all_are_discarded_none_is_best() -> None:
    assert rank([CONTRADICTING], Rotations()).best is None
    assert rank([], Rotations()).best is None


def test_a_ranking_is_the_same_every_time() -> None:
    jobs: dict[str, DemandCurve] = {
        f"job{index}": angles((0, 9 + index), (30, 33 + index)) for index in range(6)
    }
    candidates = [[link(jobs)], sharing(THREE_QUARTERS, FITS)]
    first, second = (rank(candidates, Rotations(seed=4)) for _ in range(2))
    assert first.scores == second.scores
    assert first.interleavings[0].shifts == second.interleavings[0].shifts


def test_ports_with_one_job_count_as_ones() -> None:
    found = interleave(sharing(HALF_FITS), Rotations())
    ports = len(found.links[0].link.ports)
    assert score_of(found) == pytest.approx(0.5)
    assert score_of(found, "mean", ports) == pytest.approx(0.5)
    assert score_of(found, "mean", 4 * ports) == pytest.approx((0.5 + 3) / 4)
    assert score_of(found, "min", 4 * ports) == pytest.approx(0.5)
    assert score_of(interleave([], Rotations()), "mean", 5) == 1.0
    assert score_of(interleave([], Rotations()), "mean", 0) == 1.0


def test_every_port_of_a_link_counts() -> None:
    two_ports = replace(sharing(HALF_FITS)[0], ports=(Port("a", "b"), Port("b", "a")))
    found = interleave([two_ports, link({"c": HALF, "d": HALF}, 5)], Rotations())
    assert score_of(found, "mean", 3) == pytest.approx((0.5 + 0.5 + 1.0) / 3)
    assert score_of(found) == pytest.approx(0.75)


def test_sharing_more_ports_well_does_not_win() -> None:
    """Each has one port that fits badly; the first shares three more, the second leaves them be."""
    candidates = [sharing(HALF_FITS, FITS, FITS, FITS), sharing(HALF_FITS)]
    assert rank(candidates, Rotations()).best == 0
    counted = rank(candidates, Rotations(), "mean", [8, 16])
    assert counted.scores == pytest.approx((7.5 / 8, 15.5 / 16))
    assert counted.best == 1


def test_a_discarded_placement_has_no_score_whatever_its_ports() -> None:
    assert math.isnan(score_of(interleave(CONTRADICTING, Rotations()), "mean", 9))
