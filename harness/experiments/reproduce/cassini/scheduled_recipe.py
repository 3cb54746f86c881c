"""Recipes of jobs that come and go: every arm simulated, and emulated on this box."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from harness.experiments.reproduce.cassini.emulate import Case, emulate_cases
from harness.experiments.reproduce.cassini.scheduled import (
    Part,
    ScheduledArm,
    ScheduledArms,
    figures_of,
    scheduled_arm,
)
from harness.experiments.reproduce.cassini.workloads import CASSINI, THEMIS
from harness.experiments.reproduce.recipe import QuickForm, Recipe, Reproduction, Say
from harness.experiments.run import ArmResult

_SEEDS = 3


def emulate_parts(parts: Sequence[Part], seeds: int, say: Say) -> ScheduledArms:
    """Simulate and emulate every arm of every part, seed by seed; see emulate_cases."""
    workloads = {part.workload.id: part.workload for part in parts}
    arms: list[ScheduledArm] = []

    def take(case: Case, result: ArmResult) -> None:
        arm = scheduled_arm(workloads[case.name], case.seed, result)
        if arm is not None:
            arms.append(arm)

    cases = [
        Case(part.workload.id, seed, part.workload.scenario(seed, part.arms))
        for seed in range(1, seeds + 1)
        for part in parts
    ]
    done = emulate_cases(cases, take, say)
    return ScheduledArms(tuple(arms), done.interrupted, done.repeated)


def scheduled_recipe(
    identity: str,
    title: str,
    source: str,
    parts: tuple[Part, ...],
    seconds: float,
    quick_seconds: float,
) -> Recipe:
    """A recipe of ``parts``; its quick form has the first of them with two arms and one seed."""
    first = parts[0]
    quick = (Part(first.workload, (THEMIS, CASSINI), first.published),)
    return Recipe(
        id=identity,
        title=title,
        source=source,
        seconds=seconds,
        needs_data=False,
        run=partial(_run, parts, _SEEDS),
        quick=QuickForm(
            quick_seconds,
            partial(_run, quick, 1),
            "one seed, Themis alone and with CASSINI",
        ),
    )


def _run(
    parts: Sequence[Part], own_seeds: int, data: Path, seeds: int | None, say: Say
) -> Reproduction:
    del data  # nothing of the paper's is published
    made = emulate_parts(parts, seeds or own_seeds, say)
    return Reproduction(
        tuple(figures_of(parts, made)),
        inputs=tuple(f"{part.workload.id}: {part.workload.words}" for part in parts),
        interrupted=made.interrupted,
    )
