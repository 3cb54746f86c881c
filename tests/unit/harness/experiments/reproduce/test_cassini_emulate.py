"""Emulations that the box disturbed are done again, and counted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from emulator.measurement import ArmMeasurement
from emulator.verdict import Invariant, Status, judge
from harness.experiments.decide import Decision
from harness.experiments.reproduce.cassini.emulate import MOST_REPEATS, repeat_disturbed
from harness.experiments.reproduce.cassini.snapshots import QUICK, snapshot_scenario
from harness.experiments.run import ArmResult
from harness.scheduling.cassini.interleaving import Interleaving

NOTHING_DECIDED = Decision(Interleaving((), {}, 0, ()), {}, None)
VALID, SUSPECT, INVALID = Status.VALID, Status.SUSPECT, Status.INVALID


def measured(arm: str, status: Status) -> ArmMeasurement:
    failed = [] if status is VALID else [Invariant("a check", False, 1.0, 0.0, "", status)]
    return ArmMeasurement(
        arm=arm,
        iterations=[],
        links=[],
        adjustments={},
        verdict=judge(failed),
        interrupted=False,
        sample_interval_s=0.02,
        sampler_cpu_share=0.1,
    )


class Emulations:
    """Arms whose emulations end one after the other with the verdicts that are given for each."""

    def __init__(self, *verdicts: list[Status]) -> None:
        arms = snapshot_scenario(QUICK.snapshots[0], 1, 5).arms
        self.results = [ArmResult(arm, NOTHING_DECIDED) for arm in arms[: len(verdicts)]]
        self.done: list[str] = []
        self._verdicts: dict[str, Iterator[Status]] = {
            result.arm.name: iter(given)
            for result, given in zip(self.results, verdicts, strict=True)
        }
        for result in self.results:
            self.emulate(result)
        self.done.clear()

    def emulate(self, result: ArmResult) -> None:
        name = result.arm.name
        result.measurement = measured(name, next(self._verdicts[name]))
        self.done.append(name)

    @property
    def statuses(self) -> list[Status]:
        return [each.measurement.verdict.status for each in self.results if each.measurement]


def test_a_disturbed_emulation_is_done_again_and_the_last_counts() -> None:
    box = Emulations([SUSPECT, VALID], [VALID])
    assert repeat_disturbed(box.results, box.emulate, lambda: False) == 1
    assert box.done == [box.results[0].arm.name]
    assert box.statuses == [VALID, VALID]


def test_a_box_that_stays_disturbed_is_given_up_on() -> None:
    box = Emulations([VALID], [SUSPECT] * (2 + MOST_REPEATS))
    assert repeat_disturbed(box.results, box.emulate, lambda: False) == MOST_REPEATS
    assert box.done == [box.results[1].arm.name] * MOST_REPEATS
    assert box.statuses == [VALID, SUSPECT]


@pytest.mark.parametrize("status", [VALID, INVALID])
def test_only_what_was_disturbed_is_repeated(status: Status) -> None:
    """A result that is wrong stays wrong, and is told."""
    box = Emulations([status, SUSPECT])
    assert repeat_disturbed(box.results, box.emulate, lambda: False) == 0
    assert box.statuses == [status]


def test_a_repeat_that_is_invalid_ends_it() -> None:
    box = Emulations([SUSPECT, INVALID, VALID])
    assert repeat_disturbed(box.results, box.emulate, lambda: False) == 1
    assert box.statuses == [INVALID]


def test_once_a_stop_is_wanted_nothing_is_repeated() -> None:
    box = Emulations([SUSPECT, SUSPECT, VALID], [SUSPECT, VALID])
    repeated = repeat_disturbed(box.results, box.emulate, lambda: len(box.done) == 1)
    assert (repeated, box.done) == (1, [box.results[0].arm.name])
    assert box.statuses == [SUSPECT, SUSPECT]


def test_an_arm_that_was_not_emulated_is_left_alone() -> None:
    box = Emulations([SUSPECT, VALID])
    box.results[0].measurement = None
    assert repeat_disturbed(box.results, box.emulate, lambda: False) == 0
