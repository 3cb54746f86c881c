"""Scripts as people write them, measured without a line for it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from profiler.training.command_lines import script_command
from profiler.training.protocol import (
    Allocate,
    Allocated,
    Command,
    End,
    Ended,
    Event,
    Iterations,
    NotFinite,
    Ready,
)
from tests.training.images import make_images
from tests.training.running_job import RunningJob

_IMAGES = 40
_TRAINED = 32
_BATCH = 4

_IMAGE_SCRIPT = """
import sys
import torch
from torch.utils.data import DataLoader, random_split
from torchvision import datasets, transforms

def main():
    shape = transforms.Compose([transforms.Resize((16, 16)), transforms.ToTensor()])
    images = datasets.ImageFolder(sys.argv[1], shape)
    train, held_out = random_split(images, [32, 8], torch.Generator().manual_seed(0))
    check = DataLoader(held_out, batch_size=4)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(768, len(images.classes)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    {before}
    for epoch in range({epochs}):
        with torch.no_grad():
            for pictures, labels in check:
                model(pictures)
        {each_epoch}
        for pictures, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(pictures), labels).backward()
            optimizer.step()
    print("trained", epoch + 1)

if __name__ == "__main__":
    main()
"""
_LOADER = "loader = DataLoader(train, batch_size=4, shuffle=True, num_workers=1{options})"
_SPAWNED = ", multiprocessing_context='spawn'"

_TOY_SCRIPT = """
import torch
from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.ones(32, 2)), batch_size=4)
weight = torch.ones(2, requires_grad=True)
done = 0
for epoch in range({epochs}):
    for batch, in loader:
        loss = (batch @ weight).sum() * {factor}
        loss.backward()
        done += 1
        {each}
"""


def _run(tmp_path: Path, text: str, *words: str) -> RunningJob:
    script = tmp_path / "train.py"
    script.write_text(text)
    return RunningJob(script_command([sys.executable, str(script), *words]), tmp_path)


def _answering(job: RunningJob, command: Command) -> list[Event]:
    """All that it says, if it gets ``command`` when it is ready."""
    events = job.collect(lambda events: bool(events) and isinstance(events[-1], Ready))
    if events:
        job.send(command)
    return events + job.collect(lambda events: False)


def _count(events: list[Event]) -> int:
    return sum(len(event.records) for event in events if isinstance(event, Iterations))


@pytest.mark.parametrize(
    ("before", "each_epoch"),
    [
        (_LOADER.format(options=""), "pass"),
        (_LOADER.format(options=", persistent_workers=True" + _SPAWNED), "pass"),
        ("pass", _LOADER.format(options="")),
    ],
)
def test_the_training_loader_of_a_script_is_measured(
    tmp_path: Path, before: str, each_epoch: str
) -> None:
    make_images(tmp_path / "images", _IMAGES)
    script = _IMAGE_SCRIPT.format(before=before, each_epoch=each_epoch, epochs=10**6)
    with _run(tmp_path, script, str(tmp_path / "images")) as job:
        ready = job.wait_for(Ready)
        assert (ready.model, ready.kind, ready.batch_size) == ("train", "script", _BATCH)
        assert (ready.dataset_items, ready.not_followed) == (_TRAINED, {})
        assert ready.dataset_bytes is not None
        assert "torchvision" in ready.versions
        for cpus, workers in ((2.0, 3), (1.0, 2)):
            job.send(Allocate(cpus, ready.dataset_bytes))
            allocated = job.wait_for(Allocated)
            assert (allocated.workers, allocated.cached_items) == (workers, _TRAINED)
            events = job.collect(lambda events: _count(events) >= 3 * _TRAINED // _BATCH)
            last = events[-1]
            assert isinstance(last, Iterations)
            assert (last.misses, last.samples_per_iteration) == (0, _BATCH)
            assert last.hits >= 2 * _TRAINED
        job.send(End())
        assert job.exit_code() == 0, job.log


def test_a_script_that_comes_to_its_end(tmp_path: Path) -> None:
    with _run(tmp_path, _TOY_SCRIPT.format(epochs=3, factor=1, each="pass")) as job:
        events = _answering(job, Allocate(1.0, 10**6))
        ready, allocated = events[:2]
        assert isinstance(ready, Ready)
        assert "TensorDataset" in ready.not_followed["memory"]
        assert "no workers" in ready.not_followed["workers"]
        assert isinstance(allocated, Allocated)
        assert (allocated.workers, allocated.cached_items) == (0, 0)
        assert _count(events) == 24 - 1  # the one before it was known to train
        assert events[-1] == Ended(24)
        assert job.exit_code() == 0


def test_a_script_that_never_iterates(tmp_path: Path) -> None:
    with _run(tmp_path, "print('hello')") as job:
        (ended,) = job.collect(lambda events: False)
        assert ended == Ended(0, 0, "the script never iterated over a torch DataLoader")
        assert "hello" in job.log


def test_a_script_that_does_not_train(tmp_path: Path) -> None:
    script = _TOY_SCRIPT.format(epochs=1, factor=1, each="pass").replace("loss.backward()", "pass")
    with _run(tmp_path, script) as job:
        (ended,) = job.collect(lambda events: False)
        assert isinstance(ended, Ended)
        assert ended.reason.startswith("of 8 iterations over DataLoaders none was followed")


@pytest.mark.parametrize(
    ("each", "code", "reason"),
    [
        ("if done == 5: raise SystemExit(3)", 3, "the script ended with exit code 3"),
        ("if done == 5: raise SystemExit('no')", 1, "the script ended with exit code 1"),
        ("if done == 5: raise ValueError('bad sample')", 1, "ValueError: bad sample"),
    ],
)
def test_a_script_that_ends_early(tmp_path: Path, each: str, code: int, reason: str) -> None:
    with _run(tmp_path, _TOY_SCRIPT.format(epochs=3, factor=1, each=each)) as job:
        events = _answering(job, Allocate(1.0, 0))
        assert events[-1] == Ended(4, code, reason)
        assert _count(events) == 3
        assert job.exit_code() == code
        assert ("bad sample" in job.log) == ("bad sample" in reason)


def test_a_loss_that_is_not_finite_is_said(tmp_path: Path) -> None:
    factor = "(float('nan') if done >= 4 else 1)"
    with _run(tmp_path, _TOY_SCRIPT.format(epochs=2, factor=factor, each="pass")) as job:
        events = _answering(job, Allocate(1.0, 0))
        assert [event for event in events if isinstance(event, NotFinite)] == [NotFinite(4)]
        assert events[-1] == Ended(16)


def test_a_script_with_an_iterator_of_its_own(tmp_path: Path) -> None:
    script = _TOY_SCRIPT.format(epochs=2, factor=1, each="pass").replace(
        "weight =",
        "from profiler.loading.iterator import TrainingIterator\n"
        "loader = TrainingIterator(loader)\nweight =",
    )
    with _run(tmp_path, script) as job:
        events = _answering(job, Allocate(1.0, 0))
        assert _count(events) == 16


def test_an_iterator_reports_from_a_command_that_is_not_watched(tmp_path: Path) -> None:
    script = tmp_path / "own.py"
    script.write_text(
        "from profiler.loading.iterator import TrainingIterator\n"
        "for batch in TrainingIterator(list(range(9))): pass\n"
    )
    launcher = f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')"
    with RunningJob([sys.executable, "-c", launcher], tmp_path) as job:
        events = _answering(job, Allocate(1.0, 0))
        assert isinstance(events[0], Ready)
        assert events[0].not_followed.keys() == {"workers", "memory"}
        assert _count(events) == 9
        assert job.exit_code() == 0


def test_there_is_no_such_script(tmp_path: Path) -> None:
    words = script_command([sys.executable, str(tmp_path / "absent.py")])
    with RunningJob(words, tmp_path) as job:
        assert job.exit_code() == 2
        assert "absent.py; allowed: a Python file" in job.log
        assert "Traceback" not in job.log
