"""From a rotation on each link to one time-shift a job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scheduling.cassini.affinity import WeightedLink, connected, traverse
from harness.scheduling.cassini.circle import unified_circle
from harness.scheduling.cassini.periods import common_periods
from harness.scheduling.cassini.precision import Precision
from harness.scheduling.cassini.rotation import Rotation, best_rotation
from tests.unit.harness.scheduling.cassini.demand_curves import (
    LINE,
    PERIOD_S,
    aligned_curves,
    angles,
    score_in_time,
)
from traces.demand import DemandCurve

PERIODS = (18, 36, 72)  # ms


@dataclass(frozen=True)
class Tree:
    """Links without a loop. periods_s: of each job. curves: of each job on each link."""

    links: tuple[tuple[str, ...], ...]
    periods_s: dict[str, float]
    curves: tuple[tuple[DemandCurve, ...], ...]

    def rotations(self) -> list[Rotation]:
        precision = Precision(degrees=15.0)
        found = []
        for curves in self.curves:
            periods = common_periods([*(c.period_s for c in curves), PERIOD_S], precision)
            of_link = periods.__class__(PERIOD_S, periods.repeats[:-1], periods.periods_s[:-1], 0.0)
            found.append(best_rotation(unified_circle(curves, LINE, precision, of_link)))
        return found

    def scores(self, shifts_s: dict[str, float]) -> list[float]:
        """By the definition, in time."""
        return [
            score_in_time(curves, [shifts_s[job] for job in jobs], PERIOD_S, 0.00025)
            for jobs, curves in zip(self.links, self.curves, strict=True)
        ]


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Every link has one job of those before it, and new ones. Its curves are its own."""
    names, links = ["job0"], []
    for _ in range(draw(st.integers(1, 3))):
        known = draw(st.sampled_from(names))
        fresh = [f"job{len(names) + number}" for number in range(draw(st.integers(1, 2)))]
        names += fresh
        links.append(tuple(draw(st.permutations([known, *fresh]))))
    periods = {name: draw(st.sampled_from(PERIODS)) for name in names}
    curves = tuple(tuple(draw(aligned_curves(periods[job])) for job in link) for link in links)
    return Tree(tuple(links), {name: period / 1e3 for name, period in periods.items()}, curves)


def weighted(tree: Tree, rotations: Sequence[Rotation], sign: int = 1) -> list[WeightedLink]:
    return [
        WeightedLink(jobs, tuple(sign * shift_s for shift_s in rotation.shifts_s))
        for jobs, rotation in zip(tree.links, rotations, strict=True)
    ]


@settings(max_examples=40)
@given(trees())
def test_the_shifts_leave_every_link_its_score(tree: Tree) -> None:
    rotations = tree.rotations()
    traversal = traverse(weighted(tree, rotations), tree.periods_s)
    assert (traversal.loops, traversal.closed_by) == (0, ())
    assert set(traversal.shifts_s) == set(tree.periods_s)
    best = [rotation.score for rotation in rotations]
    assert tree.scores(dict(traversal.shifts_s)) == pytest.approx(best, abs=1e-6)


@settings(max_examples=40)
@given(trees())
def test_shifts_lie_within_a_period(tree: Tree) -> None:
    traversal = traverse(weighted(tree, tree.rotations()), tree.periods_s)
    for job, shift_s in traversal.shifts_s.items():
        assert 0 <= shift_s < tree.periods_s[job]


def test_the_opposite_sign_breaks_links() -> None:
    # On a single link it would mirror the rotation; seldom is the mirrored one as good.
    rng = np.random.default_rng(1)
    broken = 0
    for _ in range(20):
        first, second, third = sorted(rng.choice(np.arange(1, 60), 3, replace=False).tolist())
        tree = Tree(
            (("a", "b"), ("b", "c")),
            dict.fromkeys("abc", PERIOD_S),
            ((angles((first, 72)), angles((0, first))), (angles((0, second)), angles((third, 72)))),
        )
        rotations = tree.rotations()
        best = [rotation.score for rotation in rotations]
        right = traverse(weighted(tree, rotations), tree.periods_s)
        wrong = traverse(weighted(tree, rotations, sign=-1), tree.periods_s)
        assert tree.scores(dict(right.shifts_s)) == pytest.approx(best, abs=1e-6)
        broken += tree.scores(dict(wrong.shifts_s)) != pytest.approx(best, abs=1e-6)
    assert broken >= 10


@settings(max_examples=40)
@given(trees(), st.randoms(use_true_random=False))
def test_from_another_job_the_shifts_differ_by_one_common_delay(tree: Tree, random: object) -> None:
    tree = Tree(tree.links, dict.fromkeys(tree.periods_s, PERIOD_S), tree.curves)
    rotations = tree.rotations()
    links = weighted(tree, rotations)
    one = traverse(links, tree.periods_s).shifts_s
    random.shuffle(links)  # type: ignore[attr-defined]
    other = traverse(links, tree.periods_s).shifts_s
    turns = [(other[job] - one[job]) / PERIOD_S * 2j * np.pi for job in one]
    assert np.exp(turns) == pytest.approx(np.exp(turns[0]))


def test_a_chain_adds_up() -> None:
    links = [WeightedLink(("a", "b"), (0.0, 0.03)), WeightedLink(("b", "c"), (0.05, 0.02))]
    periods_s = {"a": 0.1, "b": 0.1, "c": 0.1}
    # c is 30 ms earlier than b, which is 30 ms later than a
    assert traverse(links, periods_s).shifts_s == pytest.approx({"a": 0, "b": 0.03, "c": 0.0})


def test_a_shift_is_taken_modulo_the_jobs_own_period() -> None:
    links = [WeightedLink(("a", "b"), (0.06, 0.03)), WeightedLink(("b", "c"), (0.0, 0.03))]
    periods_s = {"a": 0.1, "b": 0.05, "c": 0.2}
    assert traverse(links, periods_s).shifts_s == pytest.approx({"a": 0, "b": 0.02, "c": 0.05})


def test_a_loop_is_closed_by_the_last_link() -> None:
    pairs = [("a", "b"), ("b", "c"), ("c", "a")]
    links = [WeightedLink(pair, (0.0, 0.05)) for pair in pairs]
    traversal = traverse(links, dict.fromkeys("abc", 0.1))
    assert (traversal.loops, traversal.closed_by) == (1, (1,))  # from a, both its links come first
    assert traversal.shifts_s == pytest.approx({"a": 0.0, "b": 0.05, "c": 0.05})


def test_every_further_common_job_is_a_loop_more() -> None:
    wide = WeightedLink(("a", "b", "c"), (0.0, 0.01, 0.02))
    traversal = traverse([wide, wide, WeightedLink(("c", "d"), (0.0, 0.0))],
                         dict.fromkeys("abcd", 0.1))  # fmt: skip
    assert (traversal.loops, traversal.closed_by) == (2, (1,))
    assert set(traversal.shifts_s) == set("abcd")


def test_links_are_connected_through_their_jobs() -> None:
    links = [("a", "b"), ("c", "d"), ("e", "f"), ("b", "e"), ("g", "c")]
    assert connected(links) == [[0, 2, 3], [1, 4]]
    assert connected([]) == []


def test_a_long_chain_is_one_component() -> None:
    links = [(f"job{index}", f"job{index + 1}") for index in range(5000)]
    assert connected(links) == [list(range(5000))]
    traversal = traverse([WeightedLink(link, (0.0, 0.01)) for link in links],
                         {f"job{index}": 1.0 for index in range(5001)})  # fmt: skip
    assert traversal.shifts_s["job5000"] == pytest.approx(0.0, abs=1e-6)
