"""How the probe shares out the ports that it fills."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from emulator.watch import _batches, _duration_s


def _port(rate_bps: float) -> Any:
    return SimpleNamespace(shape=SimpleNamespace(rate_bps=rate_bps))


def test_ports_are_filled_together_up_to_what_the_box_carries() -> None:
    ports = [_port(10e6) for _ in range(7)]
    batches = _batches(ports, 30e6)
    assert [len(batch) for batch in batches] == [3, 3, 1]
    assert [port for batch in batches for port in batch] == ports


def test_a_port_faster_than_the_box_carries_is_filled_by_itself() -> None:
    batches = _batches([_port(10e6), _port(1e9), _port(1e9)], 30e6)
    assert [len(batch) for batch in batches] == [1, 1, 1]


@pytest.mark.parametrize(("rate_bps", "duration_s"), [(1e6, 7.2672), (10e6, 0.72672), (1e9, 0.2)])
def test_a_slow_port_is_filled_until_one_frame_is_little(
    rate_bps: float, duration_s: float
) -> None:
    assert _duration_s([_port(rate_bps), _port(2e9)]) == pytest.approx(duration_s)
