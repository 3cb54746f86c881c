"""Points go through processes that live on; one that dies costs its own point alone."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from harness.experiments.sweep.local import run_on_cores
from harness.experiments.sweep.work import Outcome, Point, never


def points(count: int, where: Path = Path("scenario.yaml")) -> list[Point]:
    return [Point(f"{n:03}", {"n": n}, {"n": "number"}, n, where, {}, False) for n in range(count)]


def process_of(point: Point) -> Outcome:
    return Outcome(point, table=str(os.getpid()).encode())


def dies_of_the_third(point: Point) -> Outcome:
    if point.seed == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return process_of(point)


def exits_at_the_third(point: Point) -> Outcome:
    if point.seed == 2:
        os._exit(7)
    return process_of(point)


def unless_interrupted(point: Point) -> Outcome:
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGHUP)
    return process_of(point)


def both_at_once(point: Point) -> Outcome:
    """Done once the other point has begun, too."""
    (point.file / point.id).touch()
    while len(list(point.file.iterdir())) < 2:
        time.sleep(0.01)
    return process_of(point)


def processes(outcomes: list[Outcome]) -> set[bytes | None]:
    return {outcome.table for outcome in outcomes}


def test_every_point_once_in_other_processes_that_live_on() -> None:
    on_ctrl_c = signal.getsignal(signal.SIGINT)
    outcomes = list(run_on_cores(points(12), process_of, never, 2))
    assert signal.getsignal(signal.SIGINT) is on_ctrl_c
    assert sorted(outcome.point.id for outcome in outcomes) == [p.id for p in points(12)]
    assert 1 <= len(processes(outcomes)) <= 2
    assert str(os.getpid()).encode() not in processes(outcomes)
    assert not multiprocessing.active_children()


def test_two_points_at_once(tmp_path: Path) -> None:
    outcomes = list(run_on_cores(points(2, tmp_path), both_at_once, never, 2))
    assert len(processes(outcomes)) == 2


def check_one_failure(function: Callable[[Point], Outcome], reason: str) -> None:
    outcomes = list(run_on_cores(points(8), function, never, 1))
    assert [outcome.point.seed for outcome in outcomes] == list(range(8))
    (failed,) = (outcome for outcome in outcomes if outcome.table is None)
    assert failed.point.seed == 2
    assert failed.failure is not None
    assert failed.failure.reason == reason
    assert not multiprocessing.active_children()


def test_a_process_that_dies_fails_its_point_and_is_replaced() -> None:
    check_one_failure(
        dies_of_the_third,
        "its process ended by SIGKILL, most likely for its memory, before the point was done",
    )
    check_one_failure(
        exits_at_the_third, "its process ended with exit code 7 before the point was done"
    )


def test_signals_of_the_terminal_are_the_sweeps() -> None:
    (outcome,) = run_on_cores(points(1), unless_interrupted, never, 1)
    assert outcome.table is not None


def test_after_a_stop_no_point_begins_and_those_under_way_end() -> None:
    done: list[Outcome] = []
    for outcome in run_on_cores(points(50), process_of, lambda: bool(done), 2):
        done.append(outcome)
    assert 1 <= len(done) <= 4
    assert not multiprocessing.active_children()


def test_one_who_stops_listening_ends_the_processes() -> None:
    outcomes = run_on_cores(points(100), process_of, never, 2)
    next(outcomes)
    assert len(multiprocessing.active_children()) == 2
    outcomes.close()
    assert not multiprocessing.active_children()


def test_no_points_need_no_process() -> None:
    assert list(run_on_cores([], process_of, never, 2)) == []
