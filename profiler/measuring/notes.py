"""What a reader of a profile must know beside its figures, in clauses. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from profiler.measuring.disturbance import LARGEST_CPUS
from profiler.measuring.fetching import MachineSpeeds
from profiler.sensitivity.measured_point import MeasuredPoint
from profiler.training.protocol import Ready


def notes_on(
    ready: Ready, points: Sequence[MeasuredPoint], speeds: MachineSpeeds | None, starts: int
) -> tuple[str, ...]:
    """starts: of the training process, in this profiling."""
    return (
        *_of_training(ready, starts),
        *_of_points(points),
        *_of_storage(ready, points, speeds),
    )


def _of_training(ready: Ready, starts: int) -> Iterator[str]:
    if ready.skipped:
        yield f"left out of the dataset: {_counts(ready.skipped)}"
    for what, why in ready.not_followed.items():
        yield f"the training does not follow the {what} of an allocation: {why}"
    if ready.batch_size is None:
        yield "the batch size is not known: an iteration counts as one sample"
    if starts > 1:
        yield f"the training was started {starts} times"


def _of_points(points: Sequence[MeasuredPoint]) -> Iterator[str]:
    for point in points:
        if not point.is_measured:
            yield f"{words(point)}: {point.state}: {point.reason}"
    measured = [point for point in points if point.is_measured]
    for what, count in (
        ("did not become steady", sum(not point.steady for point in measured)),
        ("did not become precise", sum(point.steady and not point.precise for point in measured)),
    ):
        if count:
            yield f"{count} of {len(measured)} points {what} within their budget"
    disturbed = disturbed_points(points)
    if disturbed:
        most = max(point.evidence["others_cpus"] for point in disturbed)
        yield (
            f"other processes used up to {most:.2f} of the training's CPUs while {len(disturbed)} "
            f"of {len(points)} points were measured: these are slower than on a quiet machine"
        )
    for point in points:
        if "not_finite_iteration" in point.evidence:
            yield (
                f"{words(point)}: the loss was not finite from iteration "
                f"{point.evidence['not_finite_iteration']} on"
            )


def _of_storage(
    ready: Ready, points: Sequence[MeasuredPoint], speeds: MachineSpeeds | None
) -> Iterator[str]:
    if speeds is None:
        has_caches = len({point.allocation.cache_bytes for point in points}) > 1
        if ready.dataset_bytes and "memory" not in ready.not_followed and has_caches:
            yield "storage was not measured apart, but seen in training with the smallest cache"
        return
    doubts = dict.fromkeys(speed.doubt for speed in speeds.storage if speed.doubt is not None)
    yield from (f"the speed of storage is in doubt: {doubt}" for doubt in doubts)


def disturbed_points(points: Sequence[MeasuredPoint]) -> list[MeasuredPoint]:
    """Those that others took CPUs from."""
    return [point for point in points if point.evidence.get("others_cpus", 0) > LARGEST_CPUS]


def words(point: MeasuredPoint) -> str:
    """Where it was measured."""
    allocation = point.allocation
    return f"{allocation.cpus:g} CPUs with {allocation.cache_bytes / 1e6:,.1f} MB cached"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in Counter(counts).most_common())
