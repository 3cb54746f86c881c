"""Every published experiment can be asked for by name."""

from __future__ import annotations

from harness.experiments.reproduce.recipes import RECIPES


def test_the_experiments_are_these() -> None:
    assert list(RECIPES) == [
        "synergy-oracle",
        "synergy-load",
        "synergy-split",
        "synergy-ratio",
        "synergy-philly",
        "synergy-opt",
        "synergy-deploy",
        "muri-physical",
    ]
