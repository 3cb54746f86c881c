"""Points of a profile where the machine has cgroup version 2 only, and where version 1 only."""

from __future__ import annotations

import signal

import pytest

from tests.guest.conftest import Observed

MIB = 2**20
VERSIONS = pytest.mark.parametrize("version", [1, 2])
SHARE_ERROR = 0.1
OVERSHOOT_S = 0.02  # ticks at the end of a quota; two CPUs


@VERSIONS
def test_a_fraction_is_kept_by_a_quota_and_whole_cpus_by_a_set(
    observed: Observed, version: int
) -> None:
    seen = observed(f"v{version} points")
    (fraction, quarter), (whole, both) = seen["points"]
    assert (fraction["cpus"], fraction["cpu_list"], fraction["cpus_by"]) == (0.25, "0", "cgroup")
    assert fraction["quota_us"] / fraction["period_us"] == 0.25
    assert (whole["cpus"], whole["cpu_list"], whole["quota_us"]) == (2, "0-1", None)
    allowed_s = 0.25 * quarter["elapsed_s"]
    assert 0 < quarter["cpu"]["used_s"] <= allowed_s * (1 + SHARE_ERROR) + OVERSHOOT_S
    assert quarter["cpu"]["throttled_periods"] > 0
    assert quarter["cpu"]["throttled_s"] > 0
    assert both["cpu"]["throttled_periods"] == 0
    assert both["cpu"]["cpus_allowed"] == "0-1"
    assert quarter["memory"]["processes"] == 2
    assert seen["end"] == -signal.SIGKILL
    assert seen["left"] == []


def test_memory_is_told_apart_and_guarded_in_v2(observed: Observed) -> None:
    enforced, evidence = observed("v2 points")["points"][0]
    assert enforced["memory_guard_bytes"] == 512 * MIB
    assert enforced["unenforced"] == []
    charged = evidence["memory"]["charged"]
    assert 32 * MIB < charged["anon_bytes"] < 96 * MIB
    assert charged["file_bytes"] >= 0
    assert evidence["memory"]["highest_held_bytes"] >= charged["anon_bytes"]
    assert evidence["memory"]["oom_kills"] == 0


def test_pressure_in_v2_is_that_of_the_group(observed: Observed) -> None:
    pressure = observed("v2 points")["points"][0][1]["pressure"]
    if not pressure["stalled"]:
        pytest.skip("the guest's kernel does not count pressure unless told to at boot")
    assert pressure["scope"] == "group"
    assert pressure["stalled"]["cpu"]["some_s"] > 0


def test_memory_without_its_controller_is_said_in_v1(observed: Observed) -> None:
    enforced, evidence = observed("v1 points")["points"][0]
    assert "memory is not guarded" in enforced["unenforced"][0]
    assert evidence["memory"]["charged"] is None
    assert "memory.charged" in evidence["missing"]
    assert evidence["memory"]["proportional"]["pss_bytes"] > 32 * MIB
