"""The summary of a scenario of rounds: plain data, the document behind ``--json``. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from harness.experiments.intervals import Interval, mean_over_seeds, ratio_over_seeds
from harness.experiments.rounds.run import placement_of
from traces.rounds_scenario import RoundsArm, RoundsScenario

KIND = "rounds"


def summarise(
    scenario: RoundsScenario,
    runs: Sequence[tuple[RoundsArm, Sequence[dict[str, Any]]]],
    *,
    interrupted: bool,
) -> dict[str, Any]:
    """The summary of what was done so far. runs: of each arm, its documents by seed.

    An arm's speed-up is the mean completion time of the first arm over its own, paired by seed.
    """
    first = _means(runs[0][1]) if runs else []
    return {
        "kind": KIND,
        "scenario": scenario.name,
        "description": scenario.description,
        "seeds": list(scenario.seeds),
        "interrupted": interrupted,
        "arms": [_arm(arm, documents, first) for arm, documents in runs],
    }


def _means(documents: Sequence[dict[str, Any]]) -> list[float]:
    """Of the runs in which all jobs that count have ended: the first to end are the short ones."""
    return [
        document["jct_s"]["all"]["mean"]
        for document in documents
        if document["jobs"]["counted_and_finished"] == document["jobs"]["counted"]
    ]


def _arm(
    arm: RoundsArm, documents: Sequence[dict[str, Any]], first: Sequence[float]
) -> dict[str, Any]:
    scheduler = arm.scheduler
    means = _means(documents)
    paired = len(means) == len(first) == len(documents) > 0
    return {
        "name": arm.name,
        "cluster": [asdict(group) for group in arm.pool.groups],
        "policy": scheduler.policy,
        "mechanism": scheduler.mechanism,
        "placement": placement_of(arm),
        "round_s": scheduler.round,
        "priority_after_s": scheduler.priority_after,
        "simulation": arm.simulation.model_dump(),
        "workload": arm.workload.model_dump(exclude_defaults=True),
        "measure": arm.measure.model_dump(),
        "jct_mean_s": _over_seeds(documents, "all", "mean"),
        "jct_p99_s": _over_seeds(documents, "all", "p99"),
        "short_jct_mean_s": _over_seeds(documents, "short", "mean"),
        "long_jct_mean_s": _over_seeds(documents, "long", "mean"),
        "speedup": _interval(ratio_over_seeds(first, means)) if paired else None,
        "runs": list(documents),
    }


def _over_seeds(
    documents: Sequence[dict[str, Any]], which: str, statistic: str
) -> dict[str, Any] | None:
    values = [
        document["jct_s"][which][statistic] for document in documents if document["jct_s"][which]
    ]
    return _interval(mean_over_seeds(values)) if values else None


def _interval(interval: Interval) -> dict[str, Any]:
    return asdict(interval)
