"""The guest is what the other tests take it for, and its modules are there for later work."""

from __future__ import annotations

import platform

import pytest

from tests.guest.conftest import Observed


def test_the_guest_runs_another_kernel(observed: Observed) -> None:
    seen = observed("kernel")
    assert seen["release"] != platform.release()
    assert seen["release"].endswith("-amd64")


@pytest.mark.parametrize("module", ["sch_red", "sch_netem", "tcp_dctcp"])
def test_a_module_loads(observed: Observed, module: str) -> None:
    assert observed("modules")["loaded"][module]


def test_dctcp_can_be_chosen(observed: Observed) -> None:
    assert "dctcp" in observed("modules")["congestion_control"]
