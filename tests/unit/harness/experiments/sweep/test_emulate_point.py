"""A box is one emulated point's at a time, whoever sweeps; a kill gives it back."""

from __future__ import annotations

import subprocess
import sys

from harness.experiments.sweep.emulate_point import box_to_itself
from harness.experiments.sweep.work import never

HOLDER = """
from harness.experiments.sweep.emulate_point import box_to_itself
with box_to_itself(lambda: False) as held:
    print(held, flush=True)
    input()
"""


def test_the_box_is_waited_for_until_a_stop() -> None:
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 2

    with subprocess.Popen(
        (sys.executable, "-c", HOLDER),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        with box_to_itself(stop) as held:
            assert not held
        assert asked == 3
        other.kill()
    with box_to_itself(never) as held:
        assert held
    with box_to_itself(never) as held:
        assert held
