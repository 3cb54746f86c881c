"""Both loaders, for real: what they hit, what they give, and what a killed worker leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

from profiler.loading.batches import BatchSource, Loader, LoadingOptions, StartMethod, open_source
from profiler.loading.failure import LoadingError
from profiler.loading.minio_cache import CacheCounts, SharedMinioCache
from profiler.loading.stored_items import StoredItems
from tests.training.images import RandomCrop, make_images
from traces.errors import BadInputError

_ITEMS = 43
_BATCH = 8
_LOADERS: list[Loader] = ["torch", "dali"]
_STARTS: list[StartMethod] = ["fork", "spawn"]
_PATIENCE_S = 30.0


@dataclass(frozen=True)
class Epoch:
    """labels: int64[batches, batch]. images: of all batches."""

    labels: torch.Tensor
    images: torch.Tensor
    counts: CacheCounts


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> StoredItems:
    return make_images(tmp_path_factory.mktemp("images"), _ITEMS)


@pytest.fixture
def cache(items: StoredItems) -> Iterator[SharedMinioCache]:
    """It holds about half of the items."""
    with SharedMinioCache(items.length_bytes, items.total_bytes // 2, seed=5) as cache:
        yield cache


def _options(loader: Loader, start: StartMethod = "fork") -> LoadingOptions:
    return LoadingOptions(loader, _BATCH, shuffle_seed=7, start_method=start, device="cpu")


def _run_epoch(
    source: BatchSource, cache: SharedMinioCache, epoch: int, first_batch: int = 0
) -> Epoch:
    before = cache.counts()
    batches = list(source.epoch(epoch, first_batch))
    return Epoch(
        torch.stack([labels for _, labels in batches]),
        torch.stack([images for images, _ in batches]),
        cache.counts().since(before),
    )


def _children() -> set[int]:
    """Loader workers of this process, and whatever helps to start them."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return {int(pid) for pid in listed}


def _workers_of(source: BatchSource) -> list[int]:
    """Those that have a cache of ours mapped. The source must be running."""
    return [
        pid
        for pid in _children()
        if "roundelay-minio-cache" in Path(f"/proc/{pid}/maps").read_text()
    ]


@pytest.mark.parametrize("start", _STARTS)
@pytest.mark.parametrize("loader", _LOADERS)
def test_every_epoch_hits_exactly_the_items_held_whatever_the_workers(
    items: StoredItems, loader: Loader, start: StartMethod
) -> None:
    by_workers = []
    for workers in (1, 2, 4):
        with (
            SharedMinioCache(items.length_bytes, items.total_bytes // 2, seed=5) as cache,
            closing(
                open_source(items, RandomCrop(), _options(loader, start), workers, cache)
            ) as source,
        ):
            epochs = [_run_epoch(source, cache, epoch) for epoch in range(3)]
            used = np.sort(epochs[0].labels.flatten().numpy())
            held = cache.held[used]
            assert source.dropped_items == _ITEMS % _BATCH
            assert len(np.unique(used)) == _ITEMS - source.dropped_items
            assert epochs[0].counts == CacheCounts(
                hits=0, misses=len(used), fetched_bytes=int(items.length_bytes[used].sum())
            )
            for later in epochs[1:]:
                assert np.array_equal(np.sort(later.labels.flatten().numpy()), used)
                assert later.counts == CacheCounts(
                    hits=int(held.sum()),
                    misses=int((~held).sum()),
                    fetched_bytes=int(items.length_bytes[used][~held].sum()),
                )
            assert 0 < held.sum() < len(used)
            assert not torch.equal(epochs[1].labels, epochs[2].labels)
        by_workers.append(epochs)
    for others in by_workers[1:]:
        for epoch, other in zip(by_workers[0], others, strict=True):
            assert torch.equal(epoch.labels, other.labels)
            assert torch.equal(epoch.images, other.images)


def test_both_loaders_give_the_same_items_in_the_same_order(
    items: StoredItems, cache: SharedMinioCache
) -> None:
    labels = []
    for loader in _LOADERS:
        with closing(open_source(items, RandomCrop(), _options(loader), 2, cache)) as source:
            labels.append([_run_epoch(source, cache, epoch).labels for epoch in (4, 5)])
    assert torch.equal(torch.stack(labels[0]), torch.stack(labels[1]))


@pytest.mark.parametrize("loader", _LOADERS)
def test_an_epoch_goes_on_from_any_batch(
    items: StoredItems, cache: SharedMinioCache, loader: Loader
) -> None:
    with closing(open_source(items, RandomCrop(), _options(loader), 2, cache)) as source:
        whole = _run_epoch(source, cache, 1)
        rest = _run_epoch(source, cache, 1, first_batch=2)
        assert torch.equal(rest.labels, whole.labels[2:])
        if loader == "torch":  # DALI augments by where it began
            assert torch.equal(rest.images, whole.images[2:])
        given_up = source.epoch(2)
        next(given_up)
        after = _run_epoch(source, cache, 3)
    with closing(open_source(items, RandomCrop(), _options(loader), 1, cache)) as source:
        assert torch.equal(after.labels, _run_epoch(source, cache, 3).labels)


def test_the_batches_of_dali_stay_as_they_are(items: StoredItems, cache: SharedMinioCache) -> None:
    with closing(open_source(items, RandomCrop(), _options("dali"), 2, cache)) as source:
        kept, copies = [], []
        for epoch in range(4):
            for batch in source.epoch(epoch):
                kept.append(batch)
                copies.append([part.clone() for part in batch])
    for batch, copy in zip(kept, copies, strict=True):
        assert all(torch.equal(now, then) for now, then in zip(batch, copy, strict=True))
    images, labels = kept[0]
    assert (images.dtype, tuple(images.shape)) == (torch.float32, (_BATCH, 3, 16, 16))
    assert (labels.dtype, tuple(labels.shape)) == (torch.int64, (_BATCH,))


def _kill_and_go_on(
    worker: int, source: BatchSource, batches: Iterator[tuple[torch.Tensor, ...]]
) -> None:
    """For as many epochs as it takes to notice."""
    os.kill(worker, signal.SIGKILL)
    for _ in batches:
        pass
    for epoch in range(1, 1000):
        for _ in source.epoch(epoch):
            pass


@pytest.mark.parametrize("start", _STARTS)
@pytest.mark.parametrize("loader", _LOADERS)
def test_a_killed_worker_is_an_error_and_the_cache_goes_on(
    items: StoredItems, cache: SharedMinioCache, loader: Loader, start: StartMethod
) -> None:
    options = _options(loader, start)
    with closing(open_source(items, RandomCrop(), options, 2, cache)) as source:
        batches = source.epoch(0)
        next(batches)
        worker = _workers_of(source)[0]
        # torch also raises an error of its own, as soon as the signal of the end arrives.
        with pytest.raises((LoadingError, RuntimeError), match=r"(?i)worker") as caught:
            _kill_and_go_on(worker, source, batches)
    if loader == "dali":
        assert caught.type is LoadingError
    filled = np.flatnonzero(cache.filled)
    assert len(filled) > 0
    for item in filled:
        cached = cache.load(int(item))
        assert cached is not None
        assert bytes(cached) == Path(items.paths[item]).read_bytes()
    with closing(open_source(items, RandomCrop(), options, 2, cache)) as source:
        first, second = (_run_epoch(source, cache, epoch) for epoch in (1, 2))
    used = first.labels.flatten().numpy()
    assert first.counts.hits == int(np.isin(filled, used).sum())
    assert second.counts.hits == int(cache.held[used].sum())


@pytest.mark.parametrize("loader", _LOADERS)
def test_closing_ends_the_workers(
    items: StoredItems, cache: SharedMinioCache, loader: Loader
) -> None:
    source = open_source(items, RandomCrop(), _options(loader), 2, cache)
    batches = source.epoch(0)
    next(batches)
    workers = _workers_of(source)
    assert len(workers) == 2
    source.close()
    assert not set(workers) & _children()


@pytest.mark.parametrize("loader", _LOADERS)
def test_a_file_that_is_gone_is_named(tmp_path: Path, loader: Loader) -> None:
    items = make_images(tmp_path, 16)
    Path(items.paths[3]).unlink()
    with (
        SharedMinioCache(items.length_bytes, 0, seed=1) as cache,
        closing(open_source(items, RandomCrop(), _options(loader), 2, cache)) as source,
        pytest.raises(LoadingError, match=r"003/image\.jpg: No such file") as caught,
    ):
        for _ in source.epoch(0):
            pass
    assert "trace" not in str(caught.value)  # neither a traceback nor a stack trace


@pytest.mark.parametrize("loader", _LOADERS)
def test_a_file_that_cannot_be_decoded_is_an_error(tmp_path: Path, loader: Loader) -> None:
    items = make_images(tmp_path, 16)
    path = Path(items.paths[3])
    data = path.read_bytes()
    path.write_bytes(data[:20] + bytes(len(data) - 22) + data[-2:])
    with (
        SharedMinioCache(items.length_bytes, 0, seed=1) as cache,
        closing(open_source(items, RandomCrop(), _options(loader), 2, cache)) as source,
        pytest.raises(LoadingError, match=r"003/image\.jpg|DALI: ") as caught,
    ):
        for _ in source.epoch(0):
            pass
    assert "trace" not in str(caught.value)  # neither a traceback nor a stack trace


def test_what_a_loader_cannot_do_is_refused(items: StoredItems, cache: SharedMinioCache) -> None:
    options = _options("dali")
    with pytest.raises(BadInputError, match="DALI does not decode"):
        open_source(items, RandomCrop(dali=None), options, 1, cache)
    with pytest.raises(BadInputError, match="no fork server"):
        open_source(items, RandomCrop(), replace(options, start_method="forkserver"), 1, cache)
    with pytest.raises(BadInputError, match="43 items do not fill a batch of 44"):
        open_source(items, RandomCrop(), replace(options, batch_size=44), 1, cache)


# Ctrl-C ends it also where it is ignored, as shells have it for what they start in the background.
_TRAIN_FOREVER = """
import itertools, signal, sys
from pathlib import Path
from profiler.loading.batches import LoadingOptions, open_source
from profiler.loading.image_files import image_files
from profiler.loading.minio_cache import SharedMinioCache
from tests.training.images import RandomCrop

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    items = image_files(Path(sys.argv[1]), "refuse")
    cache = SharedMinioCache(items.length_bytes, items.total_bytes, seed=1)
    options = LoadingOptions(sys.argv[2], 8, 7, sys.argv[3], "cpu")
    source = open_source(items, RandomCrop(), options, 2, cache)
    for epoch in itertools.count():
        for batch in source.epoch(epoch):
            if epoch == 1:
                print("running", flush=True)
"""


@pytest.mark.parametrize(
    ("loader", "start", "end"),
    [
        ("torch", "spawn", signal.SIGKILL),
        ("dali", "spawn", signal.SIGKILL),
        ("dali", "fork", signal.SIGKILL),
        ("torch", "fork", signal.SIGINT),
        ("dali", "fork", signal.SIGTERM),
    ],
)
def test_no_end_of_the_owner_leaves_the_cache_behind(
    items: StoredItems, tmp_path: Path, loader: Loader, start: StartMethod, end: signal.Signals
) -> None:
    script = tmp_path / "train.py"
    script.write_text(_TRAIN_FOREVER)
    directory = str(Path(items.paths[0]).parent.parent)
    root = Path(__file__).parent.parent.parent
    with subprocess.Popen(
        [sys.executable, str(script), directory, loader, start],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(root)},
        text=True,
    ) as owner:
        assert owner.stdout is not None
        assert list(islice(owner.stdout, 1)) == ["running\n"]
        segment = _segment_of(owner.pid)
        assert len(_mapped_by(segment)) == 3
        owner.send_signal(end)
        owner.stdout.close()
        owner.wait(_PATIENCE_S)
    deadline_s = time.monotonic() + _PATIENCE_S
    while (left := _mapped_by(segment)) and time.monotonic() < deadline_s:
        time.sleep(0.1)
    assert left == []


def _segment_of(pid: int) -> str:
    """What names the memory of the cache in the maps of a process: its inode."""
    return next(
        line.split()[4]
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines()
        if "roundelay-minio-cache" in line
    )


def _mapped_by(segment: str) -> list[int]:
    """The processes that have it mapped."""
    found = []
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            lines = maps.read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        if any("roundelay-minio-cache" in line and line.split()[4] == segment for line in lines):
            found.append(int(maps.parent.name))
    return found
