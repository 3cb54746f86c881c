"""What drawings of demands show, as points, words and characters."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.report.demands.characters import (
    columns,
    coverage,
    mean_rates,
    means_of_slices,
    rings,
    shades,
)
from harness.report.demands.iteration import Spans, iteration_drawing, overlap_s
from harness.report.demands.shared_link import distinct_names, shared_link_drawing, steps
from harness.scheduling.cassini.circle import unified_circle
from harness.scheduling.cassini.rotation import best_rotation
from tests.unit.builders import GBIT, TOY_ALONE_S, TOY_TRANSFER_S, make_profile
from traces.demand import Demand, DemandCurve, Pattern, Phase, Transfer


def points(spans: Spans) -> list[float]:
    return [edge_s for span in spans for edge_s in span]


def test_an_iteration_says_what_hides_behind_computing() -> None:
    transfers = (Transfer(0.05, 5e6), Transfer(0.1, 5e6, blocking=True))
    drawing = iteration_drawing(make_profile(Demand(0.12, transfers)), GBIT)
    assert points(drawing.sending) == pytest.approx([0.05, 0.09, 0.1, 0.14])
    assert points(drawing.iteration.computing) == pytest.approx([0.0, 0.1, 0.14, 0.16])
    words = drawing.words.replace("\N{NO-BREAK SPACE}", " ")
    assert "takes 160.0 ms" in words
    assert "sends 10 MB in 2 phases, 50.0 % of the time" in words
    assert "40.00 ms of the sending goes on behind computing" in words
    assert "stands still for 40.00 ms" in words


def test_a_worker_that_sends_nothing_is_told_and_the_others_are_drawn() -> None:
    of_others = Transfer(0.05, 5e6, Pattern.PAIRS, pairs=((1, 0),))
    drawing = iteration_drawing(make_profile(Demand(0.1, (of_others,))), GBIT)
    assert points(drawing.others_sending) == pytest.approx([0.05, 0.09])
    assert drawing.sending == ()
    assert drawing.words.endswith("in which its first worker sends nothing.")


def test_overlap_is_that_of_all_pairs() -> None:
    assert overlap_s(((0, 2), (3, 5)), ((1, 4), (4.5, 9))) == 1 + 1 + 0.5
    assert overlap_s(((0, 1),), ((1, 2),)) == 0


def test_two_toys_stand_apart_after_rotation() -> None:
    curve = DemandCurve(TOY_ALONE_S, (Phase(0.1, TOY_ALONE_S, GBIT),))
    rotation = best_rotation(unified_circle([curve, curve], GBIT))
    drawing = shared_link_drawing(["toy", "toy"], rotation)
    assert drawing.jobs == ("toy (1)", "toy (2)")
    assert drawing.after.score == pytest.approx(rotation.score)
    assert drawing.before.excess == pytest.approx(0.5, abs=0.02)
    assert drawing.before.is_over.mean() == pytest.approx(TOY_TRANSFER_S / TOY_ALONE_S, abs=0.02)
    assert (drawing.after.excess, drawing.after.is_over.any()) == (0, False)
    assert drawing.largest_bps == pytest.approx(2 * GBIT)
    both = drawing.before.total_bps, drawing.after.total_bps
    assert both[0].sum() == pytest.approx(both[1].sum())
    assert "toy (2) delayed by" in drawing.words
    assert "\N{NO-BREAK SPACE}% lies above" in drawing.words
    assert ", and nothing with toy (2)" in drawing.words


def test_a_job_alone_has_nothing_to_shift() -> None:
    curve = DemandCurve(1.0, (Phase(0.5, 1.0, GBIT),))
    drawing = shared_link_drawing(["toy"], best_rotation(unified_circle([curve], GBIT)))
    assert "nothing lies above" in drawing.words
    assert drawing.words.endswith("no time-shift makes it less.")


def test_names_are_numbered_where_they_are_the_same() -> None:
    assert distinct_names(["a", "b", "a"]) == ("a (1)", "b", "a (2)")


def test_steps_are_the_runs_of_slices_that_are_alike() -> None:
    demand = np.array([[1.0, 1.0, 0.0, 0.0, 0.0], [2.0, 2.0, 2.0, 2.0, 0.0]])
    assert steps(demand) == [(0, 2), (2, 4), (4, 5)]
    assert steps(np.ones((1, 3))) == [(0, 3)]


def test_means_keep_what_is_sent() -> None:
    phases = (Phase(0.1, 0.35, 4.0), Phase(0.7, 1.0, 2.0))
    for cells in (1, 7, 10, 64):
        means = mean_rates(phases, 1.0, cells)
        assert means.sum() / cells == pytest.approx(0.25 * 4 + 0.3 * 2)
    assert mean_rates(phases, 1.0, 10)[:4] == pytest.approx([0, 4, 4, 2])
    assert mean_rates((), 1.0, 3).tolist() == [0, 0, 0]
    slices = np.arange(7.0)
    assert means_of_slices(slices, 3).mean() == pytest.approx(slices.mean())


def test_coverage_counts_what_overlaps_once() -> None:
    spans = ((0.5, 1.0), (0.0, 0.2), (0.1, 0.3), (0.15, 0.2))
    assert coverage(spans, 1.0, 10) == pytest.approx([1, 1, 1, 0, 0, 1, 1, 1, 1, 1])


def test_only_nothing_is_blank() -> None:
    assert shades(np.array([0.0, 1e-3, 0.3, 0.6, 1.0])) == " ░▒▓█"
    assert columns(np.array([0.0, 1e-3, 0.5, 0.75, 1.0, 2.0]), 2) == ["   ▄██", " ▁████"]


def test_rings_go_around_clockwise_from_the_top() -> None:
    lines = rings(["abcd"], 2.0)
    assert {len(line) for line in lines} == {len(lines[0])}
    middle, across = len(lines) // 2, len(lines[0]) // 2
    assert lines[0][across + 1] == "a"
    assert lines[middle + 1].rstrip()[-1] == "b"
    assert lines[-1][across - 1] == "c"
    assert lines[middle - 1].lstrip()[0] == "d"
    assert lines[middle][across] == " "
    counts = [sum(line.count(sign) for line in lines) for sign in "abcd"]
    assert max(counts) - min(counts) <= math.ceil(0.1 * max(counts))


def test_rings_lie_in_each_other() -> None:
    lines = rings(["x", "y"], 1.5)
    row = lines[len(lines) // 2].replace(" ", "")
    assert row == row[::-1]
    assert row.strip("y").strip("x") == ""
    assert row.startswith("y")
