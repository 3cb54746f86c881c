"""Limits where the machine has cgroup version 2 only, and where it has version 1 only."""

from __future__ import annotations

import signal

import pytest

from tests.guest.conftest import Observed

MIB = 2**20
VERSIONS = pytest.mark.parametrize("version", [1, 2])
SHARE_ERROR = 0.1
OVERSHOOT_S = 0.02  # ticks at the end of a quota; two CPUs


def test_v2_limits_in_one_directory_and_v1_in_several(observed: Observed) -> None:
    root = "/sys/fs/cgroup"
    assert observed("v2 limits")["places"] == {
        f"{root}/roundelay-guestlim1": ["cpu", "cpuset", "memory"]
    }
    assert observed("v1 limits")["places"] == {
        f"{root}/pids/roundelay-guestlim1": [],
        f"{root}/cpu,cpuacct/roundelay-guestlim1": ["cpu", "cpuacct"],
        f"{root}/cpuset/roundelay-guestlim1": ["cpuset"],
    }


def test_what_is_not_mounted_is_missing(observed: Observed) -> None:
    assert observed("v2 limits")["missing"] == {}
    assert list(observed("v1 limits")["missing"]) == ["memory"]


@VERSIONS
def test_a_share_of_the_cores_is_kept(observed: Observed, version: int) -> None:
    seen = observed(f"v{version} limits")["share"]
    before, after = seen["before"], seen["after"]
    used_s = after["cpu_s"] - before["cpu_s"]
    throttled = after["throttled_periods"] - before["throttled_periods"]
    assert used_s <= seen["allowed_s"] * (1 + SHARE_ERROR) + OVERSHOOT_S
    assert 0 < throttled <= after["periods"] - before["periods"]
    assert used_s > 0
    assert after["throttled_s"] > before["throttled_s"]
    assert seen["ends"] == [-signal.SIGKILL] * 2


@VERSIONS
def test_cpus_are_chosen_and_given_back(observed: Observed, version: int) -> None:
    seen = observed(f"v{version} limits")["cpus"]
    assert seen["affinity"] == [[0, 1], [1], [0, 1]]
    assert "cpuset.cpus" in seen["refusal"]


def test_v2_leaves_out_cpus_that_the_group_above_lacks_and_reading_back_says_so(
    observed: Observed,
) -> None:
    said = observed("v2 smaller parent")
    assert said.endswith("was set to 0-1, but cpuset.cpus.effective holds 0")


def test_whoever_exceeds_the_memory_is_ended_and_counted(observed: Observed) -> None:
    seen = observed("v2 limits")
    memory = seen["memory"]
    assert memory["greedy"] == -signal.SIGKILL
    assert memory["oom_kills_before"] == 1
    assert 31 * MIB < memory["peak_bytes"] <= 32 * MIB
    assert seen["bystander_lives"]


def test_v2_ends_a_process_where_memory_is_lowered_below_its_use(observed: Observed) -> None:
    memory = observed("v2 limits")["memory"]
    assert memory["refusal"] is None
    assert memory["killed_by_lowering"]


def test_what_a_v2_root_hands_on_is_as_before_after_the_last_run(observed: Observed) -> None:
    seen = observed("v2 handed on")
    wanted = {"cpu", "cpuset", "memory"}
    assert not wanted & set(seen["before"])
    assert wanted <= set(seen["both"])
    assert seen["one"] == seen["both"]
    assert seen["after"] == seen["before"]


def test_a_v2_caller_in_a_group_of_its_own_has_its_limits_beside_it(observed: Observed) -> None:
    assert observed("v2 limits nested")["places"] == ["/sys/fs/cgroup/roundelay-guestlim1"]


@pytest.mark.parametrize(("version", "directories"), [(1, 3), (2, 1)])
def test_a_killed_owner_leaves_groups_and_cleaning_leaves_none(
    observed: Observed, version: int, directories: int
) -> None:
    seen = observed(f"v{version} killed owner")
    assert seen["ended"] == -signal.SIGKILL
    assert seen["left_by_kill"] == directories
    assert seen["left"] == []
    assert seen["handed_on_as_before"]
