"""The compiled functions of Pollux do what the same functions do as plain Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.unit.harness.scheduling.pollux import kernel_answers

ROOT = Path(__file__).parents[5]


def test_machine_code_answers_as_plain_python_does() -> None:
    done = subprocess.run(
        [sys.executable, "-m", kernel_answers.__name__],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    plain = json.loads(done.stdout)
    fast = json.loads(json.dumps(kernel_answers.answers()))
    assert not plain.pop("compiled")
    assert fast.pop("compiled")
    assert plain == fast
