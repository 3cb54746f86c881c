"""Snapshots on this box."""

from __future__ import annotations

from collections.abc import Sequence

from harness.experiments.reproduce.cassini.emulate import Case, emulate_cases
from harness.experiments.reproduce.cassini.emulated import EmulatedArm, EmulatedSnapshots, emulated
from harness.experiments.reproduce.cassini.snapshots import Size, snapshot_scenario
from harness.experiments.reproduce.recipe import Say
from harness.experiments.run import ArmResult


def emulate_snapshots(
    size: Size, seeds: int | None, arms: Sequence[str], say: Say
) -> EmulatedSnapshots:
    """Simulate and emulate ``arms`` of every snapshot, seed by seed; see emulate_cases."""
    by_id = {each.id: each for each in size.snapshots}
    found: list[EmulatedArm] = []

    def take(case: Case, result: ArmResult) -> None:
        arm = emulated(by_id[case.name], case.seed, result)
        if arm is not None:
            found.append(arm)

    cases = [
        Case(snapshot.id, seed, snapshot_scenario(snapshot, seed, size.iterations, arms))
        for seed in range(1, (seeds or size.seeds) + 1)
        for snapshot in size.snapshots
    ]
    done = emulate_cases(cases, take, say)
    return EmulatedSnapshots(tuple(found), done.interrupted, done.repeated)
