"""Evidence of a real, busy child, without any privilege."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from profiler.allocation import Allocation
from profiler.limits.evidence import EvidenceSampler
from profiler.limits.point_limits import PointLimits
from tests.unit.profiler.limits.children import NO_PRIVILEGE, line_of, running, tell

MIB = 2**20

BUSY = """
import os, sys, time
held = bytearray(64 << 20)
print("begun", flush=True)
for line in sys.stdin:
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass
    print("done", flush=True)
"""


def test_evidence_of_a_busy_child() -> None:
    with running(BUSY) as child, PointLimits("unprivileged", NO_PRIVILEGE) as limits:
        assert line_of(child) == "begun"
        limits.watch(child.pid)
        enforced = limits.set(Allocation(1, 0))
        sampler = EvidenceSampler(limits)
        for _ in range(2):
            sampler.begin()
            tell(child)
            assert line_of(child) == "done"
            evidence = sampler.end()
        sampler.close()
    assert evidence.cpu.cpus_allowed == enforced.cpu_list
    assert evidence.cpu.used_by == "/proc/PID/stat"
    assert evidence.cpu.used_s is not None
    assert 0.18 <= evidence.cpu.used_s < 0.38, "of the second point alone"
    assert evidence.elapsed_s >= 0.2
    assert evidence.cpu.threads_put_back == 0
    assert evidence.storage_read_bytes is not None
    assert evidence.storage_read_bytes < MIB
    assert evidence.memory.processes == 1
    assert evidence.memory.proportional is not None
    assert evidence.memory.proportional.anon_bytes is not None
    assert evidence.memory.proportional.anon_bytes > 64 * MIB
    document = json.loads(json.dumps(evidence.to_document()))
    absent = {
        "cpu.periods",
        "cpu.throttled_periods",
        "cpu.throttled_s",
        "memory.charged",
        "memory.highest_held_bytes",
        "memory.oom_kills",
    }
    assert {name: evidence.missing[name] for name in absent} == dict.fromkeys(absent, "use sudo")
    assert evidence.missing["gpu"] == "the training uses no GPU"
    assert set(evidence.missing) - absent <= {"gpu", "pressure.stalled"}
    assert document["missing"] == dict(evidence.missing)
    if Path("/proc/pressure/cpu").exists():
        assert evidence.pressure.scope == "machine"
        assert set(evidence.pressure.stalled) == {"cpu", "io", "memory"}


def test_of_a_process_that_died_the_reasons_are_left() -> None:
    with running(BUSY) as child, PointLimits("unprivileged", NO_PRIVILEGE) as limits:
        line_of(child)
        limits.watch(child.pid)
        sampler = EvidenceSampler(limits)
        sampler.begin()
        child.kill()
        child.wait()
        evidence = sampler.end()
    assert evidence.cpu.used_s is None
    assert evidence.storage_read_bytes is None
    assert evidence.memory.proportional is None
    names = ("cpu.used_s", "storage_read_bytes", "memory.proportional", "cpu.cpus_allowed")
    assert all("none of" in evidence.missing[name] for name in names)


def test_a_point_has_a_beginning_and_a_gpu_that_is_not_there_is_said() -> None:
    with PointLimits("unprivileged", NO_PRIVILEGE) as limits:
        sampler = EvidenceSampler(limits)
        with pytest.raises(ValueError, match="no point has begun"):
            sampler.end()
        sampler.watch_gpu("00000000-0000-0000-0000-000000000000")
        sampler.begin()
        assert "NVML" in sampler.end().missing["gpu"]
        sampler.begin()
        sampler.close()
