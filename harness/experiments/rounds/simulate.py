"""One arm with one seed of a scenario of rounds, simulated, told of and stored."""

from __future__ import annotations

import functools
from collections.abc import Callable

from harness.experiments.rounds.run import RoundsResult, run_arm
from harness.experiments.rounds.store import RoundsStore
from traces.errors import BadInputError
from traces.rounds_scenario import RoundsArm, RoundsScenario

Say = Callable[[str, int, int], None]
"""Called with (what, done, total)."""


def label(scenario: RoundsScenario, arm: RoundsArm, seed: int) -> str:
    """An arm with a seed as a person tells it from the others."""
    return f"{arm.name}, seed {seed}" if len(scenario.seeds) > 1 else arm.name


def simulate_seed(
    scenario: RoundsScenario,
    arm: RoundsArm,
    seed: int,
    say: Say,
    stop: Callable[[], bool],
    store: RoundsStore | None,
) -> RoundsResult:
    """Simulate ``arm`` with ``seed``. Raises BadInputError with file and line.

    store: takes its tables, where it is given.
    """
    keep = functools.partial(store.add_leases, arm, seed) if store else None
    try:
        result = run_arm(arm, seed, functools.partial(say, label(scenario, arm, seed)), stop, keep)
    except BadInputError as error:
        raise error if error.file else scenario.locate(error, arm.name) from None
    if store:
        store.add_jobs(result)
    return result
