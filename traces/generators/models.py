"""Which model each job trains: drawn by class, or by a table of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd

from traces.sensitivity import Sensitivities


class Models(Protocol):
    """Gives jobs their models. str() says how, for a trace's ``source``."""

    def draw(self, jobs: pd.DataFrame, random: np.random.Generator) -> list[str]:
        """(jobs,) models. A longer draw begins with the shorter one. Raises BadInputError."""


@dataclass(frozen=True, eq=False)
class ClassSplit:
    """By class, whatever the job is like. split: class -> weight."""

    split: Mapping[str, float]
    sensitivities: Sensitivities

    def __str__(self) -> str:
        return "split " + ", ".join(f"{kind} {weight:g}" for kind, weight in self.split.items())

    def draw(self, jobs: pd.DataFrame, random: np.random.Generator) -> list[str]:
        """As draw_models."""
        return draw_models(len(jobs), self.split, self.sensitivities, random)


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
