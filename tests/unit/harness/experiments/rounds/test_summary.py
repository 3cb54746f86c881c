"""summary.json: the figures of arms over seeds, by hand, whole and interrupted."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.experiments.rounds.figures import run_document
from harness.experiments.rounds.run import run_arm
from harness.experiments.rounds.summary import KIND, summarise
from tests.unit.builders import ROUNDS_SCENARIO
from tests.unit.harness.experiments.rounds.builders import read_rounds
from traces.rounds_scenario import RoundsScenario

ARM_KEYS = {
    "name", "cluster", "policy", "mechanism", "placement", "round_s", "priority_after_s",
    "simulation", "workload", "measure", "jct_mean_s", "jct_p99_s", "short_jct_mean_s",
    "long_jct_mean_s", "speedup", "runs",
}  # fmt: skip
T1 = 12.7062  # Student's t for 95 %, two-sided, with one degree of freedom


@pytest.fixture
def scenario(tmp_path: Path) -> RoundsScenario:
    return read_rounds(tmp_path, ROUNDS_SCENARIO)


def document(
    mean_s: float | None, *, short_s: float | None = None, counted: int = 10, finished: int = 10
) -> dict[str, Any]:
    """As much of a run's document as a summary reads. The p99 is ten times the mean."""

    def times(mean: float | None) -> dict[str, float] | None:
        return None if mean is None else {"mean": mean, "p99": 10 * mean}

    return {
        "jct_s": {"all": times(mean_s), "short": times(short_s), "long": None},
        "jobs": {"counted": counted, "counted_and_finished": finished},
    }


def arms_of(
    scenario: RoundsScenario, *documents: Sequence[dict[str, Any]], interrupted: bool = False
) -> list[dict[str, Any]]:
    """The summary's arms, where the scenario's first ones have these ``documents``."""
    runs = list(zip(scenario.arms, documents, strict=False))
    arms: list[dict[str, Any]] = summarise(scenario, runs, interrupted=interrupted)["arms"]
    return arms


def speedups(scenario: RoundsScenario, *documents: Sequence[dict[str, Any]]) -> list[float | None]:
    return [arm["speedup"] and arm["speedup"]["value"] for arm in arms_of(scenario, *documents)]


def test_the_head_says_what_was_run(scenario: RoundsScenario) -> None:
    summary = summarise(scenario, [], interrupted=False)
    assert summary == {
        "kind": KIND, "scenario": "toy-rounds", "description": "Sixty jobs on two servers.",
        "seeds": [5, 6], "interrupted": False, "arms": [],
    }  # fmt: skip
    assert summarise(scenario, [], interrupted=True)["interrupted"] is True


def test_an_arm_says_how_it_was_run(scenario: RoundsScenario) -> None:
    _, arm, _ = arms_of(scenario, [document(4.0)], [document(3.0)], [document(2.0)])
    assert set(arm) == ARM_KEYS
    assert (arm["name"], arm["policy"], arm["mechanism"]) == ("tune", "fifo", "tune")
    assert (arm["placement"], arm["round_s"], arm["priority_after_s"]) == ("best-fit", 300.0, None)
    assert arm["cluster"] == [
        {
            "count": 2, "gpus": 8, "cpus": 24.0, "memory_bytes": 500e9,
            "storage_bytes_per_s": None, "gpu_type": "v100",
        }
    ]  # fmt: skip
    assert arm["workload"]["generate"] == {"jobs": 60, "load": 1.0}
    assert arm["measure"] == {"first": 10, "count": 40, "short": 14400.0}
    assert arm["simulation"]["completion"] == "exact"
    assert arm["runs"] == [document(3.0)]


def test_the_placement_is_the_mechanisms_where_none_is_named(scenario: RoundsScenario) -> None:
    *_, opt = arms_of(scenario, [document(1.0)], [document(1.0)], [document(1.0)])
    assert opt["placement"] == "super-machine"


def test_figures_are_means_over_seeds(scenario: RoundsScenario) -> None:
    (arm,) = arms_of(scenario, [document(100.0, short_s=8.0), document(300.0, short_s=8.0)])
    mean = arm["jct_mean_s"]
    assert (mean["value"], mean["seeds"]) == (200.0, 2)
    assert mean["low"] == pytest.approx(200 - T1 * 100, rel=1e-4)
    assert mean["high"] == pytest.approx(200 + T1 * 100, rel=1e-4)
    assert arm["jct_p99_s"]["value"] == 2000.0
    assert arm["short_jct_mean_s"] == {"value": 8.0, "low": 8.0, "high": 8.0, "seeds": 2}
    assert arm["long_jct_mean_s"] is None


def test_one_seed_has_figures_without_intervals(scenario: RoundsScenario) -> None:
    first, second, _ = arms_of(scenario, [document(6.0)], [document(4.0)], [document(3.0)])
    assert first["jct_mean_s"] == {"value": 6.0, "low": None, "high": None, "seeds": 1}
    assert second["speedup"]["value"] == pytest.approx(1.5)
    assert (second["speedup"]["low"], second["speedup"]["high"]) == (None, None)


def test_the_speedup_is_the_first_arms_mean_over_the_own_one_paired_by_seed(
    scenario: RoundsScenario,
) -> None:
    """Ratios 8 and 2: their geometric mean is 4, and the logarithms differ by 2 ln 2."""
    first, second = arms_of(
        scenario, [document(16.0), document(2.0)], [document(2.0), document(1.0)]
    )
    factor = math.exp(T1 * math.log(2))
    assert first["speedup"] == {"value": 1.0, "low": 1.0, "high": 1.0, "seeds": 2}
    assert second["speedup"]["value"] == pytest.approx(4.0)
    assert second["speedup"]["low"] == pytest.approx(4 / factor, rel=1e-4)
    assert second["speedup"]["high"] == pytest.approx(4 * factor, rel=1e-4)


def test_there_is_no_speedup_without_a_pair_for_every_seed(scenario: RoundsScenario) -> None:
    one, two = [document(4.0)], [document(4.0), document(4.0)]
    assert speedups(scenario, two, one, []) == [pytest.approx(1.0), None, None]
    assert speedups(scenario, one, two) == [pytest.approx(1.0), None]
    assert speedups(scenario, [], two) == [None, None]


def test_a_run_that_was_stopped_is_compared_with_nothing(scenario: RoundsScenario) -> None:
    """Its short jobs have ended, and would make it look fast."""
    whole, stopped = [document(40.0)], [document(2.0, finished=3)]
    arms = arms_of(scenario, whole, stopped, interrupted=True)
    assert arms[1]["speedup"] is None
    assert arms[1]["jct_mean_s"]["value"] == 2.0
    assert speedups(scenario, stopped, whole) == [None, None]


def test_an_arm_in_which_nothing_ended_has_no_figures(scenario: RoundsScenario) -> None:
    whole, nothing = [document(40.0)], [document(None, finished=0)]
    _, arm = arms_of(scenario, whole, nothing, interrupted=True)
    for key in ("jct_mean_s", "jct_p99_s", "short_jct_mean_s", "long_jct_mean_s", "speedup"):
        assert arm[key] is None, key
    assert arm["runs"] == nothing


def test_a_seed_in_which_nothing_ended_is_left_out_of_the_means(scenario: RoundsScenario) -> None:
    (arm,) = arms_of(scenario, [document(40.0), document(None, finished=0)])
    assert arm["jct_mean_s"] == {"value": 40.0, "low": None, "high": None, "seeds": 1}
    assert arm["speedup"] is None


def test_a_real_summary_is_plain_json(scenario: RoundsScenario) -> None:
    arm = scenario.arms[0]
    runs = [(arm, [run_document(run_arm(arm, seed)) for seed in scenario.seeds])]
    summary = summarise(scenario, runs, interrupted=False)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    means = [run["jct_s"]["all"]["mean"] for run in summary["arms"][0]["runs"]]
    assert summary["arms"][0]["jct_mean_s"]["value"] == pytest.approx(sum(means) / 2)
    assert [run["seed"] for run in summary["arms"][0]["runs"]] == [5, 6]
