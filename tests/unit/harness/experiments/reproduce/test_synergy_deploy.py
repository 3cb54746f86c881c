"""The deployment's recipe on servers that count: what it says of arms that differ or stop."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from emulator.rounds.checkpoint import Checkpoint
from emulator.rounds.clock import RoundClock
from emulator.rounds.evidence import RunEvidence, StepSpan
from emulator.rounds.lease import JobProgress, JobState, Lease
from emulator.rounds.run import RoundsMeasurement
from emulator.rounds.scale import RoundsScale
from emulator.verdict import Invariant, Status, judge
from harness.emulation.servers import Servers, ServersWanted, StartServers
from harness.experiments.reproduce.recipe import ReproducedFigure
from harness.experiments.reproduce.recipes import RECIPES
from harness.experiments.reproduce.recipes.synergy_deploy import (
    ARM_SEED,
    deployment,
    emulate_all,
    figures_of,
)
from harness.experiments.rounds.both import ArmRuns, check, scale_here, simulate_all
from harness.experiments.rounds.figures import run_document
from tests.unit.harness.emulation.counted_servers import CountedServers, Meddle, undisturbed
from traces.errors import BadInputError

EXAMPLE = Path(__file__).parents[5] / "examples" / "synergy-deploy.csv"
ERROR = "simulator's error of the mean JCT, without sign"
CHECKS = "checks of the emulation that failed"
SPEEDUP = "speed-up of the mean JCT by TUNE, emulated"

Simulated = tuple[list[ArmRuns], RoundsScale]


class _Judged(CountedServers):
    """With a measurement that fails the checks that are named."""

    def __init__(self, round_s: float, meddle: Meddle, failing: tuple[str, ...]) -> None:
        super().__init__(round_s, meddle)
        self._failing = failing

    @property
    def checkpoints(self) -> Mapping[str, Checkpoint]:
        return {}

    def so_far(self) -> Status:
        return self.finish().verdict.status

    def finish(self) -> RoundsMeasurement:
        invariants = [
            Invariant(name, False, 1.0, 0.0, "", Status.SUSPECT) for name in self._failing
        ]
        return RoundsMeasurement(RunEvidence(RoundClock(1.0)), [], judge(invariants))

    def take_spans(self) -> Sequence[StepSpan]:
        return []


def servers(meddle: Meddle = undisturbed, failing: tuple[str, ...] = ()) -> StartServers:
    @contextlib.contextmanager
    def start(wanted: ServersWanted) -> Iterator[Servers]:
        yield _Judged(wanted.round_s, meddle, failing)

    return start


def half_as_fast(_number: int, _lease: Lease, progress: JobProgress) -> JobProgress:
    """A job whose last iteration is all that is left ends with it."""
    if progress.iterations <= 1:
        return progress
    return replace(
        progress, state=JobState.RUNNING, iterations=progress.iterations / 2, ended_s=None
    )


@pytest.fixture
def simulated(tmp_path: Path) -> Simulated:
    """The first 40 jobs of the example, at one in ten of their lengths."""
    rows = [line.split(",") for line in EXAMPLE.read_text().splitlines()[:40]]
    trace = tmp_path / "short.csv"
    trace.write_text(
        "".join(f"{j},{m},{int(s) // 10},{int(n) // 10},{g}\n" for j, m, s, n, g in rows)
    )
    scenario = deployment(trace)
    check(scenario)
    runs = simulate_all(scenario, None, lambda *_: None, lambda: False)
    return runs, scale_here(scenario, runs)


def figures(simulated: Simulated, start: StartServers) -> dict[str, ReproducedFigure]:
    runs, scale = simulated
    emulate_all(None, runs, scale, lambda _: None, lambda: False, start)
    return {figure.name: figure for figure in figures_of(runs)}


def test_a_perfect_emulation_has_no_error_and_keeps_every_bound(simulated: Simulated) -> None:
    made = figures(simulated, servers())
    for arm in ("proportional", "tune"):
        error, checks = made[f"{arm}: {ERROR}"], made[f"{arm}: {CHECKS}"]
        assert error.ours == pytest.approx(0, abs=1e-9)
        assert (error.ok, checks.ours, checks.ok) == (True, 0, True)
        assert checks.note == "verdict valid"
        assert made[f"{arm}: mean JCT, emulated"].ours == pytest.approx(
            made[f"{arm}: mean JCT, simulated"].ours
        )
        assert made[f"{arm}: error of single jobs, largest, without sign"].ours == pytest.approx(
            0, abs=1e-9
        )
    slow, fast = (run_document(each.simulated[ARM_SEED]) for each in simulated[0])
    speedup = slow["jct_s"]["all"]["mean"] / fast["jct_s"]["all"]["mean"]
    assert speedup > 1.01
    assert made[SPEEDUP].ours == pytest.approx(speedup)
    makespans = made["makespan, proportional over TUNE, emulated"]
    assert makespans.ours == pytest.approx(slow["makespan_s"] / fast["makespan_s"])
    assert makespans.ok is None


def test_workers_that_do_half_the_work_show_as_the_simulators_error(simulated: Simulated) -> None:
    made = figures(simulated, servers(half_as_fast))
    for arm in ("proportional", "tune"):
        error = made[f"{arm}: {ERROR}"]
        assert error.ok is False
        assert error.note.startswith("-")
        assert (made[f"{arm}: error of single jobs, median, with sign"].ours or 0) < -0.3


def test_a_speed_up_that_is_missed_is_there_and_says_why(simulated: Simulated) -> None:
    speedup = figures(simulated, servers())[SPEEDUP]
    assert speedup.ours is not None
    assert speedup.ours < 1.35
    assert (speedup.expected, speedup.ok) == (1.5, False)
    assert "physical cluster" in speedup.note


def test_an_emulation_that_failed_a_check_is_not_ok(simulated: Simulated) -> None:
    checks = figures(simulated, servers(failing=("steal", "timer lateness")))[f"tune: {CHECKS}"]
    assert (checks.ours, checks.ok) == (2, False)
    assert checks.note == "verdict suspect: steal, timer lateness"


def test_a_stop_keeps_the_arm_that_is_done(simulated: Simulated) -> None:
    runs, scale = simulated
    started: list[ServersWanted] = []

    @contextlib.contextmanager
    def start(wanted: ServersWanted) -> Iterator[Servers]:
        started.append(wanted)
        yield _Judged(wanted.round_s, undisturbed, ())

    emulate_all(None, runs, scale, lambda _: None, lambda: len(started) == 2, start)
    assert len(started) == 2
    names = [figure.name for figure in figures_of(runs)]
    assert f"proportional: {ERROR}" in names
    assert not [name for name in names if name.startswith("tune") or name == SPEEDUP]


def test_there_is_one_seed_only(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="random"):
        RECIPES["synergy-deploy"].run(tmp_path, 2, lambda _: None)
