"""Snapshots on this box, simulated and emulated."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from emulator.interrupt import stop_on_signals
from emulator.session import Session
from harness.experiments.reproduce.cassini.emulated import (
    EmulatedArm,
    EmulatedSnapshots,
    emulated,
)
from harness.experiments.reproduce.cassini.snapshots import Size, snapshot_scenario
from harness.experiments.reproduce.recipe import Say
from harness.experiments.run import decide_all, emulate_all, predict_all, scale_of
from netshaper.run_state import new_run_id


def emulate_snapshots(
    size: Size, seeds: int | None, arms: Sequence[str], say: Say
) -> EmulatedSnapshots:
    """Simulate and emulate ``arms`` of every snapshot, seed by seed.

    A stop ends the iterations under way; of the arm that they belong to nothing counts.
    """
    done: list[EmulatedArm] = []
    with (
        Session(new_run_id()) as session,
        stop_on_signals(lambda: say("stopping after the iterations under way")) as stop,
    ):
        for seed in range(1, (seeds or size.seeds) + 1):
            for snapshot in size.snapshots:
                if stop.wanted():
                    return EmulatedSnapshots(tuple(done), interrupted=True)
                scenario = snapshot_scenario(snapshot, seed, size.iterations, arms)
                results = decide_all(scenario)
                predict_all(results, silent, stop.wanted)
                tell = teller(snapshot.name, seed, say)
                emulate_all(session, results, scale_of(scenario), tell, stop.wanted)
                done += [each for result in results if (each := emulated(snapshot, seed, result))]
        return EmulatedSnapshots(tuple(done), interrupted=stop.wanted())


def teller(name: str, seed: int, say: Say) -> Callable[[str, int, int], None]:
    """Progress of ``name`` with ``seed``, for ``say``."""

    def tell(what: str, done: int, total: int) -> None:
        say(f"seed {seed}, {name}: {what}, {done} of {total} iterations")

    return tell


def silent(what: str, done: int, total: int) -> None:
    """Of what takes no time."""
    del what, done, total
