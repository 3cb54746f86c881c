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
        "synergy-profiling",
        "muri-physical",
        "pollux-jobload",
        "shockwave-fidelity",
        "cassini-angles",
        "cassini-snapshot",
        "cassini-drift",
        "cassini-dynamic",
        "cassini-multigpu",
        "cassini-poisson-dp",
        "cassini-poisson-mp",
        "replay-real",
    ]


def test_a_quick_form_takes_less_than_four_minutes() -> None:
    quick = {recipe.id: recipe.quick for recipe in RECIPES.values() if recipe.quick}
    assert {recipe_id for recipe_id in RECIPES if recipe_id.startswith("cassini-")} <= set(quick)
    for recipe_id, form in quick.items():
        assert form.seconds < min(240, RECIPES[recipe_id].seconds)
