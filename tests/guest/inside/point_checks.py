"""Points of a profile, held to their allocations on whatever hierarchies are mounted."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import Any

from netshaper.run_state import STATE_DIRECTORY_VARIABLE
from profiler.allocation import Allocation
from profiler.limits.evidence import EvidenceSampler
from profiler.limits.point_limits import PointLimits, limits_for_training
from tests.kernel.machine import cgroups

_RUN_ID = "guestpoint"
_MIB = 2**20
_MEASURED_S = 1.5

_FAMILY = """
import os
held = b"x" * (32 << 20)
os.fork()
os.write(1, b"spinning\\n")
while True:
    pass
"""


def points() -> dict[str, Any]:
    """A fraction of a CPU, then two whole ones, for a process and its child that never rest."""
    with tempfile.TemporaryDirectory() as records:
        os.environ[STATE_DIRECTORY_VARIABLE] = records + "/records"
        try:
            with PointLimits(_RUN_ID, limits_for_training()) as limits:
                seen = _points(limits)
        finally:
            del os.environ[STATE_DIRECTORY_VARIABLE]
    return seen | {"left": cgroups(_RUN_ID)}


def _points(limits: PointLimits) -> dict[str, Any]:
    command = limits.command_within((sys.executable, "-c", _FAMILY))
    with subprocess.Popen(command, stdout=subprocess.PIPE) as training:
        assert training.stdout is not None
        for _ in range(2):
            training.stdout.readline()
        limits.watch(training.pid)
        points = []
        for cpus in (0.25, 2.0):
            enforced = limits.set(Allocation(cpus, 0), 512 * _MIB)
            sampler = EvidenceSampler(limits)
            sampler.begin()
            time.sleep(_MEASURED_S)
            evidence = sampler.end()
            points.append([enforced.to_document(), evidence.to_document()])
        limits.kill()
        return {"points": points, "end": training.wait()}
