"""Scenarios on this box, simulated and emulated, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from emulator.interrupt import stop_on_signals
from emulator.session import Session
from emulator.verdict import Status
from harness.experiments.reproduce.recipe import Say
from harness.experiments.run import ArmResult, decide_all, emulate_all, predict_all, scale_of
from netshaper.run_state import new_run_id
from traces.scenario import Scenario

MOST_REPEATS = 2
"""Of an emulation that was disturbed. Its verdict rests on the box, not on what was measured."""


@dataclass(frozen=True)
class Case:
    """A scenario with one seed. name: of its snapshot or workload."""

    name: str
    seed: int
    scenario: Scenario


@dataclass(frozen=True)
class Done:
    """How it went. repeated: emulations, as the box was disturbed. interrupted: by a person."""

    repeated: int
    interrupted: bool


def emulate_cases(cases: Iterable[Case], take: Callable[[Case, ArmResult], None], say: Say) -> Done:
    """Simulate and emulate every arm of ``cases``, and hand them to ``take``.

    An emulation whose verdict is suspect is done again, up to MOST_REPEATS times; the last counts.
    A stop ends the iterations under way; the arm that they belong to is not whole.
    """
    repeated = 0
    with (
        Session(new_run_id()) as session,
        stop_on_signals(lambda: say("stopping after the iterations under way")) as stop,
    ):
        for case in cases:
            if stop.wanted():
                break
            results = decide_all(case.scenario)
            predict_all(results, _silent, stop.wanted)
            repeated += _emulate(session, case, results, stop.wanted, say)
            for result in results:
                take(case, result)
        return Done(repeated, stop.wanted())


def _emulate(
    session: Session,
    case: Case,
    results: Sequence[ArmResult],
    stop_wanted: Callable[[], bool],
    say: Say,
) -> int:
    """Emulate all arms; how many emulations were repeated."""
    tell, scale = _teller(case, say), scale_of(case.scenario)

    def again(result: ArmResult) -> None:
        failed = result.measurement.verdict.failed if result.measurement else ()
        names = ", ".join(check.name for check in failed)
        say(f"seed {case.seed}, {case.name}: {result.arm.name} was disturbed ({names}): again")
        emulate_all(session, [result], scale, tell, stop_wanted)

    emulate_all(session, results, scale, tell, stop_wanted)
    return repeat_disturbed(results, again, stop_wanted)


def repeat_disturbed(
    results: Iterable[ArmResult],
    again: Callable[[ArmResult], None],
    stop_wanted: Callable[[], bool],
) -> int:
    """Call ``again``, which emulates it anew, for each of ``results`` as long as it is disturbed
    and up to MOST_REPEATS times. How many calls that took."""
    repeated = 0
    for result in results:
        for _ in range(MOST_REPEATS):
            if stop_wanted() or not _is_disturbed(result):
                break
            again(result)
            repeated += 1
    return repeated


def _is_disturbed(result: ArmResult) -> bool:
    measurement = result.measurement
    return measurement is not None and measurement.verdict.status is Status.SUSPECT


def _teller(case: Case, say: Say) -> Callable[[str, int, int], None]:
    def tell(what: str, done: int, total: int) -> None:
        say(f"seed {case.seed}, {case.name}: {what}, {done} of {total} iterations")

    return tell


def _silent(what: str, done: int, total: int) -> None:
    """Simulating takes seconds."""
    del what, done, total
