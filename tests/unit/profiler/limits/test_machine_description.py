"""What a profile was measured on."""

from __future__ import annotations

import json
import os

from profiler.limits.machine_description import machine_description
from profiler.limits.usable import usable_cpus, usable_memory_bytes


def test_this_machine_is_described_without_a_gpu() -> None:
    described = machine_description(None, uses_gpu=False)
    assert json.loads(json.dumps(described)) == described
    machine, versions = described["machine"], described["versions"]
    assert isinstance(machine, dict)
    assert isinstance(versions, dict)
    assert 0 < machine["usable_cpus"] == usable_cpus() <= len(os.sched_getaffinity(0))
    assert 0 < usable_memory_bytes() < machine["memory_bytes"]
    assert versions["numpy"]
    assert described["gpu"] is None


def test_a_gpu_that_is_not_there_is_said() -> None:
    described = machine_description("00000000-0000-0000-0000-000000000000", uses_gpu=True)
    assert isinstance(described["gpu"], dict)
    assert "NVML" in described["gpu"]["missing"]
