"""Which model each job trains, drawn by class."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from traces.sensitivity import Sensitivities


def draw_models(
    count: int,
    split: Mapping[str, float],
    sensitivities: Sensitivities,
    random: np.random.Generator,
) -> list[str]:
    """(count,) models. split: class -> weight; inside a class every model is as likely as another.

    KeyError where ``sensitivities`` has no model of a class.
    """
    models: list[str] = []
    chances: list[float] = []
    total = sum(split.values())
    for kind, weight in split.items():
        of_kind = sensitivities.kinds[kind]
        models += of_kind
        chances += [weight / total / len(of_kind)] * len(of_kind)
    drawn = random.choice(len(models), size=count, p=chances)
    return [models[index] for index in drawn]
