"""Published experiments by name, one recipe a file."""

from __future__ import annotations

from harness.experiments.reproduce import muri_physical
from harness.experiments.reproduce.recipe import Recipe
from harness.experiments.reproduce.recipes import (
    cassini_angles,
    cassini_drift,
    cassini_dynamic,
    cassini_poisson,
    cassini_snapshot,
    pollux_jobload,
    replay_real,
    shockwave_fidelity,
    synergy_deploy,
    synergy_load,
    synergy_opt,
    synergy_oracle,
    synergy_philly,
    synergy_profiling,
    synergy_ratio,
    synergy_split,
)

RECIPES: dict[str, Recipe] = {
    recipe.id: recipe
    for recipe in (
        synergy_oracle.RECIPE,
        synergy_load.RECIPE,
        synergy_split.RECIPE,
        synergy_ratio.RECIPE,
        synergy_philly.RECIPE,
        synergy_opt.RECIPE,
        synergy_deploy.RECIPE,
        synergy_profiling.RECIPE,
        muri_physical.RECIPE,
        pollux_jobload.RECIPE,
        shockwave_fidelity.RECIPE,
        cassini_angles.RECIPE,
        cassini_snapshot.RECIPE,
        cassini_drift.RECIPE,
        cassini_dynamic.RECIPE,
        cassini_dynamic.MULTIGPU_RECIPE,
        cassini_poisson.DATA_PARALLEL_RECIPE,
        cassini_poisson.MODEL_PARALLEL_RECIPE,
        replay_real.RECIPE,
    )
}
"""By id, in the order in which ``--all`` takes them."""
