"""The summary of a simulated point, of either kind of scenario."""

from __future__ import annotations

from typing import Any

from harness.experiments.sweep.work import never
from traces.rounds_scenario import is_rounds_scenario, rounds_scenario_of
from traces.scenario import scenario_of
from traces.yaml_source import YamlSource


def simulated_summary(source: YamlSource) -> dict[str, Any]:
    """What ``simulate`` would say of the scenario in ``source``. Raises BadInputError."""
    return _rounds(source) if is_rounds_scenario(source) else _iterations(source)


def _rounds(source: YamlSource) -> dict[str, Any]:
    from harness.experiments.rounds.figures import run_document
    from harness.experiments.rounds.simulate import simulate_seed
    from harness.experiments.rounds.summary import summarise

    scenario = rounds_scenario_of(source)
    runs = [
        (
            arm,
            [
                run_document(simulate_seed(scenario, arm, seed, _unsaid, never, None))
                for seed in scenario.seeds
            ],
        )
        for arm in scenario.arms
    ]
    return summarise(scenario, runs, interrupted=False)


def _iterations(source: YamlSource) -> dict[str, Any]:
    from harness.experiments.run import decide_all, predict_all
    from harness.experiments.summary import summarise

    scenario = scenario_of(source)
    results = decide_all(scenario)
    predict_all(results, _unsaid, never)
    return summarise(scenario, None, results, interrupted=False)


def _unsaid(what: str, done: int, total: int) -> None:
    """The progress inside a point is nobody's."""
