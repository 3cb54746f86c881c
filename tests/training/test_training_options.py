"""How a built-in model trains can be chosen, for real on the CPU, and is recorded."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional

from profiler.models.training_options import TrainingOptions
from profiler.models.training_step import TrainingStep
from profiler.training.command_lines import builtin_command
from profiler.training.job_specification import JobSpecification
from profiler.training.protocol import (
    Allocate,
    Allocated,
    End,
    NotFinite,
    Ready,
)
from tests.training.running_job import RunningJob
from tests.training.tiny_job import iterations_of, tiny_job

_BATCH = 4
_ITEMS = 8
_ENOUGH = 3 * _ITEMS // _BATCH
"""Iterations that go through all items three times."""


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where torch.compile keeps what it makes: empty, so that all is made now."""
    directory = tmp_path / "kernels"
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(directory))
    monkeypatch.setenv("TORCHINDUCTOR_COMPILE_THREADS", "1")
    return directory


def _job(directory: Path, **options: object) -> JobSpecification:
    return tiny_job(directory, **{"made_items": _ITEMS, "batch_size": _BATCH, **options})


@pytest.mark.parametrize(
    "options", [{}, {"precision": "bf16"}, {"channels_last": True}], ids=["as-is", "bf16", "last"]
)
def test_options_are_recorded(tmp_path: Path, options: dict[str, object]) -> None:
    with RunningJob(builtin_command(_job(tmp_path, **options)), tmp_path) as running:
        ready = running.wait_for(Ready)
        running.send(Allocate(1.0, 0))
        running.wait_for(Allocated)
        events = running.collect(
            lambda events: sum(len(each.records) for each in iterations_of(events)) >= _ENOUGH
        )
        assert {each.epoch for each in iterations_of(events)} == {0}, "made items make long epochs"
        assert not any(isinstance(event, NotFinite) for event in events)
        running.send(End())
        assert running.exit_code() == 0, running.log
    wanted = {"precision": "fp32", "channels_last": False, "compile": False} | options
    assert ready.options.items() >= wanted.items()


class OneLayer(nn.Module):
    """Little to compile."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, values: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return functional.cross_entropy(torch.relu(self.layer(values)), labels)


def _losses(options: TrainingOptions) -> list[float]:
    """Of five iterations with one batch."""
    torch.manual_seed(0)
    step = TrainingStep(
        OneLayer(),
        lambda parameters: torch.optim.SGD(parameters, lr=0.5, fused=True),
        torch.device("cpu"),
        options,
    )
    batch = torch.randn(6, 8), torch.randint(4, (6,))
    return [step(batch).item() for _ in range(5)]


@pytest.mark.skipif(
    shutil.which("g++") is None or not Path(sysconfig.get_path("include"), "Python.h").is_file(),
    reason="torch.compile needs g++ and the headers of Python on a CPU",
)
def test_what_is_compiled_trains_the_same_through_kernels_made_for_it(kernels: Path) -> None:
    plain, compiled = (_losses(TrainingOptions(compile=compile_)) for compile_ in (False, True))
    assert compiled == pytest.approx(plain, rel=1e-4)
    assert compiled[-1] < compiled[0]
    assert list(kernels.rglob("*.so"))


def test_without_a_compiler_it_is_said_on_one_line(
    tmp_path: Path, kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", str(tmp_path / "no-compiler"))
    with RunningJob(builtin_command(_job(tmp_path, compile=True)), tmp_path) as running:
        assert running.wait_for(Ready).options["compile"] is True
        running.send(Allocate(1.0, 0))
        running.collect(lambda events: False)
        assert running.exit_code() == 3
        last = running.log.splitlines()[-1]
    assert last.startswith("error: torch.compile fails: ")
    assert "C++ compiler" in last
    assert "Traceback" not in running.log
    assert not list(kernels.rglob("*.so"))
