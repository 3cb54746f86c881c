"""What a budget is tied to."""

from __future__ import annotations

import platform

import pytest

from emulator.machine import Machine, this_machine

BOX = Machine("6.1.0", "AMD EPYC", 2)


def test_this_machine_is_the_one_that_this_process_may_use() -> None:
    machine = this_machine()
    assert machine.kernel == platform.release()
    assert machine.cores >= 1
    assert machine.difference(this_machine()) is None


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (Machine("6.2.0", "AMD EPYC", 2), "kernel (6.1.0; now 6.2.0)"),
        (Machine("6.1.0", None, 2), "CPU (AMD EPYC; now unknown)"),
        (Machine("6.1.0", "AMD EPYC", 8), "number of cores (2; now 8)"),
    ],
)
def test_a_difference_is_said_with_both_values(now: Machine, said: str) -> None:
    assert BOX.difference(now) == said
