"""What `make gpu-check` runs, checked. Skipped where there is no GPU."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from profiler.limits.gpu_counters import GpuCounters
from tests.gpu import nccl
from tests.gpu.check import Case, cases, gpu_evidence, run_case, why_no_gpu
from traces.sensitivity import read_sensitivities

_REASON = why_no_gpu()
pytestmark = pytest.mark.skipif(_REASON is not None, reason=_REASON or "")

_SAY_UUID = """
import torch
from profiler.training.machine import gpu_uuid
print(gpu_uuid(torch.device("cuda:0")))
"""


def uuids() -> list[str]:
    """Of all GPUs of this machine, as NVML has them."""
    nvml = pytest.importorskip("pynvml", reason="needs nvidia-ml-py")
    nvml.nvmlInit()
    try:
        handles = [
            nvml.nvmlDeviceGetHandleByIndex(number) for number in range(nvml.nvmlDeviceGetCount())
        ]
        return [str(nvml.nvmlDeviceGetUUID(handle)) for handle in handles]
    finally:
        nvml.nvmlShutdown()


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_a_model_is_profiled_on_the_gpu(case: Case, tmp_path: Path) -> None:
    document: dict[str, Any] = run_case(case, tmp_path)
    (entry,) = read_sensitivities(tmp_path / case.name / "profile.json").entries
    assert entry.gpu_type == document["gpu_type"] != "cpu"
    assert all(point.get("state", "measured") == "measured" for point in document["points"])
    gpu = gpu_evidence(document)
    assert gpu["samples"] > 1
    assert 0 < gpu["utilisation"]["mean"] <= 1
    assert document["gpu_uuid"] == gpu["uuid"]
    assert gpu["uuid"] in entry.source
    curve = document["curve"]["iteration_s"]
    assert curve[0] >= curve[-1] * 0.98
    if case.name == "language":
        assert curve[0] < curve[-1] * 1.1
    assert (tmp_path / case.name / "report.html").is_file()


def test_a_gpu_is_found_by_nvml_whatever_number_cuda_gives_it() -> None:
    for uuid in uuids():
        told = subprocess.run(
            (sys.executable, "-c", _SAY_UUID),
            env={**os.environ, "CUDA_VISIBLE_DEVICES": uuid},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        with contextlib.closing(GpuCounters(told.stdout.strip())) as counters:
            assert counters.uuid == uuid


def test_a_compiled_model_trains_on_the_gpu(tmp_path: Path) -> None:
    options = ("--model", "resnet18", "--tiny", "--compile", "--precision", "bf16")
    document = run_case(Case("compiled", options), tmp_path)
    assert all(point.get("state", "measured") == "measured" for point in document["points"])


def test_what_nccl_sends_is_what_a_ring_has_to_send(tmp_path: Path) -> None:
    import torch

    sent = nccl.record(torch.cuda.device_count(), tmp_path)
    assert sent.is_right, str(sent)
