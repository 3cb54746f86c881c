"""Items go through processes and come back; faults come through; nobody is left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from harness.experiments.reproduce.workers import in_parallel
from traces.errors import BadInputError, MissingCapabilityError


def square_and_process(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def fault(number: int) -> int:
    if number == 1:
        raise BadInputError("is odd", allowed="even", file=Path("jobs.csv"), line=3, key="n")
    if number == 2:
        raise ArithmeticError("two")
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_results_come_with_their_item_from_other_processes() -> None:
    on_ctrl_c = signal.getsignal(signal.SIGINT)
    found = dict(in_parallel(square_and_process, range(6), processes=2))
    assert signal.getsignal(signal.SIGINT) is on_ctrl_c
    assert {index: squared for index, (squared, _) in found.items()} == {
        number: number * number for number in range(6)
    }
    processes = {process for _, process in found.values()}
    assert os.getpid() not in processes
    assert len(processes) <= 2
    assert not multiprocessing.active_children()


def test_one_process_is_this_one() -> None:
    found = dict(in_parallel(square_and_process, range(3), processes=1))
    assert {process for _, process in found.values()} == {os.getpid()}
    assert not list(in_parallel(square_and_process, [], processes=2))


def test_faults_come_through_and_the_processes_end() -> None:
    with pytest.raises(BadInputError) as caught:
        list(in_parallel(fault, [0, 1], processes=2))
    assert str(caught.value) == "jobs.csv:3: n: is odd; allowed: even"
    with pytest.raises(RuntimeError, match="ArithmeticError: two"):
        list(in_parallel(fault, [0, 2], processes=2))
    with pytest.raises(MissingCapabilityError, match="was killed"):
        list(in_parallel(fault, [0, 3], processes=2))
    assert not multiprocessing.active_children()


def test_one_who_stops_listening_ends_the_processes() -> None:
    results = in_parallel(square_and_process, range(100), processes=2)
    next(results)
    assert len(multiprocessing.active_children()) == 2
    results.close()
    assert not multiprocessing.active_children()
