"""Measures how fast a training is with how many CPUs and how much memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netshaper.run_state import new_run_id
from profiler.limits.machine_description import machine_description
from profiler.limits.point_limits import PointLimits, limits_for_training
from profiler.limits.usable import usable_memory_bytes
from profiler.loading.stored_items import StoredItems
from profiler.measuring.fetching import FetchingSource, measure_speeds
from profiler.measuring.memory_points import cache_sizes, quarters
from profiler.measuring.notes import notes_on
from profiler.measuring.point_log import PointLog, Show
from profiler.measuring.point_meter import PointMeter
from profiler.measuring.sensitivity_result import Findings, SensitivityResult, conclude
from profiler.measuring.training import Patience, Training, command_of, identity_of
from profiler.measuring.training_process import StoppedError
from profiler.measuring.walk import PointGrid, random_points, speed_model
from profiler.sensitivity.measured_point import MeasuredPoint
from profiler.sensitivity.profile import Subject
from profiler.sensitivity.profile_files import write_profile
from profiler.sensitivity.profile_state import ProfileState
from profiler.training.protocol import Ready
from traces.sensitivity import Sensitivities

STATE_DIRECTORY = "state"
LOG = "training.log"

_SEED = 0
_WITHOUT_MEMORY_BYTES = 1
"""The cache of a training that has none: a sensitivity has at least one size, above 0."""


@dataclass(frozen=True)
class SensitivityPlan:
    """model: what the profile calls it. cpus: ascending. memory_shares: of the dataset, 0 to 1,
    ascending; None for quarters, as far as this machine's memory goes. is_full: measure the whole
    grid. checks: random points of it to check the model at, of ``check_seed``.
    """

    training: Training
    model: str
    cpus: tuple[float, ...]
    patience: Patience
    memory_shares: tuple[float, ...] | None = None
    is_full: bool = False
    checks: int = 0
    check_seed: int = 0


def profile_sensitivity(
    plan: SensitivityPlan,
    items: StoredItems | None,
    directory: Path,
    show: Show,
    stop: Callable[[], bool],
) -> tuple[SensitivityResult, ProfileState]:
    """Measure, going on with what ``directory`` has of the same training on the same machine.

    items: what it trains on; None where that is not known here. show: told before each point.
    stop: whether the person has asked to stop; then the result is of what was measured before.

    Raises
    ------
    BadInputError: the training cannot be measured, or ``directory`` is of another one.
    StoppedError: the person has asked to stop, and nothing is known yet.
    """
    command = command_of(plan.training)
    with (
        PointLimits(new_run_id(), limits_for_training()) as limits,
        PointMeter(command, limits, plan.patience, directory / LOG, stop) as meter,
    ):
        ready = meter.begin()
        machine = machine_description(ready.options.get("gpu_uuid"), uses_gpu=ready.device != "cpu")
        state = ProfileState(directory / STATE_DIRECTORY, _identity(plan, ready, machine))
        grid = _grid(plan, ready, state.points)
        log = PointLog(meter, state, show)
        source = _source(plan, ready, grid, items)
        is_interrupted = False
        try:
            _walk(plan, grid, log, source)
        except StoppedError:
            is_interrupted = True
        starts, gpu_uuid = meter.starts, meter.gpu_uuid
    model = speed_model(grid, log.known, source)
    points = tuple(point for point in log.points if point.allocation in grid.allocations())
    if model is None:
        if is_interrupted:
            raise StoppedError
        raise meter.failure(f"no point was measured: {points[-1].reason}")
    result = conclude(
        Findings(
            ready,
            grid,
            points,
            model,
            source.speeds,
            _subject(plan, ready, machine, gpu_uuid),
            notes_on(ready, points, source.speeds, starts),
            is_interrupted,
        )
    )
    return result, state


def write_sensitivity(directory: Path, result: SensitivityResult, state: ProfileState) -> None:
    """profile.json, points.parquet and iterations.parquet."""
    write_profile(directory, Sensitivities((result.sensitivity,)), state)


def _walk(plan: SensitivityPlan, grid: PointGrid, log: PointLog, source: FetchingSource) -> None:
    """StoppedError where the person has asked to stop."""
    known = len(log.points)
    model_points = grid.most_searched + grid.has_memory_axis
    tried = len(grid.allocations()) if plan.is_full else model_points
    log.expect(tried + plan.checks + 1 - known)
    if plan.is_full:
        for allocation in grid.allocations():
            log.measure(allocation, "grid")
    if speed_model(grid, log.measure, source) is None:
        return
    log.expect(plan.checks + 1)
    for allocation in random_points(grid, log.points, plan.checks, plan.check_seed):
        log.measure(allocation, "check")
    is_repeated = len(log.points) == known and log.points[-1].purpose == "drift"
    first = log.known(grid.first)
    if not is_repeated and first is not None and first.is_measured:
        log.repeat(grid.first, "drift")


def _grid(plan: SensitivityPlan, ready: Ready, known: Sequence[MeasuredPoint]) -> PointGrid:
    """known: points of a profiling that goes on; its caches stay, though less memory may be free.

    BadInputError where caches of these sizes cannot be.
    """
    if ready.dataset_bytes is None or "memory" in ready.not_followed:
        return PointGrid(plan.cpus, (ready.dataset_bytes or _WITHOUT_MEMORY_BYTES,))
    if plan.memory_shares is None and known:  # of which the first has all of the cache
        return PointGrid(plan.cpus, quarters(known[0].allocation.cache_bytes))
    sizes = cache_sizes(ready.dataset_bytes, plan.memory_shares, usable_memory_bytes())
    return PointGrid(plan.cpus, sizes)


def _source(
    plan: SensitivityPlan, ready: Ready, grid: PointGrid, items: StoredItems | None
) -> FetchingSource:
    """Measured now, while the training waits for its first point."""
    if not (ready.dataset_bytes and ready.dataset_items and ready.batch_size):
        return FetchingSource(0, 0, None)
    iteration_bytes = ready.batch_size * ready.dataset_bytes / ready.dataset_items
    needed = items if grid.has_memory_axis else None
    speeds = None if needed is None else measure_speeds(needed, plan.cpus, _SEED)
    return FetchingSource(ready.dataset_bytes, iteration_bytes, speeds)


def _identity(
    plan: SensitivityPlan, ready: Ready, machine: Mapping[str, object]
) -> Mapping[str, object]:
    """What two points must have in common to be comparable."""
    return {
        "training": identity_of(plan.training),
        "batch_size": ready.batch_size,
        "loader": ready.loader,
        "dataset_items": ready.dataset_items,
        "dataset_bytes": ready.dataset_bytes,
        "device": ready.device_name,
        "versions": dict(ready.versions),
        **machine,
    }


def _subject(
    plan: SensitivityPlan, ready: Ready, machine: Mapping[str, Any], gpu_uuid: str | None
) -> Subject:
    dataset_bytes, sample_bytes = None, None
    if ready.dataset_bytes and ready.dataset_items:
        dataset_bytes = float(ready.dataset_bytes)
        sample_bytes = dataset_bytes / ready.dataset_items
    computer = machine["machine"]
    where = f"{computer['cores']} cores of {computer['cpu'] or computer['architecture']}"
    uses_gpu = ready.device != "cpu"
    return Subject(
        model=plan.model,
        kind=ready.kind,
        gpu_type=ready.device_name if uses_gpu else "cpu",
        batch_size=ready.batch_size or 1,
        dataset_bytes=dataset_bytes,
        sample_bytes=sample_bytes,
        dataset=str(ready.options.get("data", "of the script")),
        machine=f"{ready.device_name} and {where}" if uses_gpu else where,
        versions=ready.versions,
        gpu_uuid=gpu_uuid,
    )
