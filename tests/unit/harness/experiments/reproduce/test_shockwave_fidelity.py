"""The recipe of Shockwave's pairs on a small copy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from harness.experiments.reproduce.recipes.shockwave_fidelity import RECIPE
from traces.errors import BadInputError

ERRORS = {
    "finish_time_fairness": 0.8, "max_min_fairness": 9.2, "min_total_duration": 8.0,
    "allox": 1.9, "max_sum_throughput_perf": 2.0, "shockwave": 5.7,
}  # fmt: skip


def small_copy(data: Path) -> Path:
    """Six schedulers whose errors are those that are expected, each 20 % slower than the last."""
    folder = data / "shockwave"
    folder.mkdir()
    jct_s = np.random.default_rng(1).lognormal(8, 0.5, 40)
    for number, (arm, error) in enumerate(ERRORS.items()):
        measured_s = jct_s * 1.2**number
        sides = {"physical": measured_s, "simulation": measured_s / (1 + error / 100)}
        for side, times_s in sides.items():
            frame = pd.DataFrame({"job": range(40), "jct_s": times_s})
            frame.to_csv(folder / f"{arm}_{side}.csv", index=False)
    return data


def test_the_recipe_holds_each_error_against_the_published_one(tmp_path: Path) -> None:
    made = RECIPE.run(small_copy(tmp_path), None, lambda _: None)
    expected = [figure for figure in made.figures if figure.expected is not None]
    assert [figure.name.partition(":")[0] for figure in expected] == list(ERRORS)
    assert all(figure.ok for figure in expected)
    assert [figure.ours for figure in expected] == pytest.approx(list(ERRORS.values()))
    by_name = {figure.name: figure for figure in made.figures}
    assert by_name["pairs of schedulers that come in the same order"].ours == 1.0
    times, errors = made.drawings
    assert (len(times.curves), len(errors.curves)) == (12, 6)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    data = small_copy(tmp_path)
    (data / "shockwave" / "allox_simulation.csv").unlink()
    with pytest.raises(BadInputError, match=r"allox_simulation\.csv"):
        RECIPE.run(data, None, lambda _: None)
