"""How fast captures become demands, and how near fitted demands are to those that were sent."""

from __future__ import annotations

import multiprocessing
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench.captures import FRAME_BYTES, CaptureShape, write_capture
from bench.figures import Figure
from bench.synthetic_demands import Recipe, any_recipe, synthesise
from profiler.demand_fit.fit import fit_series
from traces.errors import BadInputError
from traces.formats.packet_series import PacketOptions, read_packets

_CAPTURE_BYTES = 10**9
_KEPT_FREE_BYTES = 10**9  # of the disk, beside the capture
_RUNS = 5
_SHAPES = {
    "demand.pcap_mb_per_s": CaptureShape(captured_bytes=FRAME_BYTES),
    "demand.pcap_headers_mb_per_s": CaptureShape(captured_bytes=96),
}
_MOST_GB = 0.5

_SEEDS = range(100)
_MOST_PERIOD, _MOST_BYTES = 0.005, 0.02  # shares
_LEAST_PCT = 99.0


def measure() -> Iterator[Figure]:
    """Captures of whole frames and of their headers; series whose demand is known."""
    with tempfile.TemporaryDirectory() as directory:
        free_bytes = shutil.disk_usage(directory).free
        if free_bytes < _CAPTURE_BYTES + _KEPT_FREE_BYTES:
            print(f"demand.pcap_*: not measured, {directory} has {free_bytes / 1e9:.1f} GB free")
        else:
            for name, shape in _SHAPES.items():
                yield from _captures(name, shape, Path(directory) / "capture.pcap")
    yield from _fits()


def _captures(name: str, shape: CaptureShape, file: Path) -> Iterator[Figure]:
    packets, sent_bytes = write_capture(file, shape, _CAPTURE_BYTES)
    size_bytes = file.stat().st_size
    runs = []
    for _ in range(_RUNS):
        # A process that is not forked shows its own memory alone.
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            runs.append(pool.apply(_read, (file,)))
    file.unlink()
    for _, _, counted_bytes in runs:
        if counted_bytes != sent_bytes:
            raise AssertionError(f"{counted_bytes:,.0f} bytes were read, {sent_bytes:,} written")
    taken_s = statistics.median(run_s for run_s, _, _ in runs)
    memory_gb = max(memory_bytes for _, memory_bytes, _ in runs) / 1e9
    is_whole = shape.captured_bytes == max(each.captured_bytes for each in _SHAPES.values())
    note = (
        f"{packets:,} packets, up to {shape.captured_bytes:,} bytes captured of each, "
        f"{size_bytes / 1e9:.2f} GB in the page cache; median of {_RUNS}; "
        f"{packets / taken_s / 1e6:.2f} million packets/s; peak memory {memory_gb:.2f} GB"
    )
    target = 100.0 if is_whole else None
    yield Figure(name, size_bytes / taken_s / 1e6, "MB/s", target, "at least", None, note)
    if is_whole:
        yield Figure("demand.pcap_memory_gb", memory_gb, "GB", _MOST_GB, "at most", None, note)


def _read(file: Path) -> tuple[float, float, float]:
    """Seconds, most memory of this process (bytes), and bytes of the sender."""
    began_s = time.perf_counter()
    series = read_packets(file, PacketOptions())
    taken_s = time.perf_counter() - began_s
    status = Path("/proc/self/status").read_text().splitlines()
    most = next(line for line in status if line.startswith("VmHWM:"))
    return taken_s, int(most.split()[1]) * 1024, float(series.sent_bytes.sum())


def _recipes() -> Iterator[tuple[Recipe, np.random.Generator]]:
    """Any, and the shortest and longest periods with each number of phases."""
    for seed in _SEEDS:
        random = np.random.default_rng(seed)
        yield any_recipe(random), random
    for period_s in (0.01, 60.0):
        for phases in range(1, 7):
            recipe = Recipe(period_s, phases, 20, jitter=0.1, missing=0.02, stalls=0.05)
            yield recipe, np.random.default_rng(phases)


def _fits() -> Iterator[Figure]:
    periods, right = [], []
    began_s = time.perf_counter()
    for recipe, random in _recipes():
        made = synthesise(recipe, random)
        try:
            fitted = fit_series(made.series).longest
        except BadInputError:
            periods.append(1.0)
            right.append(False)
            continue
        period, sent, edges_s = (abs(each) for each in made.deviations(fitted))
        periods.append(period)
        right.append(
            period <= _MOST_PERIOD and sent <= _MOST_BYTES and edges_s <= made.series.interval_s
        )
    taken_s = time.perf_counter() - began_s
    note = (
        f"worst of {len(periods)} series with 1 to 6 phases, 10 ms to 60 s, jitter to 10 %, 2 % "
        f"of samples missing, drift, a stall in 20 iterations; {taken_s:.0f} s to make and fit"
    )
    yield Figure("demand.fit_period_error_pct", 100 * max(periods), "%", 0.5, "at most", None, note)
    note = f"of them, period within {_MOST_PERIOD:.1%}, bytes within {_MOST_BYTES:.0%}, every edge "
    yield Figure(
        "demand.fit_right_pct",
        100 * sum(right) / len(right),
        "%",
        _LEAST_PCT,
        "at least",
        None,
        f"{note}within one sample",
    )
