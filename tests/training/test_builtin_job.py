"""Real training of tiny built-in models, told over a real socket."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import pytest

from profiler.loading.workers import workers_for
from profiler.training.command_lines import builtin_command
from profiler.training.job_specification import JobSpecification
from profiler.training.protocol import (
    Allocate,
    Allocated,
    End,
    Event,
    Iterations,
    NotFinite,
    Ready,
)
from tests.training.images import make_images
from tests.training.running_job import RunningJob
from tests.training.tiny_job import iterations_of, tiny_job

_ITEMS = 48
_BATCH = 8
_BATCHES = _ITEMS // _BATCH


def _job(directory: Path, **options: object) -> JobSpecification:
    return tiny_job(directory, **{"made_items": _ITEMS, "batch_size": _BATCH, **options})


def _ends_of_epochs(events: list[Event]) -> list[Iterations]:
    """The last report of each epoch but the one that goes on."""
    reports = iterations_of(events)
    return [one for one, next_ in pairwise(reports) if one.epoch != next_.epoch]


@pytest.mark.parametrize("loader", ["torch", "dali"])
def test_two_allocations_of_an_image_model(tmp_path: Path, loader: str) -> None:
    images = tmp_path / "images"
    make_images(images, _ITEMS)
    wanted = _job(tmp_path, loader=loader, data=str(images))
    with RunningJob(builtin_command(wanted), tmp_path) as job:
        ready = job.wait_for(Ready)
        assert ready.epoch_iterations == _BATCHES
        assert (ready.model, ready.kind, ready.batch_size) == ("alexnet", "image", _BATCH)
        assert (ready.loader, ready.device, ready.dataset_items) == (loader, "cpu", _ITEMS)
        assert ready.not_followed == {}
        assert ready.options["tiny"] is True
        assert {"python", "torch"} <= ready.versions.keys()
        assert ready.dataset_bytes is not None
        for cpus, cache_bytes in ((1.0, ready.dataset_bytes // 2), (2.0, ready.dataset_bytes)):
            began_s = time.monotonic()
            job.send(Allocate(cpus, cache_bytes))
            allocated = job.wait_for(Allocated)
            assert (allocated.cpus, allocated.workers) == (cpus, workers_for(cpus))
            assert 0 < allocated.cached_bytes <= cache_bytes
            events = job.collect(lambda events: len(_ends_of_epochs(events)) >= 3)
            took_s = time.monotonic() - began_s
            _check_times(iterations_of(events), took_s)
            _check_hits(_ends_of_epochs(events), allocated.cached_items)
            if cache_bytes == ready.dataset_bytes:
                assert allocated.cached_items == _ITEMS
                assert iterations_of(events)[-1].fetched_bytes == 0
        job.send(End())
        assert job.exit_code() == 0, job.log


def _check_times(reports: list[Iterations], took_s: float) -> None:
    """Every iteration adds up, and all of them together fit the time that has passed."""
    records = [record for report in reports for record in report.records]
    for wait_s, copy_s, compute_s, iteration_s in records:
        assert min(wait_s, copy_s, compute_s) >= 0
        assert iteration_s == pytest.approx(wait_s + copy_s + compute_s)
    assert 0 < sum(record[3] for record in records) <= took_s
    assert {report.samples_per_iteration for report in reports} == {_BATCH}


def _check_hits(ends: list[Iterations], cached_items: int) -> None:
    """In every whole epoch they are the items that the cache has a place for."""
    for one, next_ in pairwise(ends):
        assert next_.hits - one.hits == cached_items
        assert next_.misses - one.misses == _ITEMS - cached_items


def test_nothing_is_loaded_when_one_batch_is_used_over_and_over(tmp_path: Path) -> None:
    with RunningJob(builtin_command(_job(tmp_path, model="lstm")), tmp_path) as job:
        assert job.wait_for(Ready).kind == "language"
        job.send(Allocate(1.0, 0, source="synthetic"))
        job.wait_for(Allocated)
        reports = iterations_of(job.collect(lambda events: len(iterations_of(events)) >= 3))
        assert {report.epoch for report in reports} == {0}
        assert reports[-1].misses == reports[0].misses
        job.send(Allocate(1.0, 10**6))
        job.wait_for(Allocated)
        assert job.wait_for(Iterations).hits > 0


def test_images_of_a_directory_are_counted_and_their_faults_skipped(tmp_path: Path) -> None:
    images = tmp_path / "images"
    make_images(images, _ITEMS)
    (images / "000" / "empty.jpg").touch()
    with RunningJob(builtin_command(_job(tmp_path, data=str(images))), tmp_path) as job:
        ready = job.wait_for(Ready)
        assert ready.dataset_items == _ITEMS
        assert ready.skipped == {"empty": 1}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model": "resnet51"}, "resnet51"),
        ({"batch_size": _ITEMS + 1}, f"{_ITEMS} items do not fill a batch of {_ITEMS + 1}"),
        ({"model": "lstm", "data": "/"}, "lstm is no image model"),
        ({"precision": "fp16"}, "fp16 needs a GPU"),
        ({"device": "cuda:99"}, "PyTorch finds no cuda:99 here"),
    ],
)
def test_what_cannot_be_trained_is_said_on_one_line(
    tmp_path: Path, options: dict[str, object], said: str
) -> None:
    with RunningJob(builtin_command(_job(tmp_path, **options)), tmp_path) as job:
        assert job.collect(lambda events: False) == []
        assert job.exit_code() in (2, 3)
        assert said in job.log
        assert "Traceback" not in job.log


def test_a_job_ends_with_the_profiler(tmp_path: Path) -> None:
    with RunningJob(builtin_command(_job(tmp_path)), tmp_path) as job:
        job.wait_for(Ready)
        job.send(Allocate(1.0, 0))
        assert not isinstance(job.wait_for(Iterations), NotFinite)
