"""What a sensitivity was measured to be, as tables for the terminal and for the page. Pure."""

from __future__ import annotations

from harness.report.profiles.amounts import (
    PURPOSES,
    found,
    hit_share,
    iteration,
    maybe,
    share_cached,
    size,
)
from harness.report.traces.tables import Words
from harness.report.words import (
    NOTHING,
    duration,
    number,
    percent,
    seconds,
    signed_percent,
)
from profiler.measuring.fetching import MachineSpeeds
from profiler.measuring.sensitivity_result import SensitivityResult
from profiler.sensitivity.measured_point import MeasuredPoint

_BYTES_PER_S = 1e6


def curve(result: SensitivityResult) -> Words:
    """One row a number of CPUs of the grid, with all of the cache."""
    model, batch = result.found.model.curve, result.found.subject.batch_size
    rows = [
        [
            number(cpus),
            seconds(iteration_s),
            number(batch / iteration_s),
            percent(model.iteration_s[-1] / iteration_s),
            "measured" if is_measured else f"modelled, ± {percent(uncertain)}",
            "ideal demand" if place == model.knee else "",
        ]
        for place, (cpus, iteration_s, is_measured, uncertain) in enumerate(
            zip(
                model.cpus.tolist(),
                model.iteration_s.tolist(),
                model.measured.tolist(),
                model.uncertain.tolist(),
                strict=True,
            )
        )
    ]
    header = ["CPUs", "iteration", "samples/s", "of the most", "", ""]
    return Words("Over CPUs, with all of the cache", header, rows, "nnnn--")


def matrix(result: SensitivityResult) -> Words:
    """Throughput in percent; a row a number of CPUs, a column a size of the cache."""
    grid, sensitivity = result.found.grid, result.sensitivity
    names = [
        share_cached(cache_bytes, sensitivity.dataset_bytes) for cache_bytes in grid.cache_bytes
    ]
    rows = [
        [number(cpus), *(percent(value) for value in values)]
        for cpus, values in zip(grid.cpus, sensitivity.throughput.tolist(), strict=True)
    ]
    groups = [("", 1), ("of the dataset cached", len(names))]
    kinds = "n" * (len(names) + 1)
    return Words("Speed over CPUs and memory", ["CPUs", *names], rows, kinds, groups)


def points(result: SensitivityResult) -> Words:
    """Every measured point, in their order."""
    dataset_bytes = result.sensitivity.dataset_bytes
    rows = [
        [
            number(point.allocation.cpus),
            share_cached(point.allocation.cache_bytes, dataset_bytes),
            PURPOSES[point.purpose],
            iteration(point) if point.is_measured else f"{point.state}: {point.reason}",
            number(point.iterations),
            number(point.warmup_iterations),
            hit_share(point),
            _ending(point),
            duration(point.cost_s),
        ]
        for point in result.found.points
    ]
    header = ["CPUs", "cached", "why", "iteration", "iterations", "warm-up", "hits", "left", "cost"]
    return Words("Points", header, rows, "nn-nnnn-n")


def _ending(point: MeasuredPoint) -> str:
    if not point.is_measured:
        return NOTHING
    if not point.steady:
        return "not steady"
    return "precise" if point.precise else "budget spent"


def checks(result: SensitivityResult) -> Words:
    """The points that the model does not rest on, and how far it is off there."""
    dataset_bytes = result.sensitivity.dataset_bytes
    rows = [
        [
            number(point.allocation.cpus),
            share_cached(point.allocation.cache_bytes, dataset_bytes),
            seconds(point.iteration_s),
            signed_percent(error),
        ]
        for point, error in result.checked.by_point
    ]
    header = ["CPUs", "cached", "measured", "the model's speed is off by"]
    return Words("Check of the model", header, rows, "nnnn")


def cost(result: SensitivityResult) -> Words:
    """What measuring took."""
    spent = result.cost
    about = "about " if spent.is_estimated else ""
    rows = [
        ["optimistic", number(len(result.chosen)), duration(spent.optimistic_s)],
        [
            "whole grid",
            number(len(result.found.grid.allocations())),
            f"{about}{duration(spent.grid_s)}",
        ],
    ]
    return Words("Cost", ["", "points", "time"], rows, "-nn")


def speeds(known: MachineSpeeds | None) -> Words:
    """Of the machine. No rows where they were not measured."""
    rows = []
    for storage in () if known is None else known.storage:
        low, high = (value / _BYTES_PER_S for value in storage.interval_bytes_per_s)
        rows.append(
            [
                f"storage, {storage.readers} readers",
                f"{number(storage.bytes_per_s / _BYTES_PER_S)} ({number(low)} to {number(high)})",
                number(storage.items_per_s),
                NOTHING
                if storage.from_storage_share is None
                else percent(storage.from_storage_share),
                "in doubt" if storage.doubt else "",
            ]
        )
    if known is not None:
        low, high = (value / _BYTES_PER_S for value in known.memory.interval_bytes_per_s)
        rate = number(known.memory.bytes_per_s / _BYTES_PER_S)
        within = f"{rate} ({number(low)} to {number(high)})"
        rows.append([f"memory, {known.memory.threads} threads", within, NOTHING, NOTHING, ""])
    what = "random reads of this dataset's items"
    header = [what, "MB/s", "items/s", "really read, of asked", ""]
    return Words("Storage and memory", header, rows, "-nnn-")


def evidence(measured: tuple[MeasuredPoint, ...]) -> Words:
    """What was asked for and what took effect, a row a point."""
    rows = [_evidence(point) for point in measured if point.evidence]
    header = [
        "CPUs asked", "got", "on", "quota", "throttled", "CPU used", "by others", "workers",
        "cache", "fetched", "read from storage", "held", "PSS", "GPU", "GPU power",
    ]  # fmt: skip
    return Words("What took effect", header, rows, "nn-nnnnnnnnnnnn")


def _evidence(point: MeasuredPoint) -> list[str]:
    asked, told = point.evidence.get("enforced", {}), point.evidence.get("point", {})
    quota_us, period_us = asked.get("quota_us"), asked.get("period_us")
    elapsed_s, used_s = told.get("elapsed_s"), found(told, "cpu", "used_s")
    gpu = found(told, "gpu", "utilisation", "mean")
    return [
        number(point.allocation.cpus),
        maybe(asked.get("cpus")),
        f"{asked.get('cpu_list', NOTHING)} by {asked.get('cpus_by', NOTHING)}",
        f"{quota_us / period_us:.2f}" if quota_us and period_us else "none",
        seconds(found(told, "cpu", "throttled_s")),
        maybe(used_s / elapsed_s if used_s is not None and elapsed_s else None, "CPUs"),
        maybe(point.evidence.get("others_cpus"), "CPUs"),
        maybe(point.evidence.get("workers")),
        size(point.evidence.get("cached_bytes")),
        size(point.fetched_bytes),
        size(told.get("storage_read_bytes")),
        size(found(told, "memory", "highest_held_bytes")),
        size(found(told, "memory", "proportional", "pss_bytes")),
        NOTHING if gpu is None else percent(gpu),
        maybe(found(told, "gpu", "power_w", "mean"), "W"),
    ]
