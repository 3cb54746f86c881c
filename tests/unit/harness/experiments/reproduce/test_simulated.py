"""Plain scenarios become runs; an interruption keeps those that were made."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from harness.experiments.reproduce import simulated
from harness.experiments.reproduce.simulated import Runs, Simulation, arm_of, simulate_all
from harness.experiments.rounds.workload import trace_of
from tests.unit.harness.experiments.reproduce.tiny import TINY, made_up
from traces.errors import BadInputError


def tiny(**scheduler: str) -> dict[str, Any]:
    scenario = copy.deepcopy(TINY)
    scenario["scheduler"] |= scheduler
    return scenario


def test_runs_are_known_by_arm_and_seed() -> None:
    said: list[str] = []
    simulations = [
        Simulation(arm, seed, tiny(mechanism=arm))
        for seed in (1, 2)
        for arm in ("proportional", "tune")
    ]
    runs = simulate_all(simulations, said.append, processes=1)
    assert not runs.interrupted
    assert {arm: sorted(of_arm) for arm, of_arm in runs.by_arm.items()} == {
        "proportional": [1, 2],
        "tune": [1, 2],
    }
    assert said[0] == "1 of 4: proportional, seed 1"
    for slow, fast in runs.of("proportional", "tune"):
        assert fast.mean_h < slow.mean_h
        assert fast.alone_s.tolist() == slow.alone_s.tolist()
        assert slow.mean_h == pytest.approx(slow.document["jct_s"]["all"]["mean"] / 3600)
        assert slow.is_short(4.0).sum() == slow.document["jct_s"]["short"]["count"]
    assert len(runs.inputs) == 2


def test_only_the_jobs_that_are_handed_over_run() -> None:
    arm = arm_of(TINY)
    jobs = trace_of(arm, 1).jobs
    some = jobs[jobs["duration_s"] < 4 * 3600]
    simulation = Simulation("some", 1, TINY, some)
    run = simulate_all([simulation], lambda _: None, processes=1).by_arm["some"][1]
    assert run.submit_s.tolist() == some["submit_s"].tolist()
    assert run.is_short(4.0).all()


def test_ctrl_c_keeps_what_was_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> Iterator[tuple[int, object]]:
        yield 0, made_up(1.0)
        yield 3, made_up(2.0)
        raise KeyboardInterrupt

    monkeypatch.setattr(simulated, "in_parallel", interrupted)
    simulations = [Simulation(arm, seed, TINY) for seed in (1, 2) for arm in ("a", "b")]
    runs = simulate_all(simulations, lambda _: None)
    assert runs.interrupted
    assert len(runs.of("a")) == len(runs.of("b")) == 1
    assert runs.of("a", "b") == []  # no seed has both
    assert runs.of("c") == []


def test_a_scenario_that_no_scheduler_does_is_refused() -> None:
    with pytest.raises(BadInputError, match="is not known"):
        simulate_all([Simulation("x", 1, tiny(policy="fofo"))], print, processes=1)


def test_arrivals_must_outlast_the_jobs_that_count() -> None:
    assert made_up(100.0, policy="srtf").ran_dry
    assert not made_up(100.0, policy="fifo").ran_dry
    assert not made_up(100.0, policy="srtf", last_counts=True).ran_dry
    assert not made_up(0.05, policy="srtf").ran_dry


def test_seeds_are_in_order() -> None:
    runs = Runs({"a": {2: made_up(2.0), 1: made_up(1.0)}}, interrupted=False)
    means = [run.mean_h for (run,) in runs.of("a")]
    assert np.allclose(means, [1.0, 2.0])
