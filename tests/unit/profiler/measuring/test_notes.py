"""What a reader of a profile is told beside its figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from profiler.allocation import Allocation
from profiler.limits.memory_speed import MemorySpeed
from profiler.limits.storage_speed import StorageSpeed
from profiler.measuring.fetching import MachineSpeeds
from profiler.measuring.notes import notes_on
from profiler.sensitivity.measured_point import MeasuredPoint
from profiler.training.protocol import Ready

PLACE = Allocation(2.0, 3_000_000)


def ready(**more: Any) -> Ready:
    return Ready("m", "image", 16, "cpu", "a CPU", "torch", 100, 10**6, **more)


def point(**more: Any) -> MeasuredPoint:
    return MeasuredPoint(
        PLACE, iteration_s=1, interval_s=(1, 1), **({"steady": True, "precise": True} | more)
    )


def speeds(from_storage: float) -> MachineSpeeds:
    storage = StorageSpeed(1e8, (1e8, 1e8), 100, 2, 50, 50, from_storage)
    return MachineSpeeds((storage, storage), MemorySpeed(1e9, (1e9, 1e9), 2, 1000, 10**6), 1)


def test_nothing_is_said_where_all_is_as_it_should_be() -> None:
    assert notes_on(ready(), [point()], speeds(1.0), starts=1) == ()


def test_each_doubt_is_said_once() -> None:
    points = [
        point(precise=False),
        point(steady=False, precise=False),
        point(evidence={"others_cpus": 0.7, "not_finite_iteration": 4}),
        MeasuredPoint(PLACE, state="out-of-memory", reason="CUDA out of memory"),
    ]
    said = notes_on(
        ready(skipped={"empty": 2}, not_followed={"workers": "it has none"}),
        points,
        speeds(0.2),
        starts=2,
    )
    assert said == (
        "left out of the dataset: 2 empty",
        "the training does not follow the workers of an allocation: it has none",
        "the training was started 2 times",
        "2 CPUs with 3.0 MB cached: out-of-memory: CUDA out of memory",
        "1 of 3 points did not become steady within their budget",
        "1 of 3 points did not become precise within their budget",
        "other processes used up to 0.70 of the training's CPUs while 1 of 4 points were measured: "
        "these are slower than on a quiet machine",
        "2 CPUs with 3.0 MB cached: the loss was not finite from iteration 4 on",
        f"the speed of storage is in doubt: {speeds(0.2).storage[0].doubt}",
    )


def test_storage_that_only_training_saw_is_said_where_it_saw_it() -> None:
    cold = replace(point(), allocation=Allocation(2.0, 0))
    (said,) = notes_on(ready(), [point(), cold], None, starts=1)
    assert "seen in training with the smallest cache" in said
    assert notes_on(ready(), [point(), point()], None, starts=1) == (), "with one size of cache"
