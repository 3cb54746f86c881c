"""Fidelity of the simulator on the deployment example: both arms emulated, for twelve minutes."""

from __future__ import annotations

from collections.abc import Iterator

from bench.emulated_rounds import TRACE, undisturbed
from bench.figures import Figure
from emulator.fork_server import ROUNDS_KINDS
from emulator.session import Session
from harness.experiments.reproduce.recipes.synergy_deploy import ARM_SEED, arm_errors, deployment
from harness.experiments.rounds.both import ArmRuns, scale_here, simulate_all
from harness.experiments.rounds.emulate import EmulatedResult, emulate_arm
from netshaper.run_state import new_run_id


def measure() -> Iterator[Figure]:
    """The worse arm's error of the average completion time."""
    scenario = deployment(TRACE)
    runs = simulate_all(scenario, None, lambda *_: None, lambda: False)
    scale = scale_here(scenario, runs)
    errors, notes = [], []
    for each in runs:

        def emulate(each: ArmRuns = each) -> EmulatedResult:
            with Session(new_run_id(), limits=True, kinds=ROUNDS_KINDS) as session:
                return emulate_arm(session, each.arm, ARM_SEED, scale)

        each.emulated[ARM_SEED], tried = undisturbed(emulate)
        found = arm_errors(each)
        if found is None:
            raise SystemExit(f"{each.arm.name}: no job ended on both sides")
        errors.append(abs(found.mean_error))
        single = f"single jobs median {found.median:+.1%}, p95 {found.p95:.1%}"
        notes.append(f"{each.arm.name} {found.mean_error:+.1%}, {single}, {tried}")
    yield Figure(
        "fidelity.jct_mean_error_pct",
        100 * max(errors),
        "%",
        5.0,
        "at most",
        None,
        f"simulated against emulated, worse of {len(runs)} arms: {'; '.join(notes)}",
    )
