"""Compiled functions do what the same functions do as plain Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.unit.harness import kernel_answers as schedulers
from tests.unit.harness.scheduling.pollux import kernel_answers as pollux
from traces.compiled import compiled

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("kernel_answers", [schedulers, pollux], ids=["schedulers", "pollux"])
def test_machine_code_answers_as_plain_python_does(kernel_answers: ModuleType) -> None:
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


def test_a_compiled_function_keeps_its_name_and_what_it_says() -> None:
    def twice(number: int) -> int:
        """Two times ``number``."""
        return 2 * number

    result = compiled(twice)
    assert (result.__name__, result.__doc__, result(21)) == ("twice", twice.__doc__, 42)
