"""The page of a prediction against a reference: its figures, sentences and warnings."""

from __future__ import annotations

import numpy as np
import pytest

from harness.fidelity.analysis import analyse
from harness.fidelity.inputs.results import Results, together
from harness.report.fidelity.article import article_of
from harness.report.page import page_of
from tests.unit.harness.fidelity.sides import iterations_side, side, synthetic
from tests.unit.harness.report.page import Page

BASE_S, PREDICTED_S = synthetic(1, 60, 0.02, 0.1)
KNOWN = {"submit_s": np.arange(60) * 10.0, "queue_s": BASE_S / 4, "run_s": BASE_S / 2}


def page(reference: Results, prediction: Results) -> Page:
    return Page(page_of({"v": article_of(analyse(reference, prediction), "v")}))


def rich_reference() -> Results:
    return together(
        "the cluster",
        [
            side({"<b>one</b>": BASE_S * factor, "two": 2 * BASE_S * factor}, seed, **KNOWN,
                 finish_s=KNOWN["submit_s"] + BASE_S * factor)
            for seed, factor in (("1", 1.0), ("2", 1.03))
        ],
    )  # fmt: skip


def rich_prediction() -> Results:
    return side(
        {"<b>one</b>": PREDICTED_S, "two": 2 * PREDICTED_S},
        **KNOWN,
        finish_s=KNOWN["submit_s"] + PREDICTED_S,
    )


def test_what_knows_everything_has_every_figure() -> None:
    found = page(rich_reference(), rich_prediction())
    assert set(found.data()) == {
        "v_ratios-jct.csv", "v_agreement-jct.csv", "v_noise-jct.csv", "v_speed-ups-jct.csv",
        "v_distribution-jct_<b>one</b>.csv", "v_distribution-jct_two.csv",
    }  # fmt: skip
    assert found.count("b") == 0
    for words in ("Makespan", "waiting before it first runs", "The reference against itself",
                  "can be taken to be within 5 %", "Bland and Altman"):  # fmt: skip
        assert words in found.text


def test_figures_hold_what_was_compared() -> None:
    found = page(rich_reference(), rich_prediction())
    tables = found.data()
    agreement = tables["v_agreement-jct.csv"]
    assert len(agreement) == 2 * 2 * 60
    assert agreement["ratio"].to_numpy() == pytest.approx(
        (agreement["prediction_s"] / agreement["reference_s"]).to_numpy(), rel=1e-5
    )
    noise = tables["v_noise-jct.csv"]
    assert noise.query("what == 'two repeats'")["mean_off"].to_numpy() == pytest.approx(0.03)
    (speedup,) = tables["v_speed-ups-jct.csv"].to_dict("records")
    assert (speedup["slower"], speedup["order"]) == ("two", "same")
    assert speedup["reference"] == pytest.approx(2)


def test_what_knows_little_says_so() -> None:
    found = page(side({"a": BASE_S}), side({"a": 1000 * PREDICTED_S[:50]}))
    assert set(found.data()) == {
        "v_ratios-jct.csv", "v_agreement-jct.csv", "v_distribution-jct_a.csv",
    }  # fmt: skip
    for words in ("The makespan is not known", "There are no two arms", "no repeats",
                  "Not to be told: queueing", "may be in milliseconds",
                  "A: 10 jobs of 60 on the side of the reference only: 50, 51"):  # fmt: skip
        assert words in found.text


def test_iterations_have_figures_of_their_own() -> None:
    rng = np.random.default_rng(1)
    lengths_s = rng.lognormal(-1, 0.05, 400)
    found = page(iterations_side("a", lengths_s), iterations_side("a", lengths_s * 1.01))
    assert "v_agreement-iteration.csv" in found.data()
    assert "Agreement, iteration by iteration" in found.text
